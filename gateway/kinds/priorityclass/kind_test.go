package priorityclass_test

import (
	"fmt"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/wasmgate/wasmgate/crd/builtin/builtintest"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/gateway/kinds/priorityclass"
)

// The classes of the system are made where they are missing, as often as it is asked
// for, and nobody deletes them; others go.
func TestClassesOfTheSystemAreThereAndStay(t *testing.T) {
	o := controllertest.New(builtintest.Definitions(t)["priorityclass"])
	for range 2 {
		if err := priorityclass.Ensure(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	for name, value := range map[string]int64{"system-node-critical": 2000001000, "system-cluster-critical": 2000000000} {
		class, err := o.Get(t.Context(), gvr.PriorityClasses, "", name)
		if err != nil {
			t.Fatal(err)
		}
		if class.Object["value"] != value || class.Object["description"] == nil {
			t.Errorf("%s: %v", name, class.Object)
		}
		hooks := builtintest.Definitions(t)["priorityclass"].Hooks
		if err := hooks.BeforeDelete(t.Context(), nil, class.Object); !apierrors.IsForbidden(err) {
			t.Errorf("%s is deleted: %v", name, err)
		}
		if err := hooks.BeforeDelete(t.Context(), nil, map[string]any{"metadata": map[string]any{"name": "others"}}); err != nil {
			t.Error(err)
		}
	}
	other := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": map[string]any{"name": "system-node-critical"}, "value": int64(1)}}
	o = controllertest.New(builtintest.Definitions(t)["priorityclass"])
	if _, err := o.Create(t.Context(), gvr.PriorityClasses, other); err != nil {
		t.Fatal(err)
	}
	if err := priorityclass.Ensure(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	if class, err := o.Get(t.Context(), gvr.PriorityClasses, "", "system-node-critical"); err != nil || class.Object["value"] != int64(1) {
		t.Errorf("what was there: %v, %v", class, err)
	}
}

// Whatever call fails is told, and the next try does what was left.
func TestClassesOfTheSystemAreMadeInTheEnd(t *testing.T) {
	controllertest.EachCallFails(t, 4, func() controllertest.Engine { return controllertest.New(builtintest.Definitions(t)["priorityclass"]) },
		func(f *controllertest.Failing) error { return priorityclass.Ensure(t.Context(), f) },
		func(f *controllertest.Failing) error {
			all, err := f.Engine.List(t.Context(), gvr.PriorityClasses, "")
			if err == nil && len(all) != 2 {
				err = fmt.Errorf("%d classes", len(all))
			}
			return err
		})
}
