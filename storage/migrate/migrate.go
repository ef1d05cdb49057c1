package migrate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
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
	// on after it: what became as it should be between then and the start of this
	// run counts as rewritten by this one, as far as the store still knows what
	// was there. Zero means that it did not. PageSize must not be less than it
	// was then.
	Since int64
	// Rewrite returns what a key's value should become, or changed=false if it
	// is as it should be. It is called concurrently, possibly several times
	// for a key, must not change kv.Value and must have no side effects. An
	// error counts the key as failed, unless it is one of [Later].
	Rewrite func(ctx context.Context, kv storage.KV) (value []byte, changed bool, err error)
	// Progress is called after each page, when everything up to its cursor is
	// done, to save it. An error ends the run. Optional.
	Progress func(Progress) error
	// PageSize is the most keys of a page (500 if zero), Concurrency how many
	// are rewritten at once (4 if zero).
	PageSize, Concurrency int
	// Rate is the most keys a second, WriteRate the most that are written; 0 means
	// no limit.
	Rate, WriteRate float64
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
	// rewritten, by this run or by the earlier one of Since. It is zero when the
	// run has ended and it is known that nothing was.
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
// It fails when the store cannot be read or takes no more data, or not under its guard, when
// Rewrite says [Later], when Progress fails, or with ctx's error, after it has finished the keys that it had begun; in each case what it
// returns can be resumed from, and so can the last progress given to Progress.
func Run(ctx context.Context, store Store, o Options) (Progress, error) {
	if o.PageSize <= 0 {
		o.PageSize = defaultPageSize
	}
	if o.Concurrency <= 0 {
		o.Concurrency = defaultConcurrency
	}
	r := &run{store: store, o: o, p: o.From, earlier: earlier{since: o.Since, left: o.PageSize}}
	limit := rate.Inf
	if o.Rate > 0 {
		limit = rate.Limit(o.Rate)
		// A slow run must show that it moves, and must not lose minutes of
		// work when it is ended: a page is about a second of it.
		o.PageSize = min(o.PageSize, max(1, int(o.Rate)))
	}
	r.pace, r.writes = rate.NewLimiter(limit, 1), rate.NewLimiter(rate.Inf, 1)
	if o.WriteRate > 0 {
		r.writes.SetLimit(rate.Limit(o.WriteRate))
	}
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
	r.p.Total, r.earlier.until = r.p.Done+ahead.Count, ahead.Revision
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
		r.forget(ctx)
		if o.Progress != nil {
			reached := r.p
			reached.Revision = cmp.Or(r.earlier.since, page.Revision)
			if err := o.Progress(reached); err != nil {
				return r.p, fmt.Errorf("migrate %s: save progress: %w", o.Prefix, err)
			}
		}
	}
}

type run struct {
	store Store
	o     Options
	// pace is how fast keys are looked at, writes how fast they are written.
	pace, writes *rate.Limiter
	p            Progress
	// earlier is changed between pages only.
	earlier earlier
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
			r.p.Revision = cmp.Or(r.earlier.since, page.Revision)
			return away.cause
		}
		if !out.begun {
			return nil
		}
		r.note(page.KVs[i].Key, out.rewritten, out.err)
		r.p.Cursor = page.KVs[i].Key
		r.passed(page.KVs[i], out)
	}
	if r.p.Total = max(r.p.Total, r.p.Done); !page.More {
		r.p.Total = r.p.Done
	}
	return nil
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
