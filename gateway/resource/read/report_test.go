package read_test

import (
	"context"
	"slices"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/gateway/resource"
	"github.com/wasmgate/wasmgate/gateway/resource/read"
	"github.com/wasmgate/wasmgate/gateway/view/encoding"
)

// reporting is a reader of ConfigMaps that are found out when they are asked for.
func (w *world) reporting(odd bool) *read.Reader {
	of := func(name string) map[string]any {
		tree := map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": name, "labels": map[string]any{"is": name}}}
		if odd {
			tree["data"] = make(chan int)
		}
		return tree
	}
	return read.New(w.store, w.Catalog(), map[schema.GroupResource]resource.Report{{Resource: "configmaps"}: func(_ context.Context, name string) (all []map[string]any) {
		for _, n := range []string{"a", "b", "c"} {
			if name == "" || name == n {
				all = append(all, of(n))
			}
		}
		return all
	}}, false)
}

// What is reported is got and listed like what is stored, and has no revision.
func TestReportsAreRead(t *testing.T) {
	w := newWorld(t)
	r := w.reporting(false)
	w.create(w.builtin("configmaps", "default", ""), configMap("stored", "v"))
	target := w.builtin("configmaps", "", "b")
	o, err := r.Get(w.ctx(), target, "", encoding.At("v1"))
	if want := `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"labels":{"is":"b"},"name":"b"}}`; err != nil || string(o.Bytes()) != want {
		t.Errorf("it is %s, %v", o.Bytes(), err)
	}
	target.Name = "d"
	_, err = r.Get(w.ctx(), target, "", encoding.At("v1"))
	refused(t, err, 404, "NotFound", `configmap "d" not found`)
	if err := r.Exists(w.ctx(), target); !apierrors.IsNotFound(err) {
		t.Errorf("what is not there is: %v", err)
	}
	if err := r.Exists(w.ctx(), w.builtin("configmaps", "", "c")); err != nil {
		t.Errorf("what is there is not: %v", err)
	}
	target.Name = ""
	byName := internalversion.ListOptions{FieldSelector: fields.OneTermEqualSelector("metadata.name", "c")}
	for name, c := range map[string]struct {
		o    internalversion.ListOptions
		want []string
	}{
		"all": {internalversion.ListOptions{}, []string{"a", "b", "c"}}, "by labels": {byLabels(t, "is!=b"), []string{"a", "c"}}, "by name": {byName, []string{"c"}},
	} {
		l, err := r.List(w.ctx(), target, &c.o)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		all, err := bytesOf(w.ctx(), target.Resource, l.Entries, encoding.At("v1"))
		if err != nil {
			t.Fatal(err)
		}
		for _, data := range all {
			got = append(got, w.parse(data).GetName())
		}
		if !slices.Equal(got, c.want) || l.Revision != 0 || l.Continue != "" {
			t.Errorf("%s: %q at %d", name, got, l.Revision)
		}
	}
	bad := internalversion.ListOptions{FieldSelector: fields.OneTermEqualSelector("spec.none", "c")}
	if _, err := r.List(w.ctx(), target, &bad); !apierrors.IsBadRequest(err) {
		t.Errorf("by a field that there is not: %v", err)
	}
}

// What cannot be written is told, and not passed over.
func TestReportsThatCannotBeWritten(t *testing.T) {
	w := newWorld(t)
	r := w.reporting(true)
	if _, err := r.List(w.ctx(), w.builtin("configmaps", "", ""), &internalversion.ListOptions{}); !apierrors.IsInternalError(err) {
		t.Errorf("listed: %v", err)
	}
	if err := r.Exists(w.ctx(), w.builtin("configmaps", "", "a")); !apierrors.IsInternalError(err) {
		t.Errorf("asked for: %v", err)
	}
}

// A reader can wait for all that was written, and for definitions to be served.
func TestReadersAwaitWhatWasWritten(t *testing.T) {
	w := newWorld(t)
	release := w.store.holdUp()
	made := w.create(w.builtin("configmaps", "default", ""), configMap("late", "v"))
	target := w.builtin("configmaps", "default", "late")
	if _, err := w.State(w.ctx(), target, false); !apierrors.IsNotFound(err) {
		t.Errorf("the cache is ahead: %v", err)
	}
	e, err := w.State(w.ctx(), target, true)
	if err != nil || made.GetResourceVersion() == "" {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(w.ctx())
	cancel()
	for name, wait := range map[string]func(context.Context) error{
		"a revision":  func(ctx context.Context) error { return w.Await(ctx, e.Revision) },
		"definitions": w.AllInForce,
	} {
		if err := wait(ctx); !apierrors.IsTimeout(err) {
			t.Errorf("%s, by who is gone: %v", name, err)
		}
	}
	release()
	if err := w.Await(w.ctx(), e.Revision); err != nil {
		t.Error(err)
	}
	if err := w.AllInForce(w.ctx()); err != nil {
		t.Error(err)
	}
	if got, err := w.State(w.ctx(), target, false); err != nil || got.Revision != e.Revision {
		t.Errorf("the cache has %v, %v", got, err)
	}
}
