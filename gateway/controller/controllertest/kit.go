package controllertest

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/gateway/controller/content"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
)

// World is an engine to check, and what its store holds of custom resources.
// CronTabs are defined, established and served, and there is a namespace
// called work.
type World struct {
	Engine
	Stored content.Objects
	Feed   func(gr schema.GroupResource) (Feeding, error)
}

// RunEngine checks, as subtests of t, what controllers rely on. start makes a
// new world for each check.
func RunEngine(t *testing.T, start func(t *testing.T) World) {
	for _, check := range []struct {
		name string
		run  func(t *testing.T, w World)
	}{
		{"what is created has an identity", created},
		{"what cannot be created", notCreated},
		{"reads are copies, by namespace", reads},
		{"a kind that is not served is NotFound", unknownKind},
		{"an update needs the current resourceVersion", updates},
		{"status and the rest are written apart", subresources},
		{"an update that changes nothing writes nothing", noChange},
		{"deletion and its preconditions", deletes},
		{"DEL-02 DEL-03 finalizers hold an object until the last is gone", finalizers},
		{"RES-05 a namespace goes with its own finalizer", namespaces},
		{"a definition is held by the cleanup finalizer", definitions},
		{"what is served is known, and what is built in", served},
		{"a follower hears of what exists and of every change", follows},
		{"reads after Fresh see everything that was committed", fresh},
		{"what is stored is known without being served", storedObjects},
		{"metadata is changed as it was meant", metadataUpdates},
		{"DEL-05 finalizers say what becomes of dependents", propagates},
		{"owners are told from the cache or the store", owns},
		{"a feed tells what exists and what changed", feeds},
	} {
		t.Run(check.name, func(t *testing.T) { check.run(t, start(t)) })
	}
}

// now reads an object as it was committed.
func now(t *testing.T, w World, gr schema.GroupResource, namespace, name string) *unstructured.Unstructured {
	t.Helper()
	catchUp(t, w)
	return MustGet(t, w, gr, namespace, name)
}

// gone tells whether an object is not committed.
func gone(t *testing.T, w World, gr schema.GroupResource, namespace, name string) bool {
	t.Helper()
	catchUp(t, w)
	return Gone(w, gr, namespace, name)
}

func catchUp(t *testing.T, w World) {
	t.Helper()
	if err := w.Fresh(context.Background()); err != nil {
		t.Fatal(err)
	}
}

func created(t *testing.T, w World) {
	a := MustCreate(t, w, CronTabs, ObjectTree("work", "a"))
	b := MustCreate(t, w, CronTabs, ObjectTree("work", "b"))
	if a.GetUID() == "" || a.GetUID() == b.GetUID() || a.GetResourceVersion() == "" || a.GetResourceVersion() == b.GetResourceVersion() ||
		a.GetGeneration() != 1 || a.GetCreationTimestamp() == (metav1.Time{}) {
		t.Errorf("created %v and %v", a.Object, b.Object)
	}
	if got := now(t, w, CronTabs, "work", "a"); got.GetUID() != a.GetUID() || got.GetResourceVersion() != a.GetResourceVersion() {
		t.Errorf("read %v", got.Object)
	}
}

func notCreated(t *testing.T, w World) {
	catchUp(t, w)
	MustCreate(t, w, CronTabs, ObjectTree("work", "a", "example.com/hold"))
	create := func(gr schema.GroupResource, namespace, name string) error {
		_, err := w.Create(context.Background(), gr, &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "example.com/v1", "kind": "CronTab", "metadata": map[string]any{"namespace": namespace, "name": name},
		}})
		return err
	}
	if err := create(CronTabs, "work", "a"); !apierrors.IsAlreadyExists(err) {
		t.Errorf("twice: %v", err)
	}
	if err := create(CronTabs, "nowhere", "a"); !apierrors.IsNotFound(err) {
		t.Errorf("in no namespace: %v", err)
	}
	remove(t, w, gvr.Namespaces, "", "work")
	if err := create(CronTabs, "work", "b"); !apierrors.IsForbidden(err) {
		t.Errorf("in a namespace that goes: %v", err)
	}
}

