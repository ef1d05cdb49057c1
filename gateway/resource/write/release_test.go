package write

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/storage"
	"github.com/wasmgate/wasmgate/storage/storagetest"
)

// sluggish is a store in which claims go only once so many are on their way at a time, but for
// the first.
type sluggish struct {
	storage.Store
	claims string // how their keys begin

	mu       sync.Mutex
	asked    int
	enough   chan struct{}
	deadline time.Time // of the last
}

func (s *sluggish) Delete(ctx context.Context, key string, rev int64) (int64, error) {
	if strings.HasPrefix(key, s.claims) {
		s.mu.Lock()
		s.deadline, _ = ctx.Deadline()
		s.asked++
		first := s.asked == 1
		if s.asked == 1+releasers {
			close(s.enough)
		}
		s.mu.Unlock()
		if !first {
			select {
			case <-s.enough:
			case <-ctx.Done():
				return 0, ctx.Err()
			}
		}
	}
	return s.Store.Delete(ctx, key, rev)
}

// claiming is a mutator that claims so many names, which are numbers.
func claiming(t *testing.T, n int) admission.Mutator {
	return mutating(func(ctx context.Context, a admission.Attributes) error {
		for i := range n {
			if ok, err := a.Claim(ctx, fmt.Sprint(i)); !ok || err != nil {
				t.Errorf("%d: %t, %v", i, ok, err)
			}
		}
		return nil
	})
}

// However many names a write claims, all are given back, where the store takes its time, too.
func TestManyClaimsAreGivenBack(t *testing.T) {
	const many = 1000
	s := &sluggish{Store: storagetest.NewMemory(), enough: make(chan struct{})}
	w := worldOver(t, s)
	s.claims = w.catalog.ClaimKey("")
	w.o.Admission.Mutators = []admission.Mutator{claiming(t, many)}
	began := time.Now()
	if err := w.configMap("one", false); err != nil {
		t.Fatal(err)
	}
	left := 0
	for n := range many {
		if _, err := w.store.Get(w.ctx(), w.catalog.ClaimKey(fmt.Sprint(n))); storage.KindOf(err) != storage.NotFound {
			left++
		}
	}
	if left != 0 || s.asked != many {
		t.Errorf("of %d claims %d are left, and %d were to go", many, left, s.asked)
	}
	if took := s.deadline.Sub(began); took < releaseTimeout+many*releaseEach {
		t.Errorf("they had %v", took)
	}
}

// clinging is a store in which the first claim does not go, and that counts which were to go.
type clinging struct {
	storage.Store
	claims string // how their keys begin
	fails  error
	asked  atomic.Int32
}

func (s *clinging) Delete(ctx context.Context, key string, rev int64) (int64, error) {
	if strings.HasPrefix(key, s.claims) && s.asked.Add(1) == 1 {
		return 0, s.fails
	}
	return s.Store.Delete(ctx, key, rev)
}

// While the first claim of a write may be there, with which it has all others, none of
// these is given back.
func TestNoClaimIsGivenBackBeforeTheFirst(t *testing.T) {
	for kind, want := range map[storage.Kind]int32{storage.Unavailable: 1, storage.Full: 1, 0: 1, storage.NotFound: 3, storage.Conflict: 3} {
		s := &clinging{Store: storagetest.NewMemory(), fails: &storage.Error{Kind: kind, Cause: errors.New("away")}}
		w := worldOver(t, s)
		s.claims = w.catalog.ClaimKey("")
		w.o.Admission.Mutators = []admission.Mutator{claiming(t, 3)}
		if err := w.configMap("one", false); err != nil || s.asked.Load() != want {
			t.Errorf("kind %d: %d of 3 were to go, want %d: %v", kind, s.asked.Load(), want, err)
		}
	}
}
