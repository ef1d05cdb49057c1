package migration

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/gateway/catalog"
	"github.com/wasmgate/wasmgate/gateway/metrics"
	"github.com/wasmgate/wasmgate/storage"
	"github.com/wasmgate/wasmgate/storage/migrate"
)

// Passes is the [Rewriter] that goes through the store, by what the engine knows of a
// resource, and the [Server] that tells what the engine serves. All fields are required.
type Passes struct {
	Catalog *catalog.Catalog
	Store   storage.Store
	Metrics *metrics.Metrics
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
	served, err := r.Catalog.Resource(gr)
	if err != nil {
		return migrate.Progress{Cursor: o.From, Revision: o.Since}, err
	}
	failures := r.Metrics.MigrationFailures(gr.Group, gr.Resource)
	var counted int64
	reached, err := migrate.Run(ctx, fenced{r.Store, served}, migrate.Options{
		Prefix: served.Root(), From: migrate.Progress{Cursor: o.From}, Since: o.Since, Rewrite: served.Rewrite, Rate: o.Rate,
		Progress: func(p migrate.Progress) error {
			r.Metrics.MigrationProgress(gr.Group, gr.Resource, p.Done, p.Total)
			failures.Add(float64(p.Failed - counted))
			counted = p.Failed
			return progress(p)
		},
	})
	failures.Add(float64(reached.Failed - counted)) // of a page that it did not end
	return reached, err
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
