package etcd

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/rs/zerolog"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
)

const (
	// compactKey is where API servers, of either make, agree on who compacts:
	// its version counts the turns, its value is the revision compacted to.
	compactKey             = "compact_rev_key"
	defaultCompactInterval = 5 * time.Minute
)

// compactor drops the history that nobody needs any more.
type compactor struct {
	client *clientv3.Client
	local  *localServer // nil for a remote cluster
	log    zerolog.Logger
	// revision tells the present one.
	revision func(context.Context) (int64, error)
}

// RunCompactor drops history older than one interval (5 minutes if zero) until
// ctx ends, and returns ctx's error. Any number of servers may run it over one
// cluster: one of them takes each turn.
func (s *Store) RunCompactor(ctx context.Context, interval time.Duration) error {
	return s.compactor.run(ctx, interval)
}

func (c *compactor) run(ctx context.Context, interval time.Duration) error {
	if interval <= 0 {
		interval = defaultCompactInterval
	}
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	var turn compactTurn
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
		}
		next, err := c.compact(ctx, turn)
		if err != nil && ctx.Err() == nil {
			c.log.Error().Err(err).Int64("revision", turn.revision).Msg("compaction failed; trying again at the next interval")
			continue
		}
		turn = next
	}
}

// compactTurn is what one turn leaves to the next: the version that the key
// must still have, and the revision that was current then.
type compactTurn struct {
	version, revision int64
}

// compact takes one turn if nobody took it, and compacts to the revision that
// was current one turn ago, so that an interval's worth of history remains.
func (c *compactor) compact(ctx context.Context, t compactTurn) (compactTurn, error) {
	resp, err := c.client.Txn(ctx).
		If(clientv3.Compare(clientv3.Version(compactKey), "=", t.version)).
		Then(clientv3.OpPut(compactKey, strconv.FormatInt(t.revision, 10))).
		Else(clientv3.OpGet(compactKey)).
		Commit()
	if errors.Is(err, rpctypes.ErrNoSpace) {
		return c.compactFull(ctx, t)
	}
	if err != nil {
		return t, fmt.Errorf("etcd: take compaction turn: %w", err)
	}
	next := compactTurn{version: t.version + 1, revision: resp.Header.Revision}
	if !resp.Succeeded {
		// Somebody else did; join in at their count.
		next.version = 0
		if kvs := resp.Responses[0].GetResponseRange().GetKvs(); len(kvs) == 1 {
			next.version = kvs[0].Version
		}
		return next, nil
	}
	if t.revision == 0 {
		return next, nil
	}
	if _, err := c.client.Compact(ctx, t.revision); err != nil && !errors.Is(err, rpctypes.ErrCompacted) {
		return next, fmt.Errorf("etcd: compact: %w", err)
	}
	return next, nil
}

// CompactedRevision implements storage.Reader: the revision that some API
// server last compacted the store to.
func (rd *reader) CompactedRevision(ctx context.Context) (int64, error) {
	kv, found, err := rd.get(ctx, compactKey)
	if err != nil || !found {
		return 0, failed(ctx, err, compactKey, 0)
	}
	rev, err := strconv.ParseInt(string(kv.Value), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("etcd: %s: %w", compactKey, err)
	}
	return rev, nil
}
