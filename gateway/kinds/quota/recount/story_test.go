package recount_test

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/gateway/kinds/quota/recount"
)

// What a quota says is used is what there is, whatever happens to who counts.
func TestCountWhateverHappens_ADM04(t *testing.T) {
	controllertest.Story{
		World: func(t *testing.T) *controllertest.Objects {
			o := controllertest.New(&crd.Definition{Plural: gvr.Quotas.Resource, Kind: "ResourceQuota", Namespaced: true, StorageVersion: "v1", KeyPrefix: gvr.Quotas.Resource})
			controllertest.MustCreate(t, o, gvr.Namespaces, controllertest.NamespaceTree("work"))
			for _, name := range []string{"a", "b"} {
				controllertest.MustCreate(t, o, controllertest.ConfigMaps, controllertest.ObjectTree("work", name))
			}
			for name, hard := range map[string]string{"q": "5", "low": "1"} {
				controllertest.MustCreate(t, o, gvr.Quotas, map[string]any{"metadata": map[string]any{"name": name, "namespace": "work"},
					"spec": map[string]any{"hard": map[string]any{"configmaps": hard}}})
			}
			return o
		},
		Lead: func(s *controllertest.Seat) []controller.Controller { return []controller.Controller{recount.New(s)} },
		Main: controller.Key{GroupResource: gvr.Quotas, Namespace: "work", Name: "q"},
		Outcome: func(t *testing.T, o *controllertest.Objects) string {
			var all []string
			for _, name := range []string{"q", "low"} {
				obj := controllertest.MustGet(t, o, gvr.Quotas, "work", name)
				used, _, _ := unstructured.NestedString(obj.Object, "status", "used", "configmaps")
				hard, _, _ := unstructured.NestedString(obj.Object, "status", "hard", "configmaps")
				all = append(all, used+" of "+hard)
			}
			return fmt.Sprint(all)
		},
		Want: "[2 of 5 2 of 1]",
	}.Tell(t)
}

// What cannot be counted now is counted again, as it is told to be a failure.
func TestAFailureToCountIsTold_ADM04(t *testing.T) {
	o := controllertest.New(&crd.Definition{Plural: gvr.Quotas.Resource, Kind: "ResourceQuota", Namespaced: true, StorageVersion: "v1", KeyPrefix: gvr.Quotas.Resource})
	controllertest.MustCreate(t, o, gvr.Namespaces, controllertest.NamespaceTree("work"))
	controllertest.MustCreate(t, o, gvr.Quotas, map[string]any{"metadata": map[string]any{"name": "q", "namespace": "work"},
		"spec": map[string]any{"hard": map[string]any{"configmaps": "5"}}})
	o.Break(controllertest.ConfigMaps)
	err := recount.New(o).Reconcile(t.Context(), nil, controller.Key{GroupResource: gvr.Quotas, Namespace: "work", Name: "q"})
	if err == nil || !strings.Contains(err.Error(), "configmaps") {
		t.Errorf("it says %v", err)
	}
}
