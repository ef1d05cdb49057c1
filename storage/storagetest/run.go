package storagetest

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/wasmgate/wasmgate/storage"
)

// patience is how long a check waits for something that should come soon.
const patience = 20 * time.Second

// Options is what the kit needs to know about an implementation.
type Options struct {
	// Store is the store to check. Checks keep to prefixes of their own.
	Store storage.Store
	// Compact drops all history below rev. Checks that need it are skipped
	// when it is nil.
	Compact func(ctx context.Context, rev int64) error
}

var prefixes atomic.Int64

// kit is one check's view of the store under test.
type kit struct {
	*testing.T
	storage.Store
	ctx     context.Context
	prefix  string
	compact func(ctx context.Context, rev int64) error
}

// Run runs every check of the kit as a subtest of t.
func Run(t *testing.T, o Options) {
	for _, check := range []struct {
		name string
		run  func(*kit)
	}{
		{"a created key reads back", (*kit).createGet},
		{"create refuses an existing key", (*kit).createExists},
		{"update and delete compare the revision", (*kit).compareAndSet},
		{"a guarded write compares its guard too", (*kit).guarded},
		{"a write changes other keys along with its own, or none", (*kit).along},
		{"missing keys are NotFound", (*kit).missing},
		{"one of many concurrent writers of a revision wins", (*kit).oneWinner},
		{"range is ordered and bounded by the prefix", (*kit).rangeOrder},
		{"LIST-05 RV-08 RV-09 pages at a revision ignore later writes", (*kit).pagesAtRevision},
		{"a scan reads everything at one revision", (*kit).scan},
		{"a revision not reached is FutureRevision", (*kit).futureRevision},
		{"RV-05 revision and range include every acknowledged write", (*kit).linearizable},
		{"WATCH-02 a watch sees every change once and in order", (*kit).watchOrder},
		{"WATCH-04 a watch from a past revision replays", (*kit).watchReplay},
		{"a watch keeps to its prefix", (*kit).watchPrefix},
		{"a progress request reports a revision without events", (*kit).progress},
		{"a watch ends with its context", (*kit).watchEnds},
		{"a ttl keeps a key at least that long", (*kit).ttl},
		{"a value too large is TooLarge", (*kit).tooLarge},
		{"a context that ended fails as Unavailable", (*kit).canceled},
		{"WATCH-05 compacted history is Compacted", (*kit).compacted},
	} {
		t.Run(check.name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 2*patience)
			defer cancel()
			check.run(&kit{
				T: t, Store: o.Store, ctx: ctx, compact: o.Compact,
				prefix: fmt.Sprintf("/storagetest/%d/", prefixes.Add(1)),
			})
		})
	}
}

// create puts key, below the check's prefix, and returns its revision.
func (k *kit) create(key, value string) int64 {
	k.Helper()
	rev, err := k.Create(k.ctx, k.prefix+key, []byte(value), 0)
	if err != nil {
		k.Fatalf("create %s: %v", key, err)
	}
	return rev
}

func (k *kit) update(key, value string, rev int64) int64 {
	k.Helper()
	next, err := k.Update(k.ctx, k.prefix+key, []byte(value), rev, 0)
	if err != nil {
		k.Fatalf("update %s: %v", key, err)
	}
	return next
}

// remove deletes key, which must be at rev.
func (k *kit) remove(key string, rev int64) int64 {
	k.Helper()
	next, err := k.Delete(k.ctx, k.prefix+key, rev)
	if err != nil {
		k.Fatalf("delete %s: %v", key, err)
	}
	return next
}

func (k *kit) wantKind(err error, want storage.Kind) {
	k.Helper()
	if got := storage.KindOf(err); got != want {
		k.Fatalf("got error %v (%v), want %v", err, got, want)
	}
}
