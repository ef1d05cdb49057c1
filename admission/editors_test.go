package admission_test

import (
	"context"
	"errors"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/admission/admissiontest"
	"github.com/wasmgate/wasmgate/admission/order"
)

// editor sets a field of each object to what the one before it left there and its own
// text, or fails.
type editor struct {
	named
	adds string
	err  error
	idle bool // it edits no object of the kind
}

func (e editor) Edits(admission.Operation, schema.GroupResource, string) bool { return !e.idle }

func (e editor) Edit(_ context.Context, _ admission.Attributes, tree map[string]any) (bool, error) {
	if e.adds == "" || e.err != nil {
		return false, e.err
	}
	was, _ := tree["said"].(string)
	tree["said"] = was + e.adds
	return true, nil
}

// Those that follow each other see what those before them did, and all of it takes the
// place of the object at once; or nothing does when one refuses, or none does anything.
func TestEditorsChangeAnObjectTogether(t *testing.T) {
	refusal := errors.New("not this one")
	for name, test := range map[string]struct {
		first, second editor
		want          any
		replaced      int
		err           error
	}{
		"both":               {editor{adds: "a"}, editor{adds: "b"}, "ab", 1, nil},
		"the first":          {editor{adds: "a"}, editor{}, "a", 1, nil},
		"the last":           {editor{}, editor{adds: "b"}, "b", 1, nil},
		"the last, alone":    {editor{adds: "a", idle: true}, editor{adds: "b"}, "b", 1, nil},
		"none":               {editor{}, editor{}, nil, 0, nil},
		"refused":            {editor{err: refusal}, editor{adds: "b"}, nil, 0, refusal},
		"refused in the end": {editor{adds: "a"}, editor{err: refusal}, nil, 0, refusal},
	} {
		test.first.name, test.second.name = order.DeviceAdmin, order.ServiceAllocation
		objects := &admissiontest.Objects{After: admissiontest.Tree(t, `{"metadata":{"name":"x"}}`)}
		a := &admissiontest.Attributes{Objects: objects, Operation: admission.Create, Resource: schema.GroupVersionResource{Version: "v1", Resource: "tabs"}}
		chain := admissiontest.Chain(t, test.first, test.second)
		if len(chain.Mutators) != 1 {
			t.Fatalf("they are %d", len(chain.Mutators))
		}
		err := chain.Mutators[0].Mutate(t.Context(), a)
		if !errors.Is(err, test.err) || objects.After["said"] != test.want || objects.Replaced != test.replaced {
			t.Errorf("%s: %v, %v after %d changes", name, err, objects.After["said"], objects.Replaced)
		}
	}
}

// What cannot be had at the version of the request is not edited, nor what is deleted.
func TestWhatIsNotEdited(t *testing.T) {
	e := editor{named: named{name: order.DeviceAdmin}, adds: "a"}
	m := admissiontest.Chain(t, e).Mutators[0]
	objects := &admissiontest.Objects{After: admissiontest.Tree(t, `{"metadata":{"name":"x"}}`)}
	a := &admissiontest.Attributes{Objects: objects, Operation: admission.Create, Resource: schema.GroupVersionResource{Version: "broken", Resource: "tabs"}}
	if err := m.Mutate(t.Context(), a); err == nil || objects.Replaced != 0 {
		t.Errorf("%v after %d changes", err, objects.Replaced)
	}
	if a.Operation = admission.Delete; m.Mutate(t.Context(), a) != nil || objects.Replaced != 0 {
		t.Errorf("a deletion: %d changes", objects.Replaced)
	}
}
