package migrate

import (
	"context"
	"errors"

	"github.com/wasmgate/wasmgate/storage"
)

// earlier is what a run knows of one that may have gone on after the progress
// that this one goes on from.
type earlier struct {
	// since is a revision from before it did so, until the revision at which
	// this run began. A since of zero means that what it did lies behind.
	since, until int64
	// left is how many keys in need of a change this run still has to meet before
	// the earlier one cannot have come any further: before the last key that it
	// rewrote it left less than a page of them.
	left int
}

// rewrittenEarlier reports whether a key, which is as it should be, became so
// between the saved progress and the start of this run. What became so later is
// the work of others.
func (r *run) rewrittenEarlier(ctx context.Context, kv storage.KV) (bool, error) {
	e := r.earlier
	if e.since == 0 || kv.Revision <= e.since {
		return false, nil
	}
	needed, err := r.neededChange(ctx, kv.Key, e.since)
	if err != nil || !needed || kv.Revision <= e.until {
		return needed, err
	}
	needed, err = r.neededChange(ctx, kv.Key, e.until)
	return !needed, err
}

// neededChange reports whether a key was there and not as it should be at a
// revision, as far as the store knows.
func (r *run) neededChange(ctx context.Context, key string, revision int64) (bool, error) {
	was, err := r.store.Range(ctx, storage.Range{Prefix: key, Limit: 1, Revision: revision})
	switch {
	case unknown(err):
		return false, nil
	case err != nil:
		return false, &awayError{err}
	case len(was.KVs) == 0 || was.KVs[0].Key != key:
		return false, nil
	}
	_, changed, err := r.rewrite(ctx, was.KVs[0])
	if away := (*awayError)(nil); errors.As(err, &away) { // which says nothing of what was there
		return false, err
	}
	return changed && err == nil, nil
}

// unknown reports whether the store failed as it does not know what was there
// at a revision.
func unknown(err error) bool {
	kind := storage.KindOf(err)
	return kind == storage.Compacted || kind == storage.FutureRevision
}

// passed notes that the run has passed a key, and with the last of those that are
// left all that the earlier run did.
func (r *run) passed(found storage.KV, out outcome) {
	if out.rewritten && found.Revision <= r.earlier.since {
		if r.earlier.left--; r.earlier.left == 0 {
			r.endEarlier()
		}
	}
}

// forget gives up what the earlier run did when the store has forgotten what was
// there before, so that at least what this one does stays known.
func (r *run) forget(ctx context.Context) {
	if r.earlier.since == 0 {
		return
	}
	_, err := r.store.Range(ctx, storage.Range{Prefix: r.o.Prefix, Limit: 1, Revision: r.earlier.since})
	if unknown(err) {
		r.endEarlier()
	}
}

// endEarlier says that nothing after the cursor is the earlier run's work, as far
// as anybody knows.
func (r *run) endEarlier() { r.earlier.since, r.p.Revision = 0, 0 }
