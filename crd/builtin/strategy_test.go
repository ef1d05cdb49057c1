package builtin

import (
	"context"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/wasmgate/wasmgate/crd/crdtest"
)

// As kube-apiserver has it.
func TestWhatAnUpdateMayDo_UPD02(t *testing.T) {
	for kind, want := range map[string]struct{ unconditional, create bool }{
		"configmap": {true, false}, "secret": {true, false}, "serviceaccount": {true, false}, "namespace": {true, false},
		"event": {true, true}, "lease": {false, true}, "service": {true, true}, "runtimeclass": {false, true}, "endpointslice": {true, false}, "podtemplate": {true, false},
	} {
		d := definitions(t)[kind]
		if d.ConditionalUpdate == want.unconditional || d.CreateOnUpdate != want.create {
			t.Errorf("%s: only with a resourceVersion %t, create %t", kind, d.ConditionalUpdate, d.CreateOnUpdate)
		}
	}
}

// Whatever is handed to a strategy, it answers.
func TestStrategiesSurviveOddObjects(t *testing.T) {
	ctx := context.Background()
	for kind, d := range definitions(t) {
		if !d.Versions[0].Native() {
			continue
		}
		good := &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": "a"}}}
		for _, obj := range []*unstructured.Unstructured{{}, {Object: map[string]any{"metadata": "x"}}} {
			s := d.Versions[0].Strategy
			s.Prepare(ctx, obj, nil)
			question := slices.Equal(d.Verbs, []string{"create"}) // may be about nothing
			if errs := s.Validate(ctx, obj, nil).Errors; len(errs) == 0 && !question {
				t.Errorf("%s: %#v is valid", kind, obj)
			}
			s.Prepare(ctx, obj, good)
			s.Prepare(ctx, good, obj)
			s.Canonicalize(obj)
			if errs := s.Validate(ctx, obj, good).Errors; len(errs) == 0 {
				t.Errorf("%s: %#v is a valid update", kind, obj)
			}
			s.Validate(ctx, good, obj)
		}
	}
}

func TestNamespacePhases_RES04(t *testing.T) {
	d := definitions(t)["namespace"]
	const deleting = `,"deletionTimestamp":"2020-01-01T00:00:00Z"`
	for _, c := range []struct{ meta, phase, want string }{
		{"", "Active", ""},
		{deleting, "Terminating", ""},
		{"", "Terminating", "may only be 'Active' if `deletionTimestamp` is empty"},
		{deleting, "Active", "may only be 'Terminating' if `deletionTimestamp` is not empty"},
	} {
		ns := crdtest.Shaped(t, d, `{"metadata":{"name":"a","uid":"u","resourceVersion":"7"`+c.meta+`},"status":{"phase":"`+c.phase+`"}}`)
		errs := d.Versions[0].Subresources["status"].Update.Validate(context.Background(), ns, ns.DeepCopy()).Errors
		got := ""
		if len(errs) > 0 {
			got = errs.ToAggregate().Error()
		}
		if (got == "") != (c.want == "") || !strings.HasSuffix(got, c.want) {
			t.Errorf("%q %s: %s", c.meta, c.phase, got)
		}
	}
}

func TestShapeOfWhatAConverterMade(t *testing.T) {
	s := definitions(t)["configmap"].Versions[0].Shape
	obj := crdtest.Parse(t, []byte(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","labels":{}},"data":{"a":"b"},"unknown":1}`))
	if err := s.FromConversion(obj); err != nil {
		t.Fatal(err)
	}
	meta, _ := obj["metadata"].(map[string]any)
	if _, there := obj["unknown"]; there || obj["kind"] != "ConfigMap" || meta["name"] != "a" || meta["labels"] != nil {
		t.Errorf("got %v", obj)
	}
	if s.Canonical(obj) {
		t.Error("an object is said to be settled that the codec did not see")
	}
	if err := s.FromMerge(crdtest.Parse(t, []byte(`{"data":5}`))); err == nil {
		t.Error("data of a wrong type is merged")
	}
	if err := s.FromConversion(crdtest.Parse(t, []byte(`{"data":5}`))); err == nil {
		t.Error("data of a wrong type is accepted")
	}
}

// Of rules that there was no time for it is told that there was not.
func TestRulesThatThereWasNoTimeFor(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	obj := &unstructured.Unstructured{Object: map[string]any{
		"metadata": map[string]any{"name": "a", "namespace": "a"}, "spec": map[string]any{"replicas": int64(1)},
	}}
	s := definitions(t)["deployment"].Versions[0].Strategy
	before := s.Validate(ctx, obj, nil)
	cancel()
	if v := s.Validate(ctx, obj, nil); before.Unfinished != 0 || v.Unfinished != 1 || len(v.Errors) < 1 {
		t.Errorf("%d with time, %d without of %v", before.Unfinished, v.Unfinished, v.Errors)
	}
}
