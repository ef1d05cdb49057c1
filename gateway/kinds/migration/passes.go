package migration

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/gateway/catalog"
	"github.com/wasmgate/wasmgate/gateway/metrics"
	"github.com/wasmgate/wasmgate/storage"
	"github.com/wasmgate/wasmgate/storage/migrate"
)

// Passes is the [Rewriter] that goes through the store, by what the engine knows of a
// resource, and the [Server] that tells what the engine serves. All fields but Contents
// are required.
type Passes struct {
	Catalog *catalog.Catalog
	Store   storage.Store
	Metrics *metrics.Metrics
	// Contents are, by resource, prefixes of keys that are no objects and belong to
	// it. They are rewritten after the objects if they are stale, and count as they
	// do.
	Contents map[schema.GroupResource]string
}

// Serving implements [Server].
func (r Passes) Serving(_ context.Context, gr schema.GroupResource) (string, bool) {
	return r.Catalog.Serving(gr)
}

// Count implements [Rewriter].
func (r Passes) Count(ctx context.Context, gr schema.GroupResource) (n, revision int64, err error) {
	served, err := r.Catalog.Resource(gr)
	if err != nil {
		return 0, 0, err
	}
	page, err := r.Store.Range(ctx, storage.Range{Prefix: served.Root(), Limit: 1, Count: true})
	return page.Count, page.Revision, err
}

// Rewrite implements [Rewriter].
func (r Passes) Rewrite(ctx context.Context, gr schema.GroupResource, o RewriteOptions, progress func(migrate.Progress) error) (migrate.Progress, error) {
	reached, err := r.rewrite(ctx, gr, o, progress)
	if errors.Is(err, catalog.ErrReplaced) || storage.KindOf(err) == storage.Changed {
		err = fmt.Errorf("%w: %w", ErrDefinitionChanged, err)
	}
	return reached, err
}

func (r Passes) rewrite(ctx context.Context, gr schema.GroupResource, o RewriteOptions, progress func(migrate.Progress) error) (reached migrate.Progress, err error) {
	served, err := r.Catalog.Resource(gr)
	if err != nil {
		return migrate.Progress{Cursor: o.From, Revision: o.Since}, err
	}
	failures := r.Metrics.MigrationFailures(gr.Group, gr.Resource)
	var counted int64
	count := func(p migrate.Progress) {
		r.Metrics.MigrationProgress(gr.Group, gr.Resource, p.Done, p.Total)
		failures.Add(float64(p.Failed - counted))
		counted = p.Failed
	}
	defer func() { failures.Add(float64(reached.Failed - counted)) }() // of a page that it did not end
	report := func(p migrate.Progress) error {
		count(p)
		return progress(p)
	}
	contents, more := r.Contents[gr]
	if !more || !strings.HasPrefix(o.From, contents) {
		reached, err = migrate.Run(ctx, fenced{r.Store, served}, migrate.Options{
			Prefix: served.Root(), From: migrate.Progress{Cursor: o.From}, Since: o.Since, Rewrite: rewriteOf(served), Rate: o.Rate, WriteRate: o.WriteRate, Progress: report,
		})
		o.From, o.Since = "", 0
	}
	if !more || err != nil {
		return reached, err
	}
	return r.rewriteContents(ctx, contents, o, reached, report)
}

// rewriteOf is what is said of each object. That the definition has changed, or that no
// module finds room, says nothing of any.
func rewriteOf(served *catalog.Resource) func(context.Context, storage.KV) ([]byte, bool, error) {
	return func(ctx context.Context, kv storage.KV) ([]byte, bool, error) {
		value, changed, err := served.Rewrite(ctx, kv)
		if errors.Is(err, catalog.ErrReplaced) || apierrors.IsTooManyRequests(err) {
			err = migrate.Later(err)
		}
		return value, changed, err
	}
}

// contentPage is how many contents are in memory at a time: each has up to half a
// megabyte.
const contentPage = 4

// rewriteContents goes through the keys below a prefix after the objects that they
// belong to, of which the progress is before.
func (r Passes) rewriteContents(ctx context.Context, prefix string, o RewriteOptions, before migrate.Progress, progress func(migrate.Progress) error) (migrate.Progress, error) {
	both := func(p migrate.Progress) migrate.Progress {
		p.Total, p.Done, p.Rewritten = p.Total+before.Total, p.Done+before.Done, p.Rewritten+before.Rewritten
		p.Skipped, p.Failed = p.Skipped+before.Skipped, p.Failed+before.Failed
		p.Failures = slices.Concat(before.Failures, p.Failures)
		p.Cursor = cmp.Or(p.Cursor, before.Cursor)
		return p
	}
	reached, err := migrate.Run(ctx, r.Store, migrate.Options{
		Prefix: prefix, From: migrate.Progress{Cursor: o.From}, Since: o.Since, Rewrite: rewriteStale, Rate: o.Rate, WriteRate: o.WriteRate, PageSize: contentPage,
		Progress: func(p migrate.Progress) error { return progress(both(p)) },
	})
	return both(reached), err
}

var errUnreadable = errors.New("it cannot be decrypted")

// rewriteStale has what is stale written again as it is.
func rewriteStale(_ context.Context, kv storage.KV) (value []byte, changed bool, err error) {
	if kv.Keeping == storage.Unreadable {
		return nil, false, errUnreadable
	}
	return kv.Value, kv.Keeping == storage.Stale, nil
}

// fenced is a store that is updated under the definition that the rewrite knows
// only: a gateway that lost the lead meanwhile changes nothing.
type fenced struct {
	storage.Store
	under *catalog.Resource
}

// Update implements storage.Writer.
func (f fenced) Update(ctx context.Context, key string, value []byte, rev int64, ttl time.Duration) (int64, error) {
	return f.under.Writer(f.Store).Update(ctx, key, value, rev, ttl)
}
