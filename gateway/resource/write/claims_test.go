package write

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/storage"
	"github.com/wasmgate/wasmgate/storage/storagetest"
)

// timed is a store that notes for how long keys are to live, and how many a write depends on.
type timed struct {
	storage.Store
	ttls   map[string]time.Duration
	guards int
}

func (s *timed) Create(ctx context.Context, key string, value []byte, ttl time.Duration) (int64, error) {
	s.ttls[key] = ttl
	return s.Store.Create(ctx, key, value, ttl)
}

func (s *timed) While(key string, rev int64) storage.GuardedWriter {
	return (&counting{GuardedWriter: s.Store.While(key, rev), of: s}).counted()
}

// counting is a writer that counts what it is made to depend on.
type counting struct {
	storage.GuardedWriter
	of *timed
}

func (c *counting) counted() *counting {
	c.of.guards++
	return c
}

func (c *counting) While(key string, rev int64) storage.GuardedWriter {
	return (&counting{GuardedWriter: c.GuardedWriter.While(key, rev), of: c.of}).counted()
}

// However many names a write claims, it depends on the first alone, which ends before the
// others: who has that has all.
func TestTheFirstClaimStandsForAll(t *testing.T) {
	s := &timed{Store: storagetest.NewMemory(), ttls: map[string]time.Duration{}}
	w := worldOver(t, s)
	s.guards = 0
	w.o.Admission.Mutators = []admission.Mutator{mutating(func(ctx context.Context, a admission.Attributes) error {
		for n := range 200 {
			if ok, err := a.Claim(ctx, fmt.Sprint(n)); !ok || err != nil {
				t.Errorf("%d: %t, %v", n, ok, err)
			}
		}
		return nil
	})}
	if err := w.configMap("one", false); err != nil || s.guards != 1 {
		t.Fatalf("the write depends on %d keys: %v", s.guards, err)
	}
	for n := range 200 {
		key := w.catalog.ClaimKey(fmt.Sprint(n))
		if got, want := s.ttls[key], claimTTL*time.Duration(min(n, 1)+1); got != want {
			t.Errorf("claim %d is to last %v, not %v", n, got, want)
		}
		if _, err := w.store.Get(w.ctx(), key); storage.KindOf(err) != storage.NotFound {
			t.Errorf("claim %d after the write: %v", n, err)
		}
	}
}

// mutating is a mutator that is a function.
type mutating func(ctx context.Context, a admission.Attributes) error

func (m mutating) Mutate(ctx context.Context, a admission.Attributes) error { return m(ctx, a) }
