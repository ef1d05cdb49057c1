package write

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/wasmgate/wasmgate/storage"
)

// claimed are the names that a write has for itself. The first stands for all: the others
// last longer than it, and so are had as long as that is. However many a write claims, the
// store compares one.
type claimed []claim

type claim struct {
	name, key string
	revision  int64
}

// claimTTL is when a claim ends that nobody gave back, because its gateway was
// killed. A write that takes longer than that has to claim again. The claims after the
// first end later by that time, which is more than a claim may last beyond its end.
const claimTTL = 2 * time.Minute

// Claim takes a name for this write, until it has ended: no other write has it
// meanwhile, on whichever gateway, and this one is committed only while it has
// it. Once it is taken, the cache holds what those made of it that had it
// before. It is false when another write has it. A dry run takes nothing.
func (w attributes) Claim(ctx context.Context, name string) (bool, error) {
	if w.Options.DryRun {
		return true, nil
	}
	for _, c := range w.claims {
		if c.name == name {
			return true, nil
		}
	}
	key := w.writer.catalog.ClaimKey(name)
	ttl := claimTTL
	if len(w.claims) > 0 {
		ttl += claimTTL
	}
	revision, err := w.writer.store.Create(ctx, key, []byte(w.Options.Caller.RequestID), ttl)
	switch {
	case storage.KindOf(err) == storage.Exists:
		return false, nil
	case err != nil:
		return false, w.StoreError(fmt.Errorf("claiming %s: %w", name, err))
	}
	w.claims = append(w.claims, claim{name, key, revision})
	return true, w.writer.reads.Await(ctx, revision)
}

// guard is a writer that writes only while all are had.
func (all claimed) guard(to storage.GuardedWriter) storage.GuardedWriter {
	if len(all) == 0 {
		return to
	}
	return to.While(all[0].key, all[0].revision)
}

// lost tells that a write was refused for want of something that it claimed.
func (all claimed) lost(e *storage.Error) bool {
	return len(all) > 0 && e.Kind == storage.Changed && e.Key == all[0].key
}

// releaseTimeout bounds how long the client of a write waits for what it took to be given
// back, and releaseEach how much longer for each of its claims, of which so many are given
// back at a time as there are releasers.
const (
	releaseTimeout = 5 * time.Second
	releaseEach    = 10 * time.Millisecond
	releasers      = 16
)

// release gives back what a write claimed, whatever became of it: who claims it next
// sees that. What cannot be given back ends by itself. While the first, which stands for all,
// may be there still, nobody else gets another.
func (all *claimed) release(ctx context.Context, e *Writer) {
	had := *all
	*all = nil
	if len(had) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseTimeout+time.Duration(len(had))*releaseEach)
	defer cancel()
	if !had[0].release(ctx, e) {
		return
	}
	rest := make(chan claim, len(had)-1)
	for _, c := range had[1:] {
		rest <- c
	}
	close(rest)
	var workers sync.WaitGroup
	for range min(releasers, len(rest)) {
		workers.Go(func() {
			for c := range rest {
				c.release(ctx, e)
			}
		})
	}
	workers.Wait()
}

// release tells whether the claim is certainly not the write's any more.
func (c claim) release(ctx context.Context, e *Writer) bool {
	_, err := e.store.Delete(ctx, c.key, c.revision)
	if err != nil {
		e.log.Debug().Err(err).Str("claim", c.name).Msg("a claim was not given back; it ends by itself")
	}
	kind := storage.KindOf(err)
	return err == nil || kind == storage.NotFound || kind == storage.Conflict
}
