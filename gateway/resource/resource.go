package resource

import (
	"errors"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/conversion"
	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/storage/watchcache"
)

// Resource is a definition being served: the definition, where its objects
// are, and how they convert. It is immutable.
type Resource struct {
	Def *crd.Definition

	bucket    *watchcache.Bucket[*Entry]
	converter conversion.Converter
	epoch     uint64
	// root is the key prefix of the objects in the store, with a slash at the
	// end.
	root string
	// replaced is closed when another form of the resource, or none, is served
	// instead; nil for built-ins.
	replaced <-chan struct{}
	// writes counts the writes that go on under this form.
	writes atomic.Int64
}

// ErrReplaced tells that a write met a definition that is no longer the
// current one, before it did anything: it has to look the resource up again.
var ErrReplaced = errors.New("the definition of the resource was replaced")

// begin registers a write. After begin succeeded, nobody who saw the resource
// replaced takes its writes for ended until end is called.
func (r *Resource) begin() (end func(), err error) {
	r.writes.Add(1)
	select {
	case <-r.replaced:
		r.writes.Add(-1)
		return nil, ErrReplaced
	default:
		return func() { r.writes.Add(-1) }, nil
	}
}

var epochs atomic.Uint64

func newResource(def *crd.Definition, prefix string, cache *watchcache.Cache[*Entry], conv conversion.Converter) *Resource {
	return &Resource{
		Def: def, bucket: cache.Bucket(def.KeyPrefix), converter: conv,
		epoch: epochs.Add(1), root: prefix + def.KeyPrefix + "/",
	}
}

// GroupResource is the resource's group and plural.
func (r *Resource) GroupResource() schema.GroupResource { return r.Def.GroupResource() }

func (r *Resource) key(namespace, name string) string { return r.root + joinKey(namespace, name) }

// viewKey is the key of the view at a version as it would be derived now.
func (r *Resource) viewKey(version string) viewKey {
	k := viewKey{definition: r.epoch, version: version}
	if r.converter != nil {
		k.converter = r.converter.Epoch()
	}
	return k
}
