package controller_test

import (
	"context"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/wasmgate/wasmgate/crd/definitions"
	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest"
)

// TestCRDStatus_establishes runs the controller with the real conditions, on a
// definition with the schema fields that are hard to read: numbers, raw JSON,
// and values that are one of two types.
func TestCRDStatus_establishes(t *testing.T) {
	o := controllertest.New()
	controllertest.Start(t, o, controller.NewCRDStatus(o, definitions.Conditions))
	tree := crdTree("crontabs", "CronTab", "v1")
	version := tree["spec"].(map[string]any)["versions"].([]any)[0].(map[string]any)
	version["schema"] = map[string]any{"openAPIV3Schema": map[string]any{
		"type": "object",
		"properties": map[string]any{"spec": map[string]any{
			"type": "object", "additionalProperties": map[string]any{
				"type": "integer", "minimum": int64(1), "maximum": 9.5, "default": int64(5), "enum": []any{int64(1), int64(5)},
			},
		}},
	}}
	controllertest.MustCreate(t, o, controller.CRDResource, tree)
	controllertest.Eventually(t, o, "established", func() bool {
		status, _, _ := controllertest.Condition(controllertest.MustGet(t, o, controller.CRDResource, "", crontabsCRD), "Established")
		return status == "True"
	})
	crd := controllertest.MustGet(t, o, controller.CRDResource, "", crontabsCRD)
	if kind, _, _ := unstructured.NestedString(crd.Object, "status", "acceptedNames", "kind"); kind != "CronTab" {
		t.Errorf("accepted kind %q", kind)
	}
	if w := o.Writes(); w != 2 {
		t.Errorf("%d writes from create to established", w)
	}
	controllertest.MustCreate(t, o, controller.CRDResource, crdTree("others", "CronTab", "v1"))
	controllertest.Eventually(t, o, "second refused", func() bool {
		return accepted(t, o, "others.example.com") == "False"
	})
	deleteCRD(t, o)
	removeFinalizer(t, o, controller.CRDResource, "", crontabsCRD, definitions.CleanupFinalizer)
	controllertest.Eventually(t, o, "second established", func() bool {
		status, _, _ := controllertest.Condition(controllertest.MustGet(t, o, controller.CRDResource, "", "others.example.com"), "Established")
		return status == "True"
	})
}

// A new storage version alone migrates nothing, and storedVersions keeps what
// it has.
func TestStorageVersionChange_CRD25_CRD30(t *testing.T) {
	o := withCrontabs(t, 0)
	controllertest.MustChange(t, o, controller.CRDResource, "", "", crontabsCRD, func(obj *unstructured.Unstructured) {
		obj.Object["spec"] = crdTree("crontabs", "CronTab", "v1beta1", "v1", "v2")["spec"]
	})
	key := controller.Key{GroupResource: controller.CRDResource, Name: crontabsCRD}
	for _, c := range []controller.Controller{controller.NewCRDStatus(o, definitions.Conditions), controller.NewAutoMigration(o)} {
		if err := c.Reconcile(context.Background(), nil, key); err != nil {
			t.Fatalf("%s: %v", c.Name(), err)
		}
	}
	if got := storedVersions(t, o); !slices.Equal(got, []string{"v1beta1", "v1"}) {
		t.Errorf("storedVersions %v", got)
	}
	if all, err := o.List(context.Background(), controller.MigrationResource, ""); err != nil || len(all) != 0 {
		t.Errorf("%d migrations, %v", len(all), err)
	}
}
