// Package controllertest owns an in-memory engine for tests of controllers. It
// behaves like the API where controllers can tell: resource versions and
// conflicts, finalizers, generations, subresources, and a cache that may be
// behind what was committed until Fresh is called.
//
// It must not know schemas, versions or conversions. Only tests import it.
package controllertest

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
)

// Objects is the in-memory engine: all interfaces to objects that the
// controllers declare.
type Objects struct {
	mu       sync.Mutex
	revision int64
	served   map[schema.GroupResource]*crd.Definition
	// stored is what was committed, cached what reads see.
	stored map[controller.Key]*unstructured.Unstructured
	cached map[controller.Key]*unstructured.Unstructured
	// pending are the keys of held kinds that cached is behind on, in order.
	pending []controller.Key
	held    map[schema.GroupResource]bool
	broken  map[schema.GroupResource]bool
	fail    func(op string, key controller.Key) error
	// changed is closed and replaced with every change of cached.
	changed   chan struct{}
	followers map[*follower]bool
	writes    int
	// foretold are conditions of a generation that their object has not: of another object.
	foretold []string
	// made is what was created, as it was sent.
	made map[controller.Key]*unstructured.Unstructured
}

// New returns Objects that serve the kinds of the controllers, config maps and
// more.
func New(more ...*crd.Definition) *Objects {
	o := &Objects{
		served: map[schema.GroupResource]*crd.Definition{},
		stored: map[controller.Key]*unstructured.Unstructured{}, cached: map[controller.Key]*unstructured.Unstructured{},
		held: map[schema.GroupResource]bool{}, broken: map[schema.GroupResource]bool{},
		changed: make(chan struct{}), followers: map[*follower]bool{}, made: map[controller.Key]*unstructured.Unstructured{},
	}
	o.Serve(builtIn(gvr.Namespaces, "Namespace", false))
	o.Serve(builtIn(gvr.Definitions, "CustomResourceDefinition", false))
	o.Serve(builtIn(gvr.Migrations, "StorageVersionMigration", false))
	o.Serve(builtIn(gvr.Modules, "WasmModule", false))
	o.Serve(builtIn(gvr.Trusts, "ModuleTrust", false))
	o.Serve(builtIn(gvr.Priorities, "VersionPriority", false))
	o.Serve(builtIn(gvr.ValidatingWebhooks, "ValidatingWebhookConfiguration", false))
	o.Serve(builtIn(gvr.MutatingWebhooks, "MutatingWebhookConfiguration", false))
	o.Serve(builtIn(gvr.Events, "Event", true))
	o.Serve(builtIn(gvr.Secrets, "Secret", true))
	o.Serve(builtIn(ConfigMaps, "ConfigMap", true))
	o.Serve(builtIn(Leases, "Lease", true))
	o.Serve(builtIn(gvr.Pods, "Pod", true))
	for _, r := range more {
		o.Serve(r)
	}
	return o
}

// ConfigMaps and Leases are namespaced built-ins that are always served.
var (
	ConfigMaps = schema.GroupResource{Resource: "configmaps"}
	Leases     = schema.GroupResource{Group: "coordination.k8s.io", Resource: "leases"}
)

// Serve serves one more kind.
func (o *Objects) Serve(d *crd.Definition) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.served[d.GroupResource()] = d
}

// Unserve serves a kind no longer; its objects stay stored.
func (o *Objects) Unserve(gr schema.GroupResource) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.served, gr)
}

// Hold lets the cache fall behind on a kind until Fresh.
func (o *Objects) Hold(gr schema.GroupResource) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.held[gr] = true
}

// HoldAll is Hold of every kind.
func (o *Objects) HoldAll() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for gr := range o.served {
		o.held[gr] = true
	}
}

// Wake lets the followers look at an object, as a resync does, whether or not
// reads see its last change.
func (o *Objects) Wake(key controller.Key) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for f := range o.followers {
		if f.gr == key.GroupResource {
			f.push(key)
		}
	}
}

// Break lets every read of whole objects of a kind fail, as a broken converter
// does; metadata can still be read.
func (o *Objects) Break(gr schema.GroupResource) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.broken[gr] = true
}

// Fail lets fn decide about the failure of every "create", "update",
// "update/SUBRESOURCE", "delete" and "list". fn is called without a lock held.
func (o *Objects) Fail(fn func(op string, key controller.Key) error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.fail = fn
}

// Writes is the number of committed writes.
func (o *Objects) Writes() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.writes
}

// Changed returns a channel that is closed with the next change that reads see.
func (o *Objects) Changed() <-chan struct{} {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.changed
}

func (o *Objects) failure(op string, key controller.Key) error {
	o.mu.Lock()
	fn := o.fail
	o.mu.Unlock()
	if fn == nil {
		return nil
	}
	return fn(op, key)
}

