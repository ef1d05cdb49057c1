package etcd

import (
	"context"
	"fmt"
	"time"

	"github.com/rs/zerolog"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
)

const (
	leaderRoot = "/wasmgate/leader/"
	// leaderTTL is how long after a killed leader nobody leads.
	leaderTTL = 10 * time.Second
	leadRetry = time.Second
)

// candidate stands for election to what one process does for all.
type candidate struct {
	client *clientv3.Client
	local  *localServer // nil for a remote cluster
	log    zerolog.Logger
	id     string
}

// Lead runs run whenever this process leads the election called name, with a
// context that ends when it no longer does, until ctx ends; then it returns
// ctx's error. When run returns early the election starts over. The name is
// one in the whole cluster: callers with different object prefixes put theirs
// into it.
//
// Two processes can believe for a moment that they lead, so what run writes
// must be fenced by revisions. With the embedded server nobody else can be
// there, and run starts at once.
func (s *Store) Lead(ctx context.Context, name string, run func(ctx context.Context)) error {
	return s.candidate.lead(ctx, name, run)
}

func (c *candidate) lead(ctx context.Context, name string, run func(ctx context.Context)) error {
	for {
		var err error
		if c.local != nil {
			run(ctx)
		} else {
			err = c.leadOnce(ctx, name, run)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			c.log.Error().Err(err).Str("election", name).Msg("leader election failed; trying again")
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(leadRetry):
		}
	}
}

// leadOnce campaigns, leads until ctx or the lease ends or run returns, and
// resigns.
func (c *candidate) leadOnce(ctx context.Context, name string, run func(ctx context.Context)) error {
	lease, err := c.client.Grant(ctx, int64(leaderTTL/time.Second))
	if err != nil {
		return fmt.Errorf("etcd: lease for election %s: %w", name, err)
	}
	session, err := concurrency.NewSession(c.client, concurrency.WithLease(lease.ID))
	if err != nil {
		c.revoke(lease.ID)
		return fmt.Errorf("etcd: session for election %s: %w", name, err)
	}
	// Revoking the lease resigns: the key goes with it.
	defer c.revoke(lease.ID)
	defer session.Orphan()

	leading, cancel := context.WithCancel(ctx)
	defer cancel()
	stop := context.AfterFunc(session.Ctx(), cancel)
	defer stop()
	if err := concurrency.NewElection(session, leaderRoot+name).Campaign(leading, c.id); err != nil {
		return fmt.Errorf("etcd: campaign in election %s: %w", name, err)
	}
	run(leading)
	return nil
}

// revoke gives a lease back even though the caller's context has ended.
func (c *candidate) revoke(id clientv3.LeaseID) {
	ctx, cancel := context.WithTimeout(context.Background(), leaderTTL)
	defer cancel()
	if _, err := c.client.Revoke(ctx, id); err != nil {
		c.log.Debug().Err(err).Msg("lease not revoked; it expires by itself")
	}
}
