package serviceaccount_test

import (
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/gateway/kinds/serviceaccount"
)

// Every namespace comes to its account.
func TestDefaultAccountsWhateverHappens_RBAC(t *testing.T) {
	accounts := schema.GroupResource{Resource: "serviceaccounts"}
	controllertest.Story{
		World: func(t *testing.T) *controllertest.Objects {
			o := controllertest.New(&crd.Definition{Plural: "serviceaccounts", Kind: "ServiceAccount", StorageVersion: "v1", KeyPrefix: "serviceaccounts", Namespaced: true})
			controllertest.MustCreate(t, o, gvr.Namespaces, controllertest.NamespaceTree("work"))
			controllertest.MustCreate(t, o, gvr.Namespaces, controllertest.NamespaceTree("other"))
			return o
		},
		Lead: func(s *controllertest.Seat) []controller.Controller {
			return []controller.Controller{serviceaccount.NewDefaults(s)}
		},
		Main: controller.Key{GroupResource: gvr.Namespaces, Name: "work"},
		Outcome: func(t *testing.T, o *controllertest.Objects) string {
			all, err := o.List(t.Context(), accounts, "")
			if err != nil {
				t.Error(err)
			}
			var names []string
			for _, a := range all {
				names = append(names, a.GetNamespace()+"/"+a.GetName())
			}
			return fmt.Sprint(names)
		},
		Want: "[other/default work/default]",
	}.Tell(t)
}
