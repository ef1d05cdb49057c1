package apiservice

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
)

// asked is a queue that remembers what was asked for.
type asked struct{ keys []controller.Key }

func (a *asked) Add(key controller.Key)                   { a.keys = append(a.keys, key) }
func (*asked) AddAfter(controller.Key, time.Duration)     {}
func (*asked) Follow(controller.Key, ...controller.Scope) {}
func (a *asked) names() (out []string) {
	for _, k := range a.keys {
		out = append(out, k.Name)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// world are objects with APIServices.
func world() *controllertest.Objects {
	return controllertest.New(&crd.Definition{Group: gvr.APIServices.Group, Plural: "apiservices", Kind: "APIService", StorageVersion: "v1", KeyPrefix: "apiservices"})
}

// service makes an APIService; label "" is somebody's own.
func service(t *testing.T, o *controllertest.Objects, name, label string, spec map[string]any) {
	t.Helper()
	metadata := map[string]any{"name": name}
	if label != "" {
		metadata["labels"] = map[string]any{managed: label}
	}
	controllertest.MustCreate(t, o, gvr.APIServices, map[string]any{"metadata": metadata, "spec": spec})
}

// said are all APIServices: name, label, and what matters of the specs.
func said(t *testing.T, o *controllertest.Objects) (out []string) {
	t.Helper()
	all, err := o.List(t.Context(), gvr.APIServices, "")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		spec := gvr.Section(s, "spec")
		out = append(out, fmt.Sprint(s.GetName(), " ", s.GetLabels()[managed], " ", spec["group"], "/", spec["version"], " ", spec["groupPriorityMinimum"], " ", spec["versionPriority"]))
	}
	slices.Sort(out)
	return out
}

func compare(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s:\n%q, want\n%q", what, got, want)
	}
}

// At the start the versions of built-in kinds are registered, what an earlier start
// registered goes, and nothing that others keep is touched.
func TestBuiltInVersionsAreRegisteredAtTheStart(t *testing.T) {
	o := world()
	service(t, o, "v1.gone.example", onStart, map[string]any{"group": "gone.example", "version": "v1"})
	service(t, o, "v1.custom.example", always, map[string]any{"group": "custom.example", "version": "v1"})
	service(t, o, "v1.own.example", "", map[string]any{"group": "own.example", "version": "v1"})
	service(t, o, "v1.batch", "", map[string]any{"group": "batch", "version": "v1", "groupPriorityMinimum": int64(7)})
	service(t, o, "v1.apps", onStart, map[string]any{"group": "apps", "version": "v1", "groupPriorityMinimum": int64(1)})
	versions := []schema.GroupVersion{{Group: "apps", Version: "v1"}, {Group: "batch", Version: "v1"}, {Version: "v1"}}
	for range 2 {
		if err := Start(t.Context(), o, versions); err != nil {
			t.Fatal(err)
		}
		compare(t, "after a start", said(t, o),
			"v1. onstart <nil>/v1 18000 1", "v1.apps onstart apps/v1 17800 15", "v1.batch  batch/v1 7 <nil>",
			"v1.custom.example true custom.example/v1 <nil> <nil>", "v1.own.example  own.example/v1 <nil> <nil>")
		before := o.Writes()
		if err := Start(t.Context(), o, versions); err != nil || o.Writes() != before {
			t.Errorf("a start that has nothing to do writes %d times: %v", o.Writes()-before, err)
		}
	}
}