func reads(t *testing.T, w World) {
	MustCreate(t, w, gvr.Namespaces, NamespaceTree("other"))
	for _, at := range [][2]string{{"work", "b"}, {"other", "c"}, {"work", "a"}} {
		MustCreate(t, w, CronTabs, ObjectTree(at[0], at[1], "example.com/hold"))
	}
	catchUp(t, w)
	for namespace, want := range map[string][]string{"": {"other/c", "work/a", "work/b"}, "work": {"work/a", "work/b"}, "none": nil} {
		all, err := w.List(context.Background(), CronTabs, namespace)
		metadata, metaErr := w.ListMetadata(context.Background(), CronTabs, namespace)
		if err != nil || metaErr != nil {
			t.Fatal(err, metaErr)
		}
		var got, gotMeta []string
		for _, o := range all {
			got = append(got, o.GetNamespace()+"/"+o.GetName())
		}
		for _, m := range metadata {
			gotMeta = append(gotMeta, m.Namespace+"/"+m.Name)
			if m.UID == "" || !slices.Equal(m.Finalizers, []string{"example.com/hold"}) {
				t.Errorf("metadata %+v", m)
			}
		}
		slices.Sort(gotMeta)
		if !slices.Equal(got, want) || !slices.Equal(gotMeta, want) {
			t.Errorf("in %q: %v and %v, want %v", namespace, got, gotMeta, want)
		}
	}
	now(t, w, CronTabs, "work", "a").SetLabels(map[string]string{"mine": "x"})
	if l := now(t, w, CronTabs, "work", "a").GetLabels(); len(l) != 0 {
		t.Errorf("a reader's change is seen by others: %v", l)
	}
	if !gone(t, w, CronTabs, "work", "c") {
		t.Error("found in another namespace")
	}
}

func unknownKind(t *testing.T, w World) {
	gr := schema.GroupResource{Group: "example.com", Resource: "nothings"}
	_, listErr := w.List(context.Background(), gr, "")
	_, metaErr := w.ListMetadata(context.Background(), gr, "")
	_, getErr := w.Get(context.Background(), gr, "", "a")
	_, createErr := w.Create(context.Background(), gr, &unstructured.Unstructured{Object: ObjectTree("", "a")})
	deleteErr := w.Delete(context.Background(), gr, "", "a", metav1.DeleteOptions{})
	for _, err := range []error{listErr, metaErr, getErr, createErr, deleteErr} {
		if !apierrors.IsNotFound(err) {
			t.Errorf("%v", err)
		}
	}
}

func updates(t *testing.T, w World) {
	old := MustCreate(t, w, CronTabs, ObjectTree("work", "a"))
	next := old.DeepCopy()
	next.SetLabels(map[string]string{"n": "1"})
	next, err := w.Update(context.Background(), CronTabs, "", next)
	if err != nil || next.GetResourceVersion() == old.GetResourceVersion() || next.GetLabels()["n"] != "1" {
		t.Fatalf("%v, %v", next, err)
	}
	if _, err := w.Update(context.Background(), CronTabs, "", old); !apierrors.IsConflict(err) {
		t.Errorf("from an old state: %v", err)
	}
	twin := next.DeepCopy()
	twin.SetUID("another")
	if _, err := w.Update(context.Background(), CronTabs, "", twin); err == nil {
		t.Error("an object of another uid was written")
	}
	next.SetName("none")
	if _, err := w.Update(context.Background(), CronTabs, "", next); !apierrors.IsNotFound(err) {
		t.Errorf("an object that is not there: %v", err)
	}
}

func subresources(t *testing.T, w World) {
	get := func() *unstructured.Unstructured { return now(t, w, gvr.Definitions, "", CronTabsDefinition) }
	generation := get().GetGeneration()
	MustChange(t, w, gvr.Definitions, "status", "", CronTabsDefinition, func(o *unstructured.Unstructured) {
		o.Object["status"].(map[string]any)["storedVersions"] = []any{"v1beta1", "v1"}
		o.Object["spec"].(map[string]any)["names"].(map[string]any)["singular"] = "other"
	})
	o := get()
	versions, _, _ := unstructured.NestedStringSlice(o.Object, "status", "storedVersions")
	singular, _, _ := unstructured.NestedString(o.Object, "spec", "names", "singular")
	if len(versions) != 2 || singular != "crontabs" || o.GetGeneration() != generation {
		t.Errorf("after a write of the status: %v %s, generation %d", versions, singular, o.GetGeneration())
	}
	MustChange(t, w, gvr.Definitions, "", "", CronTabsDefinition, func(o *unstructured.Unstructured) {
		o.Object["status"].(map[string]any)["conditions"] = []any{}
		o.SetAnnotations(map[string]string{"a": "b"})
	})
	if o = get(); o.GetGeneration() != generation || o.GetAnnotations()["a"] != "b" {
		t.Errorf("after a write of metadata: generation %d, %v", o.GetGeneration(), o.GetAnnotations())
	}
	if status, _, _ := Condition(o, "Established"); status != "True" {
		t.Error("a write of the object changed its status")
	}
	MustChange(t, w, gvr.Definitions, "", "", CronTabsDefinition, func(o *unstructured.Unstructured) {
		o.Object["spec"].(map[string]any)["names"].(map[string]any)["shortNames"] = []any{"ct"}
	})
	if o = get(); o.GetGeneration() != generation+1 {
		t.Errorf("after a write of the spec: generation %d, was %d", o.GetGeneration(), generation)
	}
}

