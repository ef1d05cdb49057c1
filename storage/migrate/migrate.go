package migrate

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"

	"github.com/wasmgate/wasmgate/storage"
	"github.com/wasmgate/wasmgate/storage/paging"
)

const (
	defaultPageSize    = 500
	defaultConcurrency = 4
	// maxFailures bounds the list of names; the count goes on.
	maxFailures = 20
	// maxConflicts is how often one key may be changed under our hands before
	// it counts as failed.
	maxConflicts = 100
	// finishKeys is how long keys that were begun may take after the end.
	finishKeys = 2 * time.Second
)

// Store is what a migration needs of a storage.Store.
type Store interface {
	storage.Reader
	storage.Writer
}

// Options says what to rewrite and how fast.
type Options struct {
	// Prefix selects the keys.
	Prefix string
	// From is the progress of an earlier run to go on from; its zero value
	// starts at the beginning.
	From Progress
	// Since is the Revision of that progress, when the earlier run may have gone
	// on after it: what it rewrote then counts as rewritten by this one, as far
	// as the store still knows what was there. Zero means that it did not.
	Since int64
	// Rewrite returns what a key's value should become, or changed=false if it
	// is as it should be. It is called concurrently, possibly several times
	// for a key, must not change kv.Value and must have no side effects. An
	// error counts the key as failed.
	Rewrite func(ctx context.Context, kv storage.KV) (value []byte, changed bool, err error)
	// Progress is called after each page, when everything up to its cursor is
	// done, to save it. An error ends the run. Optional.
	Progress func(Progress) error
	// PageSize is the most keys of a page (500 if zero), Concurrency how many
	// are rewritten at once (4 if zero).
	PageSize, Concurrency int
	// Rate is the most keys a second; 0 means no limit.
	Rate float64
}

// Progress is how far a migration has come.
type Progress struct {
	// Cursor is the last key, in the store, of the last finished page.
	Cursor string `json:"cursor,omitempty"`
	// Total is the number of keys there are: those done and, as counted when the
	// run began, those ahead. At the end it is Done.
	Total int64 `json:"total"`
	// Done counts the keys looked at: Rewritten, Skipped (unchanged or gone)
	// and Failed.
	Done      int64 `json:"done"`
	Rewritten int64 `json:"rewritten"`
	Skipped   int64 `json:"skipped"`
	Failed    int64 `json:"failed"`
	// Failures are the first failed keys.
	Failures []Failure `json:"failures,omitempty"`
	// Revision is one of the store from before anything after Cursor was
	// rewritten, or Since. It is zero when the run has ended and it is known that
	// nothing was.
	Revision int64 `json:"revision,omitempty"`
}

// Failure is one key that could not be rewritten.
type Failure struct {
	// Key is the key below the prefix.
	Key string `json:"key"`
	// Reason is the error's text, for people.
	Reason string `json:"reason"`
}

// Run rewrites the keys after the cursor of o.From in order and returns how
// far it came. A key that fails is noted and passed over: a run without error
// has looked at every key, and all is as it should be if none failed. Keys
// written while it runs must already be as Rewrite wants them.
//
// It fails when the store cannot be read or takes no more data, when Progress fails, or with ctx's
// error, after it has finished the keys that it had begun; in each case what it
// returns can be resumed from, and so can the last progress given to Progress.
func Run(ctx context.Context, store Store, o Options) (Progress, error) {
	if o.PageSize <= 0 {
		o.PageSize = defaultPageSize
	}
	if o.Concurrency <= 0 {
		o.Concurrency = defaultConcurrency
	}
	limit := rate.Inf
	if o.Rate > 0 {
		limit = rate.Limit(o.Rate)
		// A slow run must show that it moves, and must not lose minutes of
		// work when it is ended: a page is about a second of it.
		o.PageSize = min(o.PageSize, max(1, int(o.Rate)))
	}
	r := &run{store: store, o: o, pace: rate.NewLimiter(limit, 1), p: o.From}
	r.p.Revision = o.Since
	// Every page is read at the most recent revision: a pinned one would be
	// compacted away under a long run.
	pager := paging.New(store, paging.Options{
		Range: storage.Range{Prefix: o.Prefix, After: o.From.Cursor},
		First: o.PageSize, Max: o.PageSize,
	})
	ahead, err := store.Range(ctx, storage.Range{Prefix: o.Prefix, After: o.From.Cursor, Limit: 1, Count: true})
	if err != nil {
		return r.p, fmt.Errorf("migrate %s: %w", o.Prefix, err)
	}
	r.p.Total = r.p.Done + ahead.Count
	for {
		page, ok, err := pager.Next(ctx)
		if err != nil {
			return r.p, fmt.Errorf("migrate %s: %w", o.Prefix, err)
		}
		if !ok {
			return r.p, nil
		}
		if err := r.page(ctx, page); err != nil {
			return r.p, fmt.Errorf("migrate %s: %w", o.Prefix, err)
		}
		if o.Progress != nil {
			reached := r.p
			reached.Revision = cmp.Or(o.Since, page.Revision)
			if err := o.Progress(reached); err != nil {
				return r.p, fmt.Errorf("migrate %s: save progress: %w", o.Prefix, err)
			}
		}
	}
}

type run struct {
	store Store
	o     Options
	pace  *rate.Limiter
	p     Progress
}

// outcome is what became of one key of a page.
type outcome struct {
	begun, rewritten bool
	err              error
}

