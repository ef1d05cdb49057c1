package catalog

import (
	"errors"
	"fmt"
	"sync/atomic"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/conversion"
	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/gateway/view"
	"github.com/wasmgate/wasmgate/managedfields"
	"github.com/wasmgate/wasmgate/storage"
	"github.com/wasmgate/wasmgate/storage/watchcache"
)

// Resource is a definition being served: the definition, where its objects
// are, and how they convert. It is immutable, but for what it remembers of them.
type Resource struct {
	// Renderer derives the views of the objects, and has the definition.
	*view.Renderer
	// Owners is the field management of the kind.
	Owners *managedfields.Kind
	// Bodies is that of what is sent to subresources, by version and subresource,
	// where that is of a kind of its own.
	Bodies map[Part]*managedfields.Kind

	bucket   *watchcache.Bucket[*view.Entry]
	labelled labelIndexes
	watchers *watchcache.Hub[*view.Entry, Interest]
	byLabel  atomic.Int64 // of the watchers, those that follow a label
	// root is the key prefix of the objects in the store, with a slash at the
	// end.
	root string
	// replaced is closed when another form of the resource, or none, is served
	// instead; nil for built-ins.
	replaced <-chan struct{}
	// showing is what watchers see; nil for built-ins.
	showing *showing
	// definition is the key of the CustomResourceDefinition in the store, ""
	// for built-ins, and definedAt its latest revision that the resource stands
	// for. unserved is one that it does not stand for, and that cannot be served here.
	definition          string
	definedAt, unserved atomic.Int64
}

// ErrReplaced tells that a write met a definition that is no longer the
// current one, before it did anything: it has to look the resource up again.
var ErrReplaced = errors.New("the definition of the resource was replaced")

// Current fails with [ErrReplaced] when another form of the resource, or none,
// is served instead.
func (r *Resource) Current() error {
	select {
	case <-r.replaced:
		return ErrReplaced
	default:
		return nil
	}
}

// Writer is what all objects of the resource are written with: a write commits
// only while the stored definition is one that the resource stands for, and
// fails as Changed otherwise. So no write, on whichever gateway and however
// late, can follow a definition that does not allow it.
func (r *Resource) Writer(s storage.Store) storage.GuardedWriter {
	if r.definition == "" {
		return s
	}
	return s.While(r.definition, r.definedAt.Load())
}

// Definition is the key of the definition in the store, "" for a built-in kind, and the
// latest revision of it that the resource stands for.
func (r *Resource) Definition() (key string, revision int64) { return r.definition, r.definedAt.Load() }

// confirm lets the resource stand for a revision of its definition.
func (r *Resource) confirm(revision int64) { r.definedAt.Store(revision) }

// barred is why nothing is written while the resource does not stand for what is stored of
// its definition, which cannot be served here; nil where it does, or may soon.
func (r *Resource) barred() error {
	if r.unserved.Load() <= r.definedAt.Load() {
		return nil
	}
	return apierrors.NewServiceUnavailable(fmt.Sprintf("the definition of %s cannot be served by this gateway as it is stored now, and may store objects at another version: nothing is written until it can, see the gateway's log", r.GroupResource()))
}

// newResource makes a resource; a nil converter is that of the definition, or
// None.
func (c *Catalog) newResource(def *crd.Definition, conv conversion.Converter) *Resource {
	r := &Resource{
		Renderer: view.New(def, conv, c.memory), Owners: managedfields.NewKind(def), Bodies: bodiesOf(def), bucket: c.cache.Bucket(def.KeyPrefix), root: c.prefix + def.KeyPrefix + "/",
	}
	r.watchers = watchcache.NewHub(r.bucket, r.interestsOf)
	return r
}

// Part is a subresource of a version.
type Part struct{ Version, Subresource string }

func bodiesOf(def *crd.Definition) map[Part]*managedfields.Kind {
	var out map[Part]*managedfields.Kind
	for _, v := range def.Versions {
		for name, s := range v.Subresources {
			if s.Body == nil {
				continue
			}
			if out == nil {
				out = map[Part]*managedfields.Kind{}
			}
			out[Part{v.Name, name}] = managedfields.NewKind(s.Body)
		}
	}
	return out
}

// GroupResource is the resource's group and plural.
func (r *Resource) GroupResource() schema.GroupResource { return r.Def.GroupResource() }

// Bucket holds the resource's objects, by [JoinKey].
func (r *Resource) Bucket() *watchcache.Bucket[*view.Entry] { return r.bucket }

// Root is the key prefix of the resource's objects in the store, with a slash
// at the end.
func (r *Resource) Root() string { return r.root }

// Key is the key of an object in the store.
func (r *Resource) Key(namespace, name string) string { return r.root + JoinKey(namespace, name) }

// Replaced is closed when another form of the resource, or none, is served
// instead of this one; it is nil for built-in kinds.
func (r *Resource) Replaced() <-chan struct{} { return r.replaced }
