package resource

import (
	"context"
	"errors"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apistorage "k8s.io/apiserver/pkg/storage"

	"github.com/wasmgate/wasmgate/gateway/catalog"
	"github.com/wasmgate/wasmgate/gateway/view"
	"github.com/wasmgate/wasmgate/gateway/view/encoding"
	"github.com/wasmgate/wasmgate/storage"
)

// settleRead waits until the cache may answer a read at a resourceVersion
// parameter: "" is the most recent state, "0" any, N not older than N.
func (e *Engine) settleRead(ctx context.Context, resourceVersion string) error {
	rev, err := parseRevision(resourceVersion)
	if err != nil {
		return err
	}
	if resourceVersion == "0" {
		return nil
	}
	if resourceVersion == "" {
		_, err = e.cache.Fresh(ctx)
		return e.readError(ctx, err, 0)
	}
	if e.cache.Revision() >= rev {
		return nil
	}
	wctx, cancel := context.WithTimeout(ctx, waitTimeout)
	defer cancel()
	return e.readError(ctx, e.cache.Wait(wctx, rev), rev)
}

func (e *Engine) readError(ctx context.Context, err error, rev int64) error {
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
func (e *Engine) Get(ctx context.Context, t Target, resourceVersion string, in encoding.Encoding) (encoding.Object, error) {
	entry, err := e.entry(ctx, t, resourceVersion)
	if err != nil {
		return nil, err
	}
	return t.Resource.Object(ctx, entry, in)
}

// entry is the state that a get is about.
func (e *Engine) entry(ctx context.Context, t Target, resourceVersion string) (*view.Entry, error) {
	if r := e.o.Reports[t.Resource.GroupResource()]; r != nil {
		return r.get(ctx, t)
	}
	if err := e.settleRead(ctx, resourceVersion); err != nil {
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
func (e *Engine) State(ctx context.Context, t Target, live bool) (*view.Entry, error) {
	if !live {
		return e.entry(ctx, t, "0")
	}
	from, err := e.current(ctx, t, true)
	return from.Entry, err
}

// origin is the state that a write starts from.
type origin struct {
	*view.Entry
	// live: it is the store's own state, not a cached one that may be behind.
	live bool
}

// current is the cached state if there is one and live does not ask for more.
func (e *Engine) current(ctx context.Context, t Target, live bool) (origin, error) {
	cached, ok := t.Resource.Bucket().Snapshot().Get(catalog.JoinKey(t.Namespace, t.Name))
	if ok && !live {
		return origin{Entry: cached.Value}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	kv, err := e.store.Get(ctx, t.Resource.Key(t.Namespace, t.Name))
	if err != nil {
		return origin{}, t.storeError(err)
	}
	if ok && cached.Revision == kv.Revision {
		return origin{cached.Value, true}, nil // it may hold views already
	}
	return origin{view.NewEntry(kv), true}, nil
}
