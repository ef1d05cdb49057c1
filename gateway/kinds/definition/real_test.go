package definition_test

import (
	"context"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	definitions "github.com/wasmgate/wasmgate/crd/definition"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest/realengine"
	"github.com/wasmgate/wasmgate/gateway/kinds/definition"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
)

// The whole life of a definition on the real engine: established, served,
// emptied, gone; and again under the same name.
func TestDefinitionOnTheRealEngine_DEL02(t *testing.T) {
	e := realengine.Start(t)
	controllertest.Start(t, e,
		definition.NewStatus(e, definitions.Conditions),
		definition.NewFinalizer(e, e, e.Stored()))
	controllertest.MustCreate(t, e, gvr.Namespaces, controllertest.NamespaceTree("work"))
	for range 2 {
		controllertest.MustCreate(t, e, gvr.Definitions, controllertest.CRDTree("crontabs", "CronTab", "v1beta1", "v1"))
		controllertest.Eventually(t, e, "served", func() bool {
			r, v := e.Catalog.Snapshot().Find("example.com", "v1", "crontabs")
			return r != nil && v != nil
		})
		controllertest.MustCreate(t, e, controllertest.CronTabs, controllertest.ObjectTree("work", "free"))
		controllertest.MustCreate(t, e, controllertest.CronTabs, controllertest.ObjectTree("work", "held", "example.com/hold"))
		controllertest.DeleteDefinition(t, e)
		controllertest.Eventually(t, e, "waiting for the finalizer", func() bool {
			obj, err := e.Get(context.Background(), gvr.Definitions, "", controllertest.CronTabsDefinition)
			if err != nil {
				return false
			}
			_, reason, _ := controllertest.Condition(obj, "Terminating")
			return reason == "InstanceDeletionCheck" && controllertest.Gone(e, controllertest.CronTabs, "work", "free")
		})
		_, err := e.Create(context.Background(), controllertest.CronTabs, &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "example.com/v1", "kind": "CronTab", "metadata": map[string]any{"namespace": "work", "name": "late"},
		}})
		if err == nil {
			t.Error("created while the definition goes")
		}
		controllertest.RemoveFinalizer(t, e, controllertest.CronTabs, "work", "held", "example.com/hold")
		controllertest.Eventually(t, e, "definition gone", func() bool {
			return controllertest.Gone(e, gvr.Definitions, "", controllertest.CronTabsDefinition)
		})
		if left, err := e.Stored().ListMetadata(context.Background(), controllertest.CronTabs, ""); err != nil || len(left) != 0 {
			t.Errorf("%d instances left, %v", len(left), err)
		}
	}
}

// A definition named like a built-in kind is established, serves nothing of its
// own, and takes no object along when it goes; kube-apiserver does the same.
func TestDefinitionNamedLikeABuiltInKind(t *testing.T) {
	e := realengine.Start(t)
	controllertest.Start(t, e,
		definition.NewStatus(e, definitions.Conditions),
		definition.NewFinalizer(e, e, e.Stored()))
	controllertest.MustCreate(t, e, gvr.Namespaces, controllertest.NamespaceTree("work"))
	controllertest.MustCreate(t, e, controllertest.Leases, controllertest.ObjectTree("work", "leader"))
	name := controllertest.Leases.String()
	tree := controllertest.CRDTree("leases", "Lease", "v1")
	tree["metadata"] = map[string]any{"name": name, "annotations": map[string]any{"api-approved.kubernetes.io": "unapproved, a test"}}
	tree["spec"].(map[string]any)["group"] = controllertest.Leases.Group
	controllertest.MustCreate(t, e, gvr.Definitions, tree)
	controllertest.Eventually(t, e, "established", func() bool {
		obj, err := e.Get(context.Background(), gvr.Definitions, "", name)
		if err != nil {
			return false
		}
		status, _, _ := controllertest.Condition(obj, "Established")
		return status == "True"
	})
	if err := e.Delete(context.Background(), gvr.Definitions, "", name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	controllertest.Eventually(t, e, "definition gone", func() bool { return controllertest.Gone(e, gvr.Definitions, "", name) })
	if controllertest.MustGet(t, e, controllertest.Leases, "work", "leader").GetDeletionTimestamp() != nil {
		t.Error("the lease went with the definition")
	}
}
