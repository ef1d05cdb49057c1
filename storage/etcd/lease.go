package etcd

import (
	"context"
	"math"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
)

const (
	maxLeaseWindow = time.Minute
	minLeaseWindow = time.Second
	// maxLeaseKeys bounds the keys of one lease: etcd deletes all of them in
	// one step when it expires.
	maxLeaseKeys = 1000
	// maxLeaseKinds bounds how many different ttls are remembered.
	maxLeaseKinds = 256
)

// leaseShare gives keys of the same ttl, written within a short window, one
// lease. The lease outlives the ttl by that window, so that the last key it is
// given to still lives its whole ttl.
type leaseShare struct {
	grant func(ctx context.Context, seconds int64) (clientv3.LeaseID, error)
	now   func() time.Time

	// mu guards byTTL; each entry has a lock of its own, held while etcd is
	// asked, so that one slow grant holds up only keys of its ttl.
	mu    sync.Mutex
	byTTL map[time.Duration]*sharedLease
}

type sharedLease struct {
	mu    sync.Mutex
	id    clientv3.LeaseID
	until time.Time // when the lease stops being given out
	keys  int
}

func newLeaseShare(grant func(context.Context, int64) (clientv3.LeaseID, error), now func() time.Time) *leaseShare {
	return &leaseShare{grant: grant, now: now, byTTL: map[time.Duration]*sharedLease{}}
}

// grantBy asks etcd for leases.
func grantBy(client clientv3.Lease) func(context.Context, int64) (clientv3.LeaseID, error) {
	return func(ctx context.Context, seconds int64) (clientv3.LeaseID, error) {
		resp, err := client.Grant(ctx, seconds)
		if err != nil {
			return clientv3.NoLease, err
		}
		return resp.ID, nil
	}
}

// get returns a lease under which a key written now lives at least ttl;
// NoLease for a ttl of zero.
func (l *leaseShare) get(ctx context.Context, ttl time.Duration) (clientv3.LeaseID, error) {
	if ttl <= 0 {
		return clientv3.NoLease, nil
	}
	e := l.entry(ttl)
	e.mu.Lock()
	defer e.mu.Unlock()
	now := l.now()
	if e.id != clientv3.NoLease && now.Before(e.until) && e.keys < maxLeaseKeys {
		e.keys++
		return e.id, nil
	}
	window := min(max(ttl/10, minLeaseWindow), maxLeaseWindow)
	id, err := l.grant(ctx, int64(math.Ceil((ttl + window).Seconds())))
	if err != nil {
		return clientv3.NoLease, err
	}
	// The window counts from before the grant, so it errs on the long side.
	e.id, e.until, e.keys = id, now.Add(window), 1
	return id, nil
}

func (l *leaseShare) entry(ttl time.Duration) *sharedLease {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := l.byTTL[ttl]
	if e == nil {
		if len(l.byTTL) >= maxLeaseKinds {
			clear(l.byTTL)
		}
		e = &sharedLease{}
		l.byTTL[ttl] = e
	}
	return e
}

// forget stops giving out a lease that etcd no longer knows.
func (l *leaseShare) forget(id clientv3.LeaseID) {
	l.mu.Lock()
	entries := make([]*sharedLease, 0, len(l.byTTL))
	for _, e := range l.byTTL {
		entries = append(entries, e)
	}
	l.mu.Unlock()
	for _, e := range entries {
		e.mu.Lock()
		if e.id == id {
			e.id = clientv3.NoLease
		}
		e.mu.Unlock()
	}
}
