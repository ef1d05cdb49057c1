package write

import (
	"reflect"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/gateway/resource"
)

// Plugins see the options of a request as its client would have sent them, and once made
// they stay.
func TestOptionsThatPluginsSee(t *testing.T) {
	kind := func(name string) metav1.TypeMeta { return metav1.TypeMeta{APIVersion: "meta.k8s.io/v1", Kind: name} }
	six, background := int64(6), metav1.DeletePropagationBackground
	asked := &metav1.DeleteOptions{GracePeriodSeconds: &six, PropagationPolicy: &background, DryRun: []string{"odd"}}
	for _, dry := range []bool{false, true} {
		var all []string
		if dry {
			all = []string{"All"}
		}
		for name, c := range map[string]struct {
			operation admission.Operation
			source    source
			want      runtime.Object
		}{
			"create":             {admission.Create, nil, &metav1.CreateOptions{TypeMeta: kind("CreateOptions"), DryRun: all, FieldManager: "m", FieldValidation: "Strict"}},
			"update":             {admission.Update, nil, &metav1.UpdateOptions{TypeMeta: kind("UpdateOptions"), DryRun: all, FieldManager: "m", FieldValidation: "Strict"}},
			"connect":            {admission.Connect, nil, nil},
			"delete":             {admission.Delete, deleting{options: asked}, &metav1.DeleteOptions{TypeMeta: kind("DeleteOptions"), DryRun: all, GracePeriodSeconds: &six, PropagationPolicy: &background}},
			"delete, for others": {admission.Delete, nil, &metav1.DeleteOptions{TypeMeta: kind("DeleteOptions"), DryRun: all}},
		} {
			w := &Write{source: c.source}
			w.operation, w.Options.DryRun, w.Options.FieldValidation, w.Options.Caller.FieldManager = c.operation, dry, "Strict", "m"
			got := attributes{w}.GetOperationOptions()
			if !reflect.DeepEqual(got, c.want) || (attributes{w}).IsDryRun() != dry {
				t.Errorf("%s, dry %t: %+v, want %+v", name, dry, got, c.want)
			}
			if again := (attributes{w}).GetOperationOptions(); again != got {
				t.Errorf("%s: they are made twice", name)
			}
		}
	}
	if asked.DryRun[0] != "odd" || asked.Kind != "" {
		t.Errorf("what the client sent is changed: %+v", asked)
	}
}

// The verb of a write is that of its request.
func TestVerbsOfWrites(t *testing.T) {
	for _, c := range []struct {
		operation admission.Operation
		source    source
		put       bool
		want      string
	}{
		{admission.Create, nil, false, "create"}, {admission.Create, nil, true, "update"}, {admission.Update, nil, true, "update"}, {admission.Update, nil, false, "update"},
		{admission.Update, &patching{}, false, "patch"}, {admission.Update, &applying{}, false, "patch"}, {admission.Create, &applying{}, false, "patch"}, {admission.Create, &patching{}, false, "patch"},
		{admission.Delete, deleting{}, false, ""}, {admission.Connect, nil, false, ""}, {admission.Delete, &patching{}, false, ""},
	} {
		w := &Write{source: c.source}
		w.operation, w.put = c.operation, c.put
		if got := (attributes{w}).GetVerb(); got != c.want {
			t.Errorf("%s of %T, put %t: %q, want %q", c.operation, c.source, c.put, got, c.want)
		}
	}
}

// waits add up what is waited for.
type waits time.Duration

func (w *waits) Waited(d time.Duration) { *w += waits(d) }

// Who asked is told how long others took and what is noteworthy, if that is wanted.
func TestWhatAWriteIsToldOf(t *testing.T) {
	w := &Write{}
	a := attributes{w}
	a.Waited(time.Second)
	a.Annotate("a.b/c", "d")
	if any, bodies := a.Annotates(); any || bodies {
		t.Errorf("annotations are wanted: %t, of bodies %t", any, bodies)
	}
	var waited waits
	notes := map[string]string{}
	w.Options = resource.WriteOptions{Waiting: &waited, Annotate: func(key, value string) { notes[key] = value }}
	a.Waited(time.Second)
	a.Waited(time.Minute)
	a.Annotate("a.b/c", "d")
	if time.Duration(waited) != time.Minute+time.Second || notes["a.b/c"] != "d" {
		t.Errorf("waited %v, noted %v", time.Duration(waited), notes)
	}
	if any, bodies := a.Annotates(); !any || bodies {
		t.Errorf("annotations are wanted: %t, of bodies %t", any, bodies)
	}
	w.Options.AnnotatesBodies = true
	if any, bodies := a.Annotates(); !any || !bodies {
		t.Errorf("annotations are wanted: %t, of bodies %t", any, bodies)
	}
}

// The name of a request is that of its path; the object's is what it says itself once it is
// created, and that of one of a collection that is deleted is not told.
func TestNamesOfWrites(t *testing.T) {
	for _, c := range []struct {
		operation   admission.Operation
		source      source
		subresource string
		want        string
	}{
		{admission.Create, nil, "", "made"}, {admission.Create, nil, "binding", "path"}, {admission.Update, nil, "", "path"},
		{admission.Delete, deleting{}, "", "path"}, {admission.Delete, deleting{ofCollection: true}, "", ""},
	} {
		w := &Write{source: c.source}
		w.operation, w.Subresource, w.Name = c.operation, c.subresource, "path"
		w.object = &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": "made"}}}
		if a := (attributes{w}); a.GetName() != c.want || a.GetRequestName() != "path" {
			t.Errorf("%s of %T %s: %q, asked for %q, want %q", c.operation, c.source, c.subresource, a.GetName(), a.GetRequestName(), c.want)
		}
		if got := (attributes{w}).GetObject(); (got == nil) != (c.operation == admission.Delete) {
			t.Errorf("%s: the object is %v", c.operation, got)
		}
	}
}