func noChange(t *testing.T, w World) {
	before := now(t, w, gvr.Definitions, "", CronTabsDefinition)
	for _, subresource := range []string{"", "status"} {
		after, err := w.Update(context.Background(), gvr.Definitions, subresource, before.DeepCopy())
		if err != nil || after.GetResourceVersion() != before.GetResourceVersion() {
			t.Errorf("%q: %v", subresource, err)
		}
	}
}

// remove deletes an object that is there.
func remove(t *testing.T, w World, gr schema.GroupResource, namespace, name string) {
	t.Helper()
	if err := w.Delete(context.Background(), gr, namespace, name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	catchUp(t, w)
}

func deletes(t *testing.T, w World) {
	a := MustCreate(t, w, CronTabs, ObjectTree("work", "a"))
	with := func(uid types.UID) error {
		return w.Delete(context.Background(), CronTabs, "work", "a", metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}})
	}
	if err := with("another"); !apierrors.IsConflict(err) {
		t.Errorf("another object's uid: %v", err)
	}
	if err := with(a.GetUID()); err != nil {
		t.Error(err)
	}
	if err := with(a.GetUID()); !apierrors.IsNotFound(err) {
		t.Errorf("twice: %v", err)
	}
	if !gone(t, w, CronTabs, "work", "a") {
		t.Error("still there")
	}
}

func finalizers(t *testing.T, w World) {
	MustCreate(t, w, CronTabs, ObjectTree("work", "a", "example.com/one", "example.com/two"))
	remove(t, w, CronTabs, "work", "a")
	marked := now(t, w, CronTabs, "work", "a")
	if marked.GetDeletionTimestamp() == nil {
		t.Fatal("not marked")
	}
	remove(t, w, CronTabs, "work", "a") // again is no error
	RemoveFinalizer(t, w, CronTabs, "work", "a", "example.com/one")
	if gone(t, w, CronTabs, "work", "a") {
		t.Fatal("gone with a finalizer left")
	}
	RemoveFinalizer(t, w, CronTabs, "work", "a", "example.com/two")
	if !gone(t, w, CronTabs, "work", "a") {
		t.Error("not gone without finalizers")
	}
}

func namespaces(t *testing.T, w World) {
	remove(t, w, gvr.Namespaces, "", "work")
	ns := now(t, w, gvr.Namespaces, "", "work")
	held, _, _ := unstructured.NestedStringSlice(ns.Object, "spec", "finalizers")
	if ns.GetDeletionTimestamp() == nil || !slices.Equal(held, []string{"kubernetes"}) {
		t.Fatalf("%v", ns.Object)
	}
	ns.Object["spec"] = map[string]any{"finalizers": []any{}}
	if _, err := w.Update(context.Background(), gvr.Namespaces, "finalize", ns); err != nil {
		t.Fatal(err)
	}
	if !gone(t, w, gvr.Namespaces, "", "work") {
		t.Error("not gone without finalizers")
	}
}

func definitions(t *testing.T, w World) {
	remove(t, w, gvr.Definitions, "", CronTabsDefinition)
	if f := now(t, w, gvr.Definitions, "", CronTabsDefinition).GetFinalizers(); !slices.Equal(f, []string{crdCleanup}) {
		t.Errorf("finalizers %v", f)
	}
	RemoveFinalizer(t, w, gvr.Definitions, "", CronTabsDefinition, crdCleanup)
	if !gone(t, w, gvr.Definitions, "", CronTabsDefinition) {
		t.Error("not gone without finalizers")
	}
	// A write of the status takes finalizers, too, as kube-apiserver's.
	MustCreate(t, w, gvr.Definitions, CRDTree("crontabs", "CronTab", "v1"))
	remove(t, w, gvr.Definitions, "", CronTabsDefinition)
	MustChange(t, w, gvr.Definitions, "status", "", CronTabsDefinition, func(o *unstructured.Unstructured) { o.SetFinalizers(nil) })
	if !gone(t, w, gvr.Definitions, "", CronTabsDefinition) {
		t.Error("not gone with a status without finalizers")
	}
}

