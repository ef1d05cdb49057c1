package local

import (
	"context"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/gateway/catalog"
	"github.com/wasmgate/wasmgate/gateway/view"
	"github.com/wasmgate/wasmgate/storage/watchcache"
)

// Ownership reads who owns an object and what holds up its deletion (see
// [catalog.Resource.Ownership]): from the cache, or with live from the store
// itself. Of an object that is there and cannot be read only namespace and name
// are filled in. It never converts. Of a kind that is not served nobody can tell
// what there is: that is [meta.NoResourceMatchError], and not NotFound.
func (c Client) Ownership(ctx context.Context, gr schema.GroupResource, namespace, name string, live bool) (*metav1.ObjectMeta, error) {
	t, err := c.target(gr, namespace, name, "")
	if err != nil {
		return nil, &meta.NoResourceMatchError{PartialResource: gr.WithVersion("")}
	}
	entry, err := c.e.State(ctx, t, live)
	if err != nil {
		return nil, err
	}
	return ownership(t.Resource, catalog.JoinKey(namespace, name), entry), nil
}

func ownership(r *catalog.Resource, key string, e *view.Entry) *metav1.ObjectMeta {
	m, err := r.Ownership(e)
	if err != nil {
		m = &metav1.ObjectMeta{} // that it is there is all there is to know
	}
	m.Namespace, m.Name = catalog.SplitKey(key)
	return m
}

// maxEvents bounds how many changes are taken from the cache at once.
const maxEvents = 256

// Feed tells what becomes of the owners of a kind's objects. One goroutine uses
// it at a time; it needs no closing, and costs nothing while it is not used.
type Feed struct {
	resource *catalog.Resource
	cursor   *watchcache.Cursor[*view.Entry] // nil before everything was told
	events   []watchcache.Event[*view.Entry]
}

// Feed returns a feed of a kind that is served now. That it is redefined or
// removed afterwards changes nothing.
func (c Client) Feed(gr schema.GroupResource) (*Feed, error) {
	t, err := c.target(gr, "", "", "")
	if err != nil {
		return nil, err
	}
	return &Feed{resource: t.Resource}, nil
}

// Wait returns a channel that is closed once Next has something to tell. Take a
// new one for each wait.
func (f *Feed) Wait() <-chan struct{} {
	if f.cursor == nil {
		return alwaysReady
	}
	return f.cursor.Wait()
}

var alwaysReady = func() chan struct{} { c := make(chan struct{}); close(c); return c }()

// Next calls fn for what happened since the last call, in order; first, and
// when it has lost track, for everything that exists instead, and says so with
// anew. With more there may be more to tell at once. gone is an object as it was
// last. What fn is given is described at [Client.Ownership], and belongs to
// it.
func (f *Feed) Next(fn func(m *metav1.ObjectMeta, gone bool)) (anew, more bool, err error) {
	if f.cursor != nil {
		f.events, err = f.cursor.AppendNext(f.events[:0], maxEvents)
		for _, ev := range f.events {
			fn(ownership(f.resource, ev.Item.Key, ev.Item.Value), ev.Type == watchcache.Deleted)
		}
		clear(f.events) // which else keeps objects
		if !watchcache.IsExpired(err) {
			return false, len(f.events) == maxEvents, err
		}
	}
	s := f.resource.Bucket().Snapshot()
	s.Ascend("", "", func(it watchcache.Item[*view.Entry]) bool {
		fn(ownership(f.resource, it.Key, it.Value), false)
		return true
	})
	f.cursor, err = f.resource.Bucket().Watch(s.Revision())
	if watchcache.IsExpired(err) { // within a moment: everything is told again
		return true, true, nil
	}
	return true, false, err
}
