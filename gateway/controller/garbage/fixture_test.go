package garbage_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rs/zerolog"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/gateway/catalog/catalogtest"
	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest/realengine"
	"github.com/wasmgate/wasmgate/gateway/controller/garbage"
	"github.com/wasmgate/wasmgate/gateway/kinds/definition/leftovers"
	"github.com/wasmgate/wasmgate/gateway/resource"
	"github.com/wasmgate/wasmgate/gateway/resource/engine"
	"github.com/wasmgate/wasmgate/gateway/resource/local"
	"github.com/wasmgate/wasmgate/storage"
)

// patience bounds every wait.
const patience = time.Minute

var (
	maps   = schema.GroupResource{Resource: "configmaps"}
	tabs   = catalogtest.CronTabs
	fleets = schema.GroupResource{Group: "example.com", Resource: "fleets"}
)

// fleet is a definition of a cluster-scoped kind.
var fleet = strings.NewReplacer("crontabs", "fleets", "crontab", "fleet", "CronTab", "Fleet", "uid-crd", "uid-fleet",
	"Namespaced", "Cluster").Replace(catalogtest.CronTab(catalogtest.V1, false))

// world is an engine whose collector can be started.
type world struct {
	*engine.Engine
	local.Client
	t     *testing.T
	store storage.Store
	// stored is what store has of custom resources.
	stored leftovers.Objects
	conv   *catalogtest.Turning

	syncErrors, collected atomic.Int32

	mu   sync.Mutex
	fail func(op string, key controller.Key) error
	// deleted are the collector's deletions, with their policy.
	deleted []string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	e := realengine.Start(t)
	w := &world{t: t, Engine: e.Verbs, Client: local.New(e.Verbs, resource.Component("garbage-collector")), store: e.Store, stored: e.Stored(), conv: e.Converter}
	for _, ns := range []string{"default", "other"} {
		w.put("/registry/namespaces/"+ns, `{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"`+ns+`","uid":"`+ns+`"},"spec":{"finalizers":["kubernetes"]},"status":{"phase":"Active"}}`)
	}
	w.define(catalogtest.CronTab(catalogtest.V1, false))
	return w
}

// background runs fn until the test ends or stop is called.
func (w *world) background(fn func(context.Context)) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); fn(ctx) }()
	stop = func() { cancel(); <-done }
	w.t.Cleanup(stop)
	return stop
}

// collect starts the collector.
func (w *world) collect() (stop func()) { return w.collectWith(w) }

// collectWith starts a collector that sees other objects.
func (w *world) collectWith(o garbage.Objects) (stop func()) {
	return w.background(func(ctx context.Context) {
		controller.Run(ctx, zerolog.Nop(), w.Client, garbage.New(garbage.Options{Objects: o, Source: w, Stored: w.stored, Metrics: w, Log: zerolog.Nop()}))
	})
}

func (w *world) ctx() context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	w.t.Cleanup(cancel)
	return ctx
}

// put writes past all stages.
func (w *world) put(key, text string) {
	w.t.Helper()
	if _, err := w.store.Create(w.ctx(), key, []byte(text), 0); err != nil {
		w.t.Fatal(err)
	}
	if err := w.Client.Fresh(w.ctx()); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) define(text string) {
	w.t.Helper()
	data, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		w.t.Fatal(err)
	}
	var m metav1.PartialObjectMetadata
	if err := yaml.Unmarshal(data, &m); err != nil {
		w.t.Fatal(err)
	}
	w.put("/registry/apiextensions.k8s.io/customresourcedefinitions/"+m.Name, string(data))
	if _, err := w.Client.Kinds(w.ctx()); err != nil {
		w.t.Fatal(err)
	}
}

