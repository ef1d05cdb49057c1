package etcd

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/wasmgate/wasmgate/storage"
)

// What is done when etcd has as much data as it may have, raises its alarm
// about space, and takes no puts until that is lowered.

// refused tells what became of a put that was refused for lack of space: a
// write that etcd finds to be too much only while it applies it is there all the
// same.
func (c *committer) refused(ctx context.Context, key string, value []byte, rev int64, refusal error) (int64, error) {
	kv, found, err := c.reads.get(ctx, key)
	switch {
	case err != nil:
		return 0, &storage.Error{Kind: storage.Unavailable, Key: key, Revision: rev, Cause: errors.Join(refusal, err)}
	case found && kv.Revision != rev && bytes.Equal(kv.Value, value):
		return kv.Revision, nil
	}
	return 0, refusal
}

// compactFull is a turn of the compactor while nobody can say whose it is.
// Everybody takes it: to compact twice does no harm. The embedded server is then
// given its space back; a cluster is defragmented, and its alarm lowered, by who
// runs it.
func (c *compactor) compactFull(ctx context.Context, t compactTurn) (compactTurn, error) {
	rev, err := c.revision(ctx)
	if err != nil {
		return t, fmt.Errorf("etcd: revision to compact to: %w", err)
	}
	next := compactTurn{version: t.version, revision: rev}
	if t.revision > 0 {
		_, err := c.client.Compact(ctx, t.revision, clientv3.WithCompactPhysical())
		if err != nil && !errors.Is(err, rpctypes.ErrCompacted) {
			return next, fmt.Errorf("etcd: compact: %w", err)
		}
	}
	if c.local != nil {
		return next, c.giveBack(ctx)
	}
	c.log.Error().Msg("etcd is full: its history is compacted, and somebody has to defragment it and disarm the alarm")
	return next, nil
}

// giveBack makes what was compacted free for use, and lowers the alarm if that
// is enough to go on with.
func (c *compactor) giveBack(ctx context.Context) error {
	if err := c.local.defragment(); err != nil {
		return fmt.Errorf("etcd: defragment: %w", err)
	}
	now, err := c.client.Status(ctx, "")
	if err != nil {
		return fmt.Errorf("etcd: size after defragmentation: %w", err)
	}
	if now.DbSize > now.DbSizeQuota/10*9 {
		c.log.Error().Int64("bytes", now.DbSize).Int64("quota", now.DbSizeQuota).Msg("the embedded etcd is full: delete something")
		return nil
	}
	if err := c.disarm(ctx); err != nil {
		return fmt.Errorf("etcd: disarm the alarm about space: %w", err)
	}
	c.log.Warn().Int64("bytes", now.DbSize).Msg("the embedded etcd was full and has room again")
	return nil
}

// disarm lowers the alarm about space, and no other: data that differ between
// members are nothing that goes on.
func (c *compactor) disarm(ctx context.Context) error {
	raised, err := c.client.AlarmList(ctx)
	if err != nil {
		return err
	}
	for _, alarm := range raised.Alarms {
		if alarm.Alarm == etcdserverpb.AlarmType_NOSPACE {
			if _, err := c.client.AlarmDisarm(ctx, (*clientv3.AlarmMember)(alarm)); err != nil {
				return err
			}
		}
	}
	return nil
}
