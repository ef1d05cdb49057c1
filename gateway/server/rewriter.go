package server

import (
	"context"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/gateway/controller/migration"
	"github.com/wasmgate/wasmgate/gateway/metrics"
	"github.com/wasmgate/wasmgate/gateway/resource"
	"github.com/wasmgate/wasmgate/storage"
	"github.com/wasmgate/wasmgate/storage/migrate"
)

// serving tells the migration controller what the engine serves.
type serving struct{ engine *resource.Engine }

// Serving implements migration.Server.
func (s serving) Serving(_ context.Context, gr schema.GroupResource) (string, bool) {
	return s.engine.Catalog().Serving(gr)
}

// rewriter carries out the migration controller's passes on the store.
type rewriter struct {
	engine  *resource.Engine
	store   storage.Store
	metrics *metrics.Metrics
}

// Count implements migration.Rewriter.
func (r rewriter) Count(ctx context.Context, gr schema.GroupResource) (int64, error) {
	w, err := r.engine.Rewriter(gr)
	if err != nil {
		return 0, err
	}
	page, err := r.store.Range(ctx, storage.Range{Prefix: w.Prefix, Limit: 1})
	return page.Count, err
}

// Rewrite implements migration.Rewriter.
func (r rewriter) Rewrite(ctx context.Context, gr schema.GroupResource, o migration.RewriteOptions, progress func(migration.Progress) error) (migration.Progress, error) {
	w, err := r.engine.Rewriter(gr)
	if err != nil {
		return migration.Progress{Cursor: o.From}, err
	}
	var reason string
	report := func(p migrate.Progress) migration.Progress {
		out := migration.Progress{Done: p.Done, Rewritten: p.Rewritten, Skipped: p.Skipped, Failed: p.Failed, Cursor: p.Cursor, Reason: reason}
		for _, f := range p.Failures {
			name, why, _ := strings.Cut(strings.TrimPrefix(f, w.Prefix), ": ")
			out.Failures = append(out.Failures, name)
			out.Reason, reason = why, why
		}
		return out
	}
	p, err := migrate.Run(ctx, r.store, migrate.Options{
		Prefix: w.Prefix, From: migrate.Progress{Cursor: o.From}, Rewrite: w.Rewrite, Rate: o.Rate,
		Progress: func(p migrate.Progress) error {
			out := report(p)
			r.metrics.MigrationProgress(gr.Group, gr.Resource, p.Done, p.Total)
			return progress(out)
		},
	})
	return report(p), err
}