// undefine removes a definition from one moment to the next.
func (w *world) undefine(name string) {
	w.t.Helper()
	kv, err := w.store.Get(w.ctx(), "/registry/apiextensions.k8s.io/customresourcedefinitions/"+name)
	if err == nil {
		_, err = w.store.Delete(w.ctx(), kv.Key, kv.Revision)
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

// keeps checks that an object still has its owners after everything that there is
// to do was done, and ends the collection.
func (w *world) keeps(m made, owners string, stop func()) {
	w.t.Helper()
	end := w.create(key(tabs, "end"), nil, nil, []made{nobody("ConfigMap")})
	w.becomes(end, "-")
	stop()
	w.is(m, owners)
}

// key names an object: in namespace default, or in none for a fleet.
func key(gr schema.GroupResource, name string) controller.Key {
	k := controller.Key{GroupResource: gr, Namespace: "default", Name: name}
	if gr == fleets {
		k.Namespace = ""
	}
	return k
}

func (w *world) target(k controller.Key) resource.Target {
	w.t.Helper()
	r, v := w.Catalog().Snapshot().Find(k.Group, "v1", k.Resource)
	if r == nil {
		w.t.Fatalf("%s are not served", k.Resource)
	}
	return resource.Target{Resource: r, Version: v, Namespace: k.Namespace, Name: k.Name}
}

// made is an object that exists.
type made struct {
	controller.Key
	ref metav1.OwnerReference
}

// create creates an object with finalizers and references, each by an owner.
// The references that block are in blocks.
func (w *world) create(k controller.Key, finalizers []string, blocks, refers []made) made {
	w.t.Helper()
	body, gvk := w.body(k, finalizers, blocks, refers)
	t := w.target(k)
	t.Name = ""
	out, err := w.Engine.Create(w.ctx(), t, body, resource.WriteOptions{})
	if err != nil {
		w.t.Fatal(err)
	}
	var m metav1.PartialObjectMetadata
	if err := yaml.Unmarshal(out.Object, &m); err != nil {
		w.t.Fatal(err)
	}
	return made{k, metav1.OwnerReference{APIVersion: gvk.GroupVersion().String(), Kind: gvk.Kind, Name: k.Name, UID: m.UID}}
}

// body is an object as it is sent.
func (w *world) body(k controller.Key, finalizers []string, blocks, refers []made) ([]byte, schema.GroupVersionKind) {
	w.t.Helper()
	gvk := w.target(k).Resource.Def.GVK("v1")
	meta := metav1.ObjectMeta{Name: k.Name, Namespace: k.Namespace, Finalizers: finalizers}
	for i, o := range slices.Concat(blocks, refers) {
		ref := o.ref
		block := i < len(blocks)
		ref.BlockOwnerDeletion = &block
		meta.OwnerReferences = append(meta.OwnerReferences, ref)
	}
	body, err := json.Marshal(map[string]any{"apiVersion": gvk.GroupVersion().String(), "kind": gvk.Kind, "metadata": meta})
	if err != nil {
		w.t.Fatal(err)
	}
	return body, gvk
}

// delete deletes like a client does.
func (w *world) delete(m made, policy metav1.DeletionPropagation) {
	w.t.Helper()
	err := w.Client.Delete(w.ctx(), m.GroupResource, m.Namespace, m.Name, metav1.DeleteOptions{PropagationPolicy: &policy})
	if err != nil {
		w.t.Fatal(err)
	}
}

// loosen takes a finalizer away like a client does.
func (w *world) loosen(m made, finalizer string) {
	w.t.Helper()
	err := w.Client.UpdateMetadata(w.ctx(), m.GroupResource, m.Namespace, m.Name, metav1.Preconditions{}, func(o metav1.Object) {
		o.SetFinalizers(slices.DeleteFunc(o.GetFinalizers(), func(f string) bool { return f == finalizer }))
	})
	if err != nil {
		w.t.Fatal(err)
	}
}

// state tells what is left of an object: "-" for nothing, else the names of its
// owners, in brackets those that it blocks, "deleting" and its finalizers.
func (w *world) state(m made) string {
	w.t.Helper()
	if err := w.Client.Fresh(w.ctx()); err != nil {
		w.t.Fatal(err)
	}
	found, err := w.Client.Ownership(w.ctx(), m.GroupResource, m.Namespace, m.Name, false)
	if apierrors.IsNotFound(err) {
		return "-"
	}
	if err != nil {
		w.t.Fatal(err)
	}
	var words []string
	for _, r := range found.OwnerReferences {
		if r.BlockOwnerDeletion != nil && *r.BlockOwnerDeletion {
			r.Name = "[" + r.Name + "]"
		}
		words = append(words, r.Name)
	}
	if found.DeletionTimestamp != nil {
		words = append(words, "deleting")
	}
	return strings.Join(append(words, found.Finalizers...), " ")
}

// becomes waits until an object is in a state.
func (w *world) becomes(m made, want string) {
	w.t.Helper()
	w.eventually(fmt.Sprintf("%s becomes %q", m.Name, want), func() bool { return w.state(m) == want })
}

// is tells what has to be so already.
func (w *world) is(m made, want string) {
	w.t.Helper()
	if got := w.state(m); got != want {
		w.t.Errorf("%s is %q, want %q", m.Name, got, want)
	}
}

func (w *world) eventually(what string, ok func() bool) {
	w.t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(patience); !ok(); <-tick.C {
		if time.Now().After(end) {
			w.t.Fatalf("%s: not within %s", what, patience)
		}
	}
}

// failing lets fn decide about the failure of the collector's calls.
func (w *world) failing(fn func(op string, key controller.Key) error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.fail = fn
}

// failingAtFirst lets so many of the collector's calls fail, of those that are not
// about an owner unless they ask the store itself. before is called before the first
// of them that succeeds, and no other succeeds meanwhile. It returns how many calls
// there were.
func (w *world) failingAtFirst(op string, failures int32, before func()) *atomic.Int32 {
	var calls atomic.Int32
	var first sync.Once
	w.failing(func(o string, k controller.Key) error {
		if o != op || k.Name == "owner" && op != "live" {
			return nil
		}
		if calls.Add(1) <= failures {
			return errors.New("no luck")
		}
		first.Do(before)
		return nil
	})
	return &calls
}

func (w *world) failure(op string, gr schema.GroupResource, namespace, name string) error {
	w.mu.Lock()
	fn := w.fail
	w.mu.Unlock()
	if fn == nil {
		return nil
	}
	return fn(op, controller.Key{GroupResource: gr, Namespace: namespace, Name: name})
}

// What follows is what the collector sees.

func (w *world) Ownership(ctx context.Context, gr schema.GroupResource, namespace, name string, live bool) (*metav1.ObjectMeta, error) {
	op := "look"
	if live {
		op = "live"
	}
	if err := w.failure(op, gr, namespace, name); err != nil {
		return nil, err
	}
	return w.Client.Ownership(ctx, gr, namespace, name, live)
}

func (w *world) Create(ctx context.Context, gr schema.GroupResource, obj *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	if err := w.failure("create", gr, obj.GetNamespace(), obj.GetName()); err != nil {
		return nil, err
	}
	return w.Client.Create(ctx, gr, obj)
}

func (w *world) Feed(gr schema.GroupResource) (garbage.Feed, error) {
	if err := w.failure("feed", gr, "", ""); err != nil {
		return nil, err
	}
	return w.Client.Feed(gr)
}

func (w *world) GarbageSyncError() { w.syncErrors.Add(1) }
func (w *world) GarbageCollected() { w.collected.Add(1) }

func (w *world) UpdateMetadata(ctx context.Context, gr schema.GroupResource, namespace, name string, p metav1.Preconditions, change func(metav1.Object)) error {
	if err := w.failure("update", gr, namespace, name); err != nil {
		return err
	}
	return w.Client.UpdateMetadata(ctx, gr, namespace, name, p, change)
}

func (w *world) Delete(ctx context.Context, gr schema.GroupResource, namespace, name string, o metav1.DeleteOptions) error {
	if err := w.failure("delete", gr, namespace, name); err != nil {
		return err
	}
	policy := "as it is"
	if o.PropagationPolicy != nil {
		policy = string(*o.PropagationPolicy)
	}
	err := w.Client.Delete(ctx, gr, namespace, name, o)
	if err == nil {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.deleted = append(w.deleted, name+" "+policy)
	}
	return err
}

func (w *world) Fresh(ctx context.Context) error {
	if err := w.failure("fresh", schema.GroupResource{}, "", ""); err != nil {
		return err
	}
	return w.Client.Fresh(ctx)
}

func (w *world) Kinds(ctx context.Context) ([]*crd.Definition, error) {
	if err := w.failure("kinds", schema.GroupResource{}, "", ""); err != nil {
		return nil, err
	}
	return w.Client.Kinds(ctx)
}

// deletes tells whether the collector asked for these deletions, sorted, and no others.
// That something is gone is seen before the collector knows that its call succeeded.
func (w *world) deletes(want string) {
	w.t.Helper()
	deletions := func() []string {
		w.mu.Lock()
		defer w.mu.Unlock()
		return slices.Sorted(slices.Values(w.deleted))
	}
	w.eventually("the collector knows of its deletions", func() bool { return len(deletions()) > strings.Count(want, ", ") })
	if got := strings.Join(deletions(), ", "); got != want {
		w.t.Errorf("it deleted %s, want %s", got, want)
	}
}
