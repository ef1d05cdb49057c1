package definition_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	definitions "github.com/wasmgate/wasmgate/crd/definition"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest"
	"github.com/wasmgate/wasmgate/gateway/kinds/definition"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
)

// TestCRDStatus_establishes runs the controller with the real conditions, on a
// definition with the schema fields that are hard to read: numbers, raw JSON,
// and values that are one of two types.
func TestCRDStatus_establishes(t *testing.T) {
	o := controllertest.New()
	controllertest.Start(t, o, definition.NewStatus(o, definitions.Conditions))
	tree := controllertest.CRDTree("crontabs", "CronTab", "v1")
	version := tree["spec"].(map[string]any)["versions"].([]any)[0].(map[string]any)
	version["schema"] = map[string]any{"openAPIV3Schema": map[string]any{
		"type": "object",
		"properties": map[string]any{"spec": map[string]any{
			"type": "object", "additionalProperties": map[string]any{
				"type": "integer", "minimum": int64(1), "maximum": 9.5, "default": int64(5), "enum": []any{int64(1), int64(5)},
			},
		}},
	}}
	controllertest.MustCreate(t, o, gvr.Definitions, tree)
	controllertest.Eventually(t, o, "established", func() bool {
		status, _, _ := controllertest.Condition(controllertest.MustGet(t, o, gvr.Definitions, "", controllertest.CronTabsDefinition), "Established")
		return status == "True"
	})
	crd := controllertest.MustGet(t, o, gvr.Definitions, "", controllertest.CronTabsDefinition)
	if kind, _, _ := unstructured.NestedString(crd.Object, "status", "acceptedNames", "kind"); kind != "CronTab" {
		t.Errorf("accepted kind %q", kind)
	}
	if w := o.Writes(); w != 2 {
		t.Errorf("%d writes from create to established", w)
	}
	controllertest.MustCreate(t, o, gvr.Definitions, controllertest.CRDTree("others", "CronTab", "v1"))
	controllertest.Eventually(t, o, "second refused", func() bool {
		return accepted(t, o, "others.example.com") == "False"
	})
	controllertest.DeleteDefinition(t, o)
	controllertest.RemoveFinalizer(t, o, gvr.Definitions, "", controllertest.CronTabsDefinition, definitions.CleanupFinalizer)
	controllertest.Eventually(t, o, "second established", func() bool {
		status, _, _ := controllertest.Condition(controllertest.MustGet(t, o, gvr.Definitions, "", "others.example.com"), "Established")
		return status == "True"
	})
}