func served(t *testing.T, w World) {
	find := func(gr schema.GroupResource) *crd.Definition {
		all := w.Served()
		i := slices.IndexFunc(all, func(d *crd.Definition) bool { return d.GroupResource() == gr })
		if i < 0 {
			t.Fatalf("%s is not served", gr)
		}
		return all[i]
	}
	for gr, want := range map[schema.GroupResource]crd.Definition{
		gvr.Namespaces:  {KeyPrefix: "namespaces"},
		gvr.Definitions: {KeyPrefix: "apiextensions.k8s.io/customresourcedefinitions"},
		gvr.Modules:     {KeyPrefix: "wasmgate.dev/wasmmodules"},
		gvr.Trusts:      {KeyPrefix: "wasmgate.dev/moduletrusts"},
		gvr.Migrations:  {KeyPrefix: "storageversionmigrations"},
		ConfigMaps:      {KeyPrefix: "configmaps", Namespaced: true},
		Leases:          {KeyPrefix: "leases", Namespaced: true},
		CronTabs:        {KeyPrefix: "example.com/crontabs", Namespaced: true, UID: "one"},
	} {
		d := find(gr)
		if d.KeyPrefix != want.KeyPrefix || d.Namespaced != want.Namespaced || (d.UID == "") != (want.UID == "") || d.StorageVersion == "" || d.Kind == "" {
			t.Errorf("%s is served as %s, namespaced %v, uid %q", gr, d.KeyPrefix, d.Namespaced, d.UID)
		}
	}
}

func follows(t *testing.T, w World) {
	MustCreate(t, w, CronTabs, ObjectTree("work", "before"))
	ctx, cancel := context.WithCancel(context.Background())
	var mu sync.Mutex
	heard := map[string]int{}
	ended := make(chan error, 1)
	go func() {
		ended <- w.Follow(ctx, CronTabs, func(namespace, name string) {
			mu.Lock()
			defer mu.Unlock()
			heard[namespace+"/"+name]++
		})
	}()
	hears := func(name string, times int) {
		t.Helper()
		Eventually(t, w, "the follower heard of "+name, func() bool {
			mu.Lock()
			defer mu.Unlock()
			return heard[name] >= times
		})
	}
	hears("work/before", 1)
	MustCreate(t, w, CronTabs, ObjectTree("work", "after"))
	hears("work/after", 1)
	MustChange(t, w, CronTabs, "", "work", "after", func(o *unstructured.Unstructured) { o.SetLabels(map[string]string{"a": "b"}) })
	hears("work/after", 2)
	remove(t, w, CronTabs, "work", "after")
	hears("work/after", 3)
	MustCreate(t, w, ConfigMaps, ObjectTree("work", "elsewhere"))
	cancel()
	select {
	case err := <-ended:
		if err != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("the follower ended with %v", err)
		}
	case <-time.After(patience):
		t.Fatal("the follower outlives its context")
	}
	if heard["work/elsewhere"] != 0 {
		t.Error("it heard of another kind")
	}
}

func fresh(t *testing.T, w World) {
	const n = 20
	for i := range n {
		MustCreate(t, w, ConfigMaps, ObjectTree("work", string(rune('a'+i))))
		if err := w.Fresh(context.Background()); err != nil {
			t.Fatal(err)
		}
		if all, err := w.ListMetadata(context.Background(), ConfigMaps, "work"); err != nil || len(all) != i+1 {
			t.Fatalf("%d of %d, %v", len(all), i+1, err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := w.Fresh(ctx); err == nil {
		t.Error("fresh without waiting")
	}
}

func storedObjects(t *testing.T, w World) {
	a := MustCreate(t, w, CronTabs, ObjectTree("work", "a", "example.com/hold"))
	MustCreate(t, w, CronTabs, ObjectTree("work", "b"))
	MustCreate(t, w, Leases, ObjectTree("work", "built-in"))
	if items, err := w.Stored.ListMetadata(context.Background(), Leases, ""); err != nil || len(items) != 0 {
		t.Errorf("a built-in kind is stored as a custom one: %v, %v", items, err)
	}
	list := func() (names []string) {
		items, err := w.Stored.ListMetadata(context.Background(), CronTabs, "work")
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range items {
			names = append(names, m.Name)
		}
		slices.Sort(names)
		return names
	}
	if got := list(); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("stored %v", got)
	}
	uid := a.GetUID()
	for _, name := range []string{"a", "b"} {
		if err := w.Stored.Delete(context.Background(), CronTabs, "work", name, metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
	}
	if err := w.Stored.Delete(context.Background(), CronTabs, "work", "b", metav1.DeleteOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("twice: %v", err)
	}
	catchUp(t, w)
	if got := list(); !slices.Equal(got, []string{"a"}) {
		t.Errorf("stored %v", got)
	}
	if marked := now(t, w, CronTabs, "work", "a"); marked.GetUID() != uid || marked.GetDeletionTimestamp() == nil {
		t.Errorf("not marked: %v", marked.Object)
	}
	RemoveFinalizer(t, w, CronTabs, "work", "a", "example.com/hold")
	if got := list(); len(got) != 0 {
		t.Errorf("stored %v", got)
	}
}