// Get reads an object from the cache.
func (o *Objects) Get(_ context.Context, gr schema.GroupResource, namespace, name string) (*unstructured.Unstructured, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	obj, ok := o.cached[controller.Key{GroupResource: gr, Namespace: namespace, Name: name}]
	switch {
	case !ok:
		return nil, apierrors.NewNotFound(gr, name)
	case o.broken[gr]:
		return nil, apierrors.NewInternalError(fmt.Errorf("conversion of %s failed", name))
	}
	return obj.DeepCopy(), nil
}

// GetMetadata reads the metadata of an object from the cache.
func (o *Objects) GetMetadata(_ context.Context, gr schema.GroupResource, namespace, name string) (*metav1.PartialObjectMetadata, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	obj, ok := o.cached[controller.Key{GroupResource: gr, Namespace: namespace, Name: name}]
	if !ok {
		return nil, apierrors.NewNotFound(gr, name)
	}
	m, err := metadata(obj)
	return &m, err
}

// List reads the objects of a kind from the cache.
func (o *Objects) List(_ context.Context, gr schema.GroupResource, namespace string) ([]*unstructured.Unstructured, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if _, ok := o.served[gr]; !ok {
		return nil, apierrors.NewNotFound(gr, "")
	}
	if o.broken[gr] {
		return nil, apierrors.NewInternalError(fmt.Errorf("conversion of %s failed", gr))
	}
	var all []*unstructured.Unstructured
	for key, obj := range o.cached {
		if key.GroupResource == gr && (namespace == "" || key.Namespace == namespace) {
			all = append(all, obj.DeepCopy())
		}
	}
	slices.SortFunc(all, func(a, b *unstructured.Unstructured) int { return compareNames(a, b) })
	return all, nil
}

// Visit calls fn for the objects of a kind in the cache, by name, until it fails.
func (o *Objects) Visit(ctx context.Context, gr schema.GroupResource, namespace string, fn func(name string, revision int64, read func() (*unstructured.Unstructured, error)) error) error {
	all, err := o.List(ctx, gr, namespace)
	for _, obj := range all {
		revision, _ := strconv.ParseInt(obj.GetResourceVersion(), 10, 64) // it is one of commitLocked
		if err = fn(obj.GetName(), revision, func() (*unstructured.Unstructured, error) { return obj, nil }); err != nil {
			break
		}
	}
	return err
}

// ListMetadata reads the metadata of the objects of a kind from the cache.
func (o *Objects) ListMetadata(_ context.Context, gr schema.GroupResource, namespace string) ([]metav1.PartialObjectMetadata, error) {
	if err := o.failure("list", controller.Key{GroupResource: gr, Namespace: namespace}); err != nil {
		return nil, err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if _, ok := o.served[gr]; !ok {
		return nil, apierrors.NewNotFound(gr, "")
	}
	return metadataOf(o.cached, gr, namespace)
}

// metadataOf reads the metadata of the objects of a kind.
func metadataOf(objects map[controller.Key]*unstructured.Unstructured, gr schema.GroupResource, namespace string) ([]metav1.PartialObjectMetadata, error) {
	var all []metav1.PartialObjectMetadata
	for key, obj := range objects {
		if key.GroupResource != gr || namespace != "" && key.Namespace != namespace {
			continue
		}
		m, err := metadata(obj)
		if err != nil {
			return nil, err
		}
		all = append(all, m)
	}
	return all, nil
}

func metadata(obj *unstructured.Unstructured) (m metav1.PartialObjectMetadata, err error) {
	tree := map[string]any{"metadata": obj.Object["metadata"]}
	return m, runtime.DefaultUnstructuredConverter.FromUnstructured(tree, &m)
}

// Served returns the definitions that are served.
func (o *Objects) Served() []*crd.Definition {
	o.mu.Lock()
	defer o.mu.Unlock()
	var all []*crd.Definition
	for _, r := range o.served {
		all = append(all, r)
	}
	return all
}

// Fresh lets the cache catch up.
func (o *Objects) Fresh(ctx context.Context) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, key := range o.pending {
		o.publishLocked(key)
	}
	o.pending = nil
	return ctx.Err()
}

func (o *Objects) commitLocked(key controller.Key, obj *unstructured.Unstructured) {
	o.revision++
	o.writes++
	if obj == nil {
		delete(o.stored, key)
	} else {
		obj.SetResourceVersion(strconv.FormatInt(o.revision, 10))
		o.stored[key] = obj
	}
	if o.held[key.GroupResource] {
		o.pending = append(o.pending, key)
		return
	}
	o.publishLocked(key)
}

func (o *Objects) publishLocked(key controller.Key) {
	if obj, ok := o.stored[key]; ok {
		o.cached[key] = obj
	} else {
		delete(o.cached, key)
	}
	close(o.changed)
	o.changed = make(chan struct{})
	for f := range o.followers {
		if f.gr == key.GroupResource {
			f.push(key)
		}
	}
}

func compareNames(a, b *unstructured.Unstructured) int {
	return slices.Compare([]string{a.GetNamespace(), a.GetName()}, []string{b.GetNamespace(), b.GetName()})
}
