package migration_test

import (
	"context"
	"maps"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/gateway/kinds/migration"
	"github.com/wasmgate/wasmgate/storage/migrate"
)

// memoryRewriter is a store of names with versions, and the Server that writes
// there.
type memoryRewriter struct {
	mu       sync.Mutex
	versions map[string]string
	serving  string
	broken   map[string]bool
	// visit, when set, is called before each object, without the lock.
	visit func(ctx context.Context, pass int, name string) error
	calls []migration.RewriteOptions
}

const (
	// countedAt is the revision of each Count, rewrittenAt that of each page.
	countedAt, rewrittenAt = 30, 50
)

func newRewriter(serving string, stored map[string]string) *memoryRewriter {
	return &memoryRewriter{versions: stored, serving: serving, broken: map[string]bool{}}
}

func (r *memoryRewriter) locked(fn func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	fn()
}

// counts is the number of objects by version.
func (r *memoryRewriter) counts() map[string]int {
	counts := map[string]int{}
	r.locked(func() {
		for _, v := range r.versions {
			counts[v]++
		}
	})
	return counts
}

func (r *memoryRewriter) Serving(context.Context, schema.GroupResource) (string, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.serving, r.serving != ""
}

func (r *memoryRewriter) Count(context.Context, schema.GroupResource) (n, revision int64, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return int64(len(r.versions)), countedAt, nil
}

func (r *memoryRewriter) Rewrite(ctx context.Context, _ schema.GroupResource, opts migration.RewriteOptions, progress func(migrate.Progress) error) (migrate.Progress, error) {
	var names []string
	var call int
	r.locked(func() {
		r.calls = append(r.calls, opts)
		call = len(r.calls)
		names = slices.Sorted(maps.Keys(r.versions))
	})
	p := migrate.Progress{Cursor: opts.From, Revision: opts.Since}
	for _, name := range names {
		if name <= opts.From {
			continue
		}
		if r.visit != nil {
			if err := r.visit(ctx, call, name); err != nil {
				return p, err
			}
		}
		if err := ctx.Err(); err != nil {
			return p, err
		}
		r.rewrite(&p, name)
		reached := p
		reached.Revision = rewrittenAt
		if err := progress(reached); err != nil {
			return p, err
		}
	}
	return p, nil
}

func (r *memoryRewriter) rewrite(p *migrate.Progress, name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	p.Done++
	p.Cursor = name
	switch {
	case r.broken[name]:
		p.Failed++
		p.Failures = append(p.Failures, migrate.Failure{Key: name, Reason: "the converter refused it"})
	case r.versions[name] == r.serving:
		p.Skipped++
	default:
		r.versions[name] = r.serving
		p.Rewritten++
	}
}
