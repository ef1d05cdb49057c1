package read

import (
	"context"
	"errors"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	apistorage "k8s.io/apiserver/pkg/storage"

	"github.com/wasmgate/wasmgate/gateway/catalog"
	"github.com/wasmgate/wasmgate/gateway/resource"
	"github.com/wasmgate/wasmgate/gateway/view"
	"github.com/wasmgate/wasmgate/gateway/view/encoding"
	"github.com/wasmgate/wasmgate/storage"
	"github.com/wasmgate/wasmgate/storage/watchcache"
)

// Reader answers reads of the objects in a cache.
type Reader struct {
	store   storage.Store
	served  *catalog.Catalog
	cache   *watchcache.Cache[*view.Entry]
	reports map[schema.GroupResource]resource.Report
	noPast  bool
}

// New makes a reader of what a catalog serves and a store keeps. The objects of kinds
// with a report are what that tells. noPast reads lists of past revisions from the store,
// even where they are in memory.
func New(store storage.Store, served *catalog.Catalog, reports map[schema.GroupResource]resource.Report, noPast bool) *Reader {
	return &Reader{store, served, served.Cache(), reports, noPast}
}

// waitTimeout is how long a read waits for a revision that the cache has not
// reached.
const waitTimeout = 3 * time.Second

// waitForRevision waits until the cache may answer a read of r at a resourceVersion
// parameter: "" is the most recent state, "0" any, N not older than N. That is so of its
// definition, too: where r is no longer what is served, it is [catalog.ErrReplaced].
func (e *Reader) waitForRevision(ctx context.Context, r *catalog.Resource, resourceVersion string) error {
	rev, err := resource.ParseRevision(resourceVersion)
	if err != nil {
		return err
	}
	if resourceVersion == "0" {
		return nil
	}
	if resourceVersion == "" {
		err = e.fresh(ctx)
	} else {
		err = e.reach(ctx, rev)
	}
	if err != nil {
		return err
	}
	return e.served.InForce(ctx, r)
}

// reach waits until the cache has reached a revision that a client knows of.
func (e *Reader) reach(ctx context.Context, rev int64) error {
	if e.cache.Revision() >= rev {
		return nil
	}
	wctx, cancel := context.WithTimeout(ctx, waitTimeout)
	defer cancel()
	return e.readError(ctx, e.cache.Wait(wctx, rev), rev)
}

// fresh waits until the cache shows every write that was acknowledged before the call.
func (e *Reader) fresh(ctx context.Context) error {
	_, err := e.cache.Fresh(ctx)
	return e.readError(ctx, err, 0)
}

// AllInForce waits until every definition is served whose write was acknowledged before
// the call.
func (e *Reader) AllInForce(ctx context.Context) error {
	if err := e.fresh(ctx); err != nil {
		return err
	}
	return e.readError(ctx, e.served.WaitForSync(ctx), 0)
}

// Await waits until the cache has reached a revision that the store has.
func (e *Reader) Await(ctx context.Context, revision int64) error {
	return e.readError(ctx, e.cache.Wait(ctx, revision), 0)
}

func (e *Reader) readError(ctx context.Context, err error, rev int64) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return view.ErrTimeout()
	case rev > 0 && errors.Is(err, context.DeadlineExceeded):
		return apistorage.NewTooLargeResourceVersionError(uint64(rev), uint64(e.cache.Revision()), 1)
	case storage.KindOf(err) == storage.Unavailable:
		return unanswered(err)
	default:
		return apierrors.NewInternalError(err)
	}
}

// unanswered is what a reader is told of a store that does not answer: to try
// again soon.
func unanswered(err error) error {
	out := apierrors.NewServiceUnavailable("etcd does not answer: " + err.Error())
	out.ErrStatus.Details = &metav1.StatusDetails{RetryAfterSeconds: 2}
	return out
}

// Get returns an object in an encoding. resourceVersion is the query parameter.
func (e *Reader) Get(ctx context.Context, t resource.Target, resourceVersion string, in encoding.Encoding) (encoding.Object, error) {
	entry, err := e.entry(ctx, t, resourceVersion)
	if err != nil {
		return nil, err
	}
	return t.Resource.Object(ctx, entry, in)
}

// Exists fails when there is no object that t, or the object that its subresource is
// of, names.
func (e *Reader) Exists(ctx context.Context, t resource.Target) error {
	t.Subresource = ""
	_, err := e.entry(ctx, t, "")
	return err
}

// entry is the state that a get is about.
func (e *Reader) entry(ctx context.Context, t resource.Target, resourceVersion string) (*view.Entry, error) {
	if r := e.reports[t.Resource.GroupResource()]; r != nil {
		return reported(ctx, r, t)
	}
	if err := e.waitForRevision(ctx, t.Resource, resourceVersion); err != nil {
		return nil, err
	}
	it, ok := t.Resource.Bucket().Snapshot().Get(catalog.JoinKey(t.Namespace, t.Name))
	if !ok {
		return nil, apierrors.NewNotFound(t.GroupResource(), t.Name)
	}
	return it.Value, nil
}

// State is an object as the cache has it, or with live as the store itself has it,
// which the cache may be behind. It waits for nothing else.
func (e *Reader) State(ctx context.Context, t resource.Target, live bool) (*view.Entry, error) {
	if !live {
		return e.entry(ctx, t, "0")
	}
	from, err := e.Current(ctx, t, true)
	return from.Entry, err
}

// Origin is the state that a write starts from, none for what does not exist.
type Origin struct {
	*view.Entry
	// Live: it is the store's own state, not a cached one that may be behind.
	Live bool
	// Stale: it is live, and is not kept as it would be if it were written now.
	Stale bool
}

// Current is the cached state if there is one and live does not ask for more.
func (e *Reader) Current(ctx context.Context, t resource.Target, live bool) (Origin, error) {
	cached, ok := t.Resource.Bucket().Snapshot().Get(catalog.JoinKey(t.Namespace, t.Name))
	if ok && !live {
		return Origin{Entry: cached.Value}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	kv, err := e.store.Get(ctx, t.Resource.Key(t.Namespace, t.Name))
	if err != nil {
		return Origin{}, t.StoreError(err)
	}
	if ok && cached.Revision == kv.Revision {
		return Origin{cached.Value, true, kv.Keeping == storage.Stale}, nil // it may hold views already
	}
	return Origin{view.NewEntry(kv), true, kv.Keeping == storage.Stale}, nil
}
