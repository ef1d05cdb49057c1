package storagetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/wasmgate/wasmgate/storage"
)

// collect reads events until it has n, checking the order of revisions and
// that no revision is spread over batches.
func (k *kit) collect(batches <-chan storage.Batch, reason func() error, n int) []storage.Event {
	k.Helper()
	var events []storage.Event
	var last int64
	timeout := time.After(patience)
	for len(events) < n {
		select {
		case b, ok := <-batches:
			if !ok {
				k.Fatalf("watch broke after %d of %d events: %v", len(events), n, reason())
			}
			if len(b.Events) > 0 && b.Events[0].Revision <= last {
				k.Fatalf("a batch starts at revision %d, after %d", b.Events[0].Revision, last)
			}
			for _, ev := range b.Events {
				if ev.Revision < last {
					k.Fatalf("revision %d comes after %d", ev.Revision, last)
				}
				last = ev.Revision
			}
			if b.Revision < last {
				k.Fatalf("batch revision %d is below its events' %d", b.Revision, last)
			}
			last = b.Revision
			events = append(events, b.Events...)
		case <-timeout:
			k.Fatalf("saw %d of %d events", len(events), n)
		}
	}
	if len(events) > n {
		k.Fatalf("saw %d events, want %d", len(events), n)
	}
	return events
}

func (k *kit) watchOrder() {
	start, err := k.Revision(k.ctx)
	if err != nil {
		k.Fatal(err)
	}
	batches, reason := k.Watch(k.ctx, k.prefix, start+1)
	const writers, rounds = 8, 30
	var mu sync.Mutex
	want := map[int64]string{}
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			key := fmt.Sprintf("%s%d", k.prefix, w)
			note := func(rev int64, err error, what string) int64 {
				if err != nil {
					k.Errorf("%s: %v", what, err)
				}
				mu.Lock()
				defer mu.Unlock()
				want[rev] = what + key
				return rev
			}
			for range rounds {
				rev, err := k.Create(k.ctx, key, []byte("x"), 0)
				rev = note(rev, err, "put ")
				rev, err = k.Update(k.ctx, key, []byte("y"), rev, 0)
				rev = note(rev, err, "put ")
				rev, err = k.Delete(k.ctx, key, rev)
				note(rev, err, "delete ")
			}
		})
	}
	wg.Wait()
	if k.Failed() {
		return
	}
	for _, ev := range k.collect(batches, reason, len(want)) {
		got := "put " + ev.Key
		if ev.Deleted {
			got = "delete " + ev.Key
			if ev.Value != nil {
				k.Errorf("deletion of %s carries a value", ev.Key)
			}
		}
		if want[ev.Revision] != got {
			k.Errorf("revision %d: watch says %q, the writer %q", ev.Revision, got, want[ev.Revision])
		}
	}
}

func (k *kit) watchReplay() {
	var revs []int64
	rev := k.create("a", "0")
	for i := range 10 {
		revs = append(revs, rev)
		rev = k.update("a", fmt.Sprint(i+1), rev)
	}
	revs = append(revs, rev)
	for _, from := range []int{0, 5, 10} {
		ctx, cancel := context.WithCancel(k.ctx)
		batches, reason := k.Watch(ctx, k.prefix, revs[from])
		for i, ev := range k.collect(batches, reason, len(revs)-from) {
			if ev.Revision != revs[from+i] || string(ev.Value) != fmt.Sprint(from+i) {
				k.Errorf("from %d: event %d is %q at %d", from, i, ev.Value, ev.Revision)
			}
		}
		cancel()
	}
}

func (k *kit) watchPrefix() {
	start := k.create("first", "x")
	batches, reason := k.Watch(k.ctx, k.prefix+"in/", start)
	k.create("in/1", "x")
	k.create("in0", "x")
	k.create("im/1", "x")
	k.create("in/2", "x")
	for i, ev := range k.collect(batches, reason, 2) {
		if want := fmt.Sprintf("%sin/%d", k.prefix, i+1); ev.Key != want {
			k.Errorf("event %d is for %s, want %s", i, ev.Key, want)
		}
	}
}

func (k *kit) progress() {
	seen := k.create("in/a", "x")
	batches, reason := k.Watch(k.ctx, k.prefix+"in/", seen)
	k.collect(batches, reason, 1)
	target := k.create("out/a", "x")
	again := time.NewTicker(100 * time.Millisecond)
	defer again.Stop()
	for {
		if err := k.RequestProgress(k.ctx); err != nil {
			k.Fatal(err)
		}
		select {
		case b, ok := <-batches:
			if !ok {
				k.Fatalf("watch broke: %v", reason())
			}
			if len(b.Events) > 0 {
				k.Fatalf("unexpected events %+v", b.Events)
			}
			if b.Revision >= target {
				return
			}
		case <-again.C:
		}
	}
}

func (k *kit) watchEnds() {
	ctx, cancel := context.WithCancel(k.ctx)
	batches, reason := k.Watch(ctx, k.prefix, 1)
	if err := reason(); err != nil {
		k.Fatalf("a running watch has the reason %v", err)
	}
	cancel()
	for range batches {
		continue
	}
	if err := reason(); !errors.Is(err, context.Canceled) {
		k.Fatalf("a canceled watch ended with %v", err)
	}
}