// The versions that definitions serve are registered, those that they do not are not, and
// what an operator registered stays.
func TestVersionsOfDefinitionsAreRegistered(t *testing.T) {
	o := world()
	r := NewRegistration(o)
	controllertest.MustCreate(t, o, gvr.Definitions, controllertest.CRDTree("others", "Other", "v1", "v3"))
	tree := controllertest.CRDTree("crontabs", "CronTab", "v1", "v2", "v3")
	for _, v := range tree["spec"].(map[string]any)["versions"].([]any)[1:] {
		v.(map[string]any)["served"] = false
	}
	controllertest.MustCreate(t, o, gvr.Definitions, tree)
	another := controllertest.CRDTree("crontabs", "CronTab", "v7")
	another["metadata"] = map[string]any{"name": "crontabs.another.com"}
	controllertest.MustCreate(t, o, gvr.Definitions, another)
	service(t, o, "v8.example.com", always, map[string]any{"group": "example.com", "version": "v8"})
	service(t, o, "v9.example.com", "", map[string]any{"group": "example.com", "version": "v9"})
	service(t, o, "v9.another.com", always, map[string]any{"group": "another.com", "version": "v9"})
	service(t, o, "v6.example.com", onStart, map[string]any{"group": "example.com", "version": "v6"})
	q := &asked{}
	if err := r.Reconcile(t.Context(), q, controller.Key{GroupResource: gvr.Definitions, Name: "crontabs.example.com"}); err != nil {
		t.Fatal(err)
	}
	compare(t, "asked for", q.names(), "v1.example.com", "v2.example.com", "v3.example.com", "v8.example.com")
	for _, key := range append(q.keys, controller.Key{GroupResource: gvr.APIServices, Name: "v9.example.com"}, controller.Key{GroupResource: gvr.APIServices, Name: "v5.nobody.com"}) {
		if err := r.Reconcile(t.Context(), q, key); err != nil {
			t.Errorf("%s: %v", key.Name, err)
		}
	}
	compare(t, "there are", said(t, o),
		"v1.example.com true example.com/v1 1000 100", "v3.example.com true example.com/v3 1000 100", "v6.example.com onstart example.com/v6 <nil> <nil>",
		"v9.another.com true another.com/v9 <nil> <nil>", "v9.example.com  example.com/v9 <nil> <nil>")
}

// A definition that is listed and gone by the time that it is read has no versions; the
// others of its group have theirs.
func TestDefinitionsThatGoMeanwhile(t *testing.T) {
	o := world()
	for _, plural := range []string{"as", "bs"} {
		controllertest.MustCreate(t, o, gvr.Definitions, controllertest.CRDTree(plural, "K"+plural, "v"+plural))
	}
	s := &flawed{Objects: o, get: func(gr schema.GroupResource, name string) error {
		if name == "as.example.com" {
			return apierrors.NewNotFound(gr, name)
		}
		return nil
	}}
	served, err := NewRegistration(s).served(t.Context(), "example.com")
	if err != nil || len(served) != 1 || !served["vbs"] {
		t.Errorf("%v, %v", served, err)
	}
}

// flawed are objects some of whose reads and writes fail.
type flawed struct {
	Objects
	get, list, create, update, delete func(gr schema.GroupResource, name string) error
}

func (f *flawed) fails(fn func(schema.GroupResource, string) error, gr schema.GroupResource, name string) error {
	if fn == nil {
		return nil
	}
	return fn(gr, name)
}

func (f *flawed) Get(ctx context.Context, gr schema.GroupResource, namespace, name string) (*unstructured.Unstructured, error) {
	if err := f.fails(f.get, gr, name); err != nil {
		return nil, err
	}
	return f.Objects.Get(ctx, gr, namespace, name)
}

func (f *flawed) ListMetadata(ctx context.Context, gr schema.GroupResource, namespace string) ([]metav1.PartialObjectMetadata, error) {
	if err := f.fails(f.list, gr, ""); err != nil {
		return nil, err
	}
	return f.Objects.ListMetadata(ctx, gr, namespace)
}

func (f *flawed) Create(ctx context.Context, gr schema.GroupResource, obj *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	if err := f.fails(f.create, gr, obj.GetName()); err != nil {
		return nil, err
	}
	return f.Objects.Create(ctx, gr, obj)
}

func (f *flawed) Update(ctx context.Context, gr schema.GroupResource, subresource string, obj *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	if err := f.fails(f.update, gr, obj.GetName()); err != nil {
		return nil, err
	}
	return f.Objects.Update(ctx, gr, subresource, obj)
}

func (f *flawed) Delete(ctx context.Context, gr schema.GroupResource, namespace, name string, o metav1.DeleteOptions) error {
	if err := f.fails(f.delete, gr, name); err != nil {
		return err
	}
	return f.Objects.Delete(ctx, gr, namespace, name, o)
}

