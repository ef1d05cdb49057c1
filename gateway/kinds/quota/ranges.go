package quota

import (
	"context"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/crd/object"
	"github.com/wasmgate/wasmgate/gateway/catalog"
	"github.com/wasmgate/wasmgate/gateway/view"
	"github.com/wasmgate/wasmgate/storage/watchcache"
)

var ranges = schema.GroupResource{Resource: "limitranges"}

// Ranges are the LimitRanges that the cache holds, each read once and not before
// somebody writes in its namespace. It follows the cache without a goroutine, and is
// safe for concurrent use.
type Ranges struct {
	kind *catalog.Resource

	mu   sync.Mutex
	from watchcache.Snapshot[*view.Entry]
	of   map[string][]limitRange // by namespace, in the order of names
}

// limitRange is one state of one of them.
type limitRange struct {
	entry *view.Entry
	read  func() (*corev1.LimitRange, error)
}

// NewRanges finds the LimitRanges of a catalog that serves them.
func NewRanges(c *catalog.Catalog) *Ranges { return &Ranges{kind: c.Snapshot().Resource(ranges)} }

// In returns those of a namespace, which are shared and not to be changed. Of one that
// cannot be read it tells.
func (r *Ranges) In(namespace string) (out []*corev1.LimitRange, err error) {
	for _, one := range r.within(namespace) {
		typed, err := one.read()
		if err != nil {
			return nil, err
		}
		out = append(out, typed)
	}
	return out, nil
}

func (r *Ranges) within(namespace string) []limitRange {
	now := r.kind.Bucket().Snapshot()
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.from.Same(now) {
		r.follow(now)
	}
	return r.of[namespace]
}

// follow takes over what did not change.
func (r *Ranges) follow(now watchcache.Snapshot[*view.Entry]) {
	known := make(map[*view.Entry]limitRange, r.from.Len())
	for _, all := range r.of {
		for _, one := range all {
			known[one.entry] = one
		}
	}
	r.from, r.of = now, map[string][]limitRange{}
	now.Ascend("", "", func(it watchcache.Item[*view.Entry]) bool {
		one, there := known[it.Value]
		if !there {
			one = limitRange{it.Value, sync.OnceValues(func() (*corev1.LimitRange, error) { return r.read(it.Value) })}
		}
		namespace, _ := catalog.SplitKey(it.Key)
		r.of[namespace] = append(r.of[namespace], one)
		return true
	})
}

func (r *Ranges) read(e *view.Entry) (*corev1.LimitRange, error) {
	// What was begun has to end, whoever waits: the next write needs it too.
	data, err := r.kind.View(context.Background(), e, r.kind.Def.StorageVersion)
	if err != nil {
		return nil, err
	}
	tree, _, err := object.Parse(data)
	if err != nil {
		return nil, r.kind.Unreadable(e, err)
	}
	out := &corev1.LimitRange{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(tree, out); err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	return out, nil
}