// page handles the keys of a page and moves the cursor past them. When ctx ends
// or the store stops answering, it moves past those before the first that is not
// done, and fails.
func (r *run) page(ctx context.Context, page storage.Page) error {
	finish, cancel := outlive(ctx)
	defer cancel()
	outcomes := make([]outcome, len(page.KVs))
	work := make(chan int)
	var gone atomic.Bool
	var wg sync.WaitGroup
	for range min(r.o.Concurrency, len(page.KVs)) {
		wg.Go(func() {
			for i := range work {
				rewritten, err := r.key(finish, page.KVs[i])
				if err != nil && finish.Err() != nil {
					err = &awayError{err}
				}
				outcomes[i] = outcome{true, rewritten, err}
				if away := (*awayError)(nil); errors.As(err, &away) {
					gone.Store(true)
				}
			}
		})
	}
	var err error
	for i := range page.KVs {
		if err = r.pace.Wait(ctx); err != nil || gone.Load() {
			break
		}
		work <- i
	}
	close(work)
	wg.Wait()
	return errors.Join(ctx.Err(), err, r.take(page, outcomes))
}

// outlive returns a context for keys that were begun: it ends a while after ctx,
// so that what they become is known.
func outlive(ctx context.Context) (context.Context, context.CancelFunc) {
	finish, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		select {
		case <-time.After(finishKeys):
			cancel()
		case <-finish.Done():
		}
	})
	return finish, func() { stop(); cancel() }
}

// take counts the outcomes up to the first key that is not done, whose error it
// returns.
func (r *run) take(page storage.Page, outcomes []outcome) error {
	// The backing array is shared with progress that was handed out.
	r.p.Failures = slices.Clone(r.p.Failures)
	for i, out := range outcomes {
		away := (*awayError)(nil)
		if errors.As(out.err, &away) {
			r.p.Revision = cmp.Or(r.o.Since, page.Revision)
			return away.cause
		}
		if !out.begun {
			return nil
		}
		r.note(page.KVs[i].Key, out.rewritten, out.err)
		r.p.Cursor = page.KVs[i].Key
	}
	if r.p.Total = max(r.p.Total, r.p.Done); !page.More {
		r.p.Total = r.p.Done
	}
	return nil
}

// key rewrites one key unless it is as it should be, and reports whether it
// did.
func (r *run) key(ctx context.Context, kv storage.KV) (bool, error) {
	var tried []byte // which may have been written
	for range maxConflicts {
		value, changed, err := r.rewrite(ctx, kv)
		if err != nil {
			return false, err
		}
		if !changed {
			if tried != nil && bytes.Equal(tried, kv.Value) {
				return true, nil
			}
			return r.before(ctx, kv)
		}
		_, err = r.store.Update(ctx, kv.Key, value, kv.Revision, 0)
		var e *storage.Error
		switch {
		case err == nil:
			return true, nil
		case !errors.As(err, &e):
			return false, err
		case e.Kind == storage.NotFound:
			return false, nil // gone, so nothing is left to rewrite
		case e.Kind == storage.Full: // as it will be for every key
			return false, &awayError{err}
		case e.Kind == storage.Conflict && e.Current != nil:
			kv = *e.Current
		case e.Kind == storage.Conflict, e.Kind == storage.Unavailable:
			// Whether the write happened is not known: look.
			tried = value
			if kv, err = r.store.Get(ctx, kv.Key); err != nil {
				if storage.KindOf(err) == storage.NotFound {
					return false, nil
				}
				return false, &awayError{err}
			}
		default:
			return false, err
		}
	}
	return false, fmt.Errorf("changed %d times while it was being rewritten", maxConflicts)
}

// Panic is what became of a Rewrite that panicked: the failure of that key.
type Panic struct {
	// Value is what was passed to panic, Stack where that happened.
	Value any
	Stack []byte
}

// Error says what was passed to panic.
func (p *Panic) Error() string { return fmt.Sprintf("rewriting it panicked: %v", p.Value) }

func (r *run) rewrite(ctx context.Context, kv storage.KV) (value []byte, changed bool, err error) {
	defer func() {
		if v := recover(); v != nil {
			value, changed, err = nil, false, &Panic{Value: v, Stack: debug.Stack()}
		}
	}()
	return r.o.Rewrite(ctx, kv)
}

// awayError is the store's failure to answer, or to take anything, which is no
// failure of the key.
type awayError struct{ cause error }

func (e *awayError) Error() string { return e.cause.Error() }

func (e *awayError) Unwrap() error { return e.cause }

// before reports whether a key that is as it should be was not so at o.Since.
func (r *run) before(ctx context.Context, kv storage.KV) (bool, error) {
	if r.o.Since == 0 || kv.Revision <= r.o.Since {
		return false, nil
	}
	was, err := r.store.Range(ctx, storage.Range{Prefix: kv.Key, Limit: 1, Revision: r.o.Since})
	switch kind := storage.KindOf(err); {
	case err != nil && (kind == storage.Compacted || kind == storage.FutureRevision):
		return false, nil // nobody knows any more
	case err != nil:
		return false, &awayError{err}
	case len(was.KVs) == 0 || was.KVs[0].Key != kv.Key:
		return false, nil
	}
	_, changed, err := r.rewrite(ctx, was.KVs[0])
	return changed && err == nil, nil
}

func (r *run) note(key string, rewritten bool, err error) {
	r.p.Done++
	switch {
	case err != nil:
		r.p.Failed++
		if len(r.p.Failures) < maxFailures {
			r.p.Failures = append(r.p.Failures, Failure{Key: strings.TrimPrefix(key, r.o.Prefix), Reason: err.Error()})
		}
	case rewritten:
		r.p.Rewritten++
	default:
		r.p.Skipped++
	}
}
