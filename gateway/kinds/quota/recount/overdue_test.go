package recount

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest/realengine"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
)

// A pod whose node never says that it has ended counts until it should have, and
// then no more, though nobody wrote it.
func TestAnOverduePodCountsNoMore_ADM04(t *testing.T) {
	pods := schema.GroupResource{Resource: "pods"}
	e := realengine.Start(t)
	controllertest.MustCreate(t, e, gvr.Namespaces, controllertest.NamespaceTree("work"))
	controllertest.MustCreate(t, e, gvr.Quotas, map[string]any{
		"apiVersion": "v1", "kind": "ResourceQuota", "metadata": map[string]any{"name": "q", "namespace": "work"},
		"spec": map[string]any{"hard": map[string]any{"pods": "5", "count/pods": "5"}},
	})
	controllertest.MustCreate(t, e, pods, map[string]any{
		"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{"name": "p", "namespace": "work"},
		"spec": map[string]any{"nodeName": "lost", "containers": []any{map[string]any{"name": "c", "image": "i"}}},
	})
	c := New(e)
	counted := func() (used string) {
		t.Helper()
		for _, step := range []error{
			e.Fresh(t.Context()),
			c.Reconcile(t.Context(), silent{}, controller.Key{GroupResource: gvr.Quotas, Namespace: "work", Name: "q"}),
			e.Fresh(t.Context()),
		} {
			if step != nil {
				t.Fatal(step)
			}
		}
		q := controllertest.MustGet(t, e, gvr.Quotas, "work", "q")
		used, _, _ = unstructured.NestedString(q.Object, "status", "used", "pods")
		return used + " of " + q.Object["status"].(map[string]any)["used"].(map[string]any)["count/pods"].(string)
	}
	if got := counted(); got != "1 of 1" {
		t.Fatalf("used %s", got)
	}
	grace := int64(1)
	if err := e.Delete(t.Context(), pods, "work", "p", metav1.DeleteOptions{GracePeriodSeconds: &grace}); err != nil {
		t.Fatal(err)
	}
	controllertest.Eventually(t, e, "it is overdue", func() bool { return counted() == "0 of 1" })
}