// Failures are told, but for those that say that another gateway was faster.
func TestFailuresOfRegistrationAreTold(t *testing.T) {
	broken := errors.New("no store")
	say := func(err error, of ...schema.GroupResource) func(schema.GroupResource, string) error {
		return func(gr schema.GroupResource, _ string) error {
			if len(of) > 0 && !slices.Contains(of, gr) {
				return nil
			}
			return err
		}
	}
	conflict, exists, gone := apierrors.NewConflict(gvr.APIServices, "x", broken), apierrors.NewAlreadyExists(gvr.APIServices, "x"), apierrors.NewNotFound(gvr.APIServices, "x")
	for what, c := range map[string]struct {
		flaw flawed
		key  controller.Key
		want bool
	}{
		"the definitions are not listed":     {flawed{list: say(broken, gvr.Definitions)}, crontabs, true},
		"and for an APIService":              {flawed{list: say(broken, gvr.Definitions)}, made, true},
		"the APIServices are not listed":     {flawed{list: say(broken, gvr.APIServices)}, crontabs, true},
		"a definition is not read":           {flawed{get: say(broken, gvr.Definitions)}, made, true},
		"an APIService is not read":          {flawed{get: say(broken, gvr.APIServices)}, made, true},
		"one that is to go is not read":      {flawed{get: say(broken, gvr.APIServices)}, old, true},
		"an APIService is not made":          {flawed{create: say(broken)}, made, true},
		"another gateway made it":            {flawed{create: say(exists)}, made, false},
		"one that differs is not written":    {flawed{update: say(broken)}, differs, true},
		"one that differs went":              {flawed{update: say(gone)}, differs, false},
		"somebody wrote one that differs":    {flawed{update: say(conflict)}, differs, true},
		"one that is to go is not deleted":   {flawed{delete: say(broken)}, old, true},
		"another one has its name":           {flawed{delete: say(conflict)}, old, false},
		"another gateway deleted it already": {flawed{delete: say(gone)}, old, false},
	} {
		t.Run(what, func(t *testing.T) {
			o := world()
			controllertest.MustCreate(t, o, gvr.Definitions, controllertest.CRDTree("crontabs", "CronTab", "v1", "v2"))
			service(t, o, differs.Name, always, map[string]any{"group": "example.com", "version": "v2", "versionPriority": int64(1)})
			service(t, o, old.Name, always, map[string]any{"group": "example.com", "version": "v0"})
			c.flaw.Objects = o
			if err := NewRegistration(&c.flaw).Reconcile(t.Context(), &asked{}, c.key); (err != nil) != c.want {
				t.Errorf("%v", err)
			}
		})
	}
	for what, f := range map[string]flawed{"not made": {create: say(broken)}, "not listed": {list: say(broken)}, "not deleted": {delete: say(broken)}} {
		o := world()
		service(t, o, "v1.gone.example", onStart, map[string]any{"group": "gone.example", "version": "v1"})
		f.Objects = o
		if err := Start(t.Context(), &f, []schema.GroupVersion{{Group: "apps", Version: "v1"}}); !errors.Is(err, broken) {
			t.Errorf("at the start %s: %v", what, err)
		}
	}
	// Two gateways that start at once both write one that differs.
	for most, good := range map[int]bool{1: true, maxStarts - 1: true, maxStarts: false} {
		o, wrote := world(), 0
		service(t, o, "v1.apps", onStart, map[string]any{"group": "apps", "version": "v1", "versionPriority": int64(1)})
		f := flawed{Objects: o, update: func(schema.GroupResource, string) error {
			if wrote++; wrote <= most {
				return conflict
			}
			return nil
		}}
		if err := Start(t.Context(), &f, []schema.GroupVersion{{Group: "apps", Version: "v1"}}); (err == nil) != good {
			t.Errorf("after %d conflicts: %v", most, err)
		}
	}
}

var (
	crontabs = controller.Key{GroupResource: gvr.Definitions, Name: "crontabs.example.com"}
	made     = controller.Key{GroupResource: gvr.APIServices, Name: "v1.example.com"}
	differs  = controller.Key{GroupResource: gvr.APIServices, Name: "v2.example.com"}
	old      = controller.Key{GroupResource: gvr.APIServices, Name: "v0.example.com"}
)
