package policy

import (
	"fmt"
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
)

// What is wrong with a policy is said of the policy that there is.
func TestStatusOfAPolicyWhateverHappens_CEL20(t *testing.T) {
	key := controller.Key{GroupResource: gvr.ValidatingPolicies, Name: "p"}
	var checks []string // the uids of what was looked at
	controllertest.Story{
		World: func(t *testing.T) *controllertest.Objects {
			checks = nil
			o := controllertest.New(&crd.Definition{Group: key.Group, Plural: key.Resource, Kind: "ValidatingAdmissionPolicy", StorageVersion: "v1", KeyPrefix: key.Resource})
			controllertest.MustCreate(t, o, key.GroupResource, map[string]any{"metadata": map[string]any{"name": "p"},
				"spec": map[string]any{"validations": []any{map[string]any{"expression": "x"}}}})
			return o
		},
		Lead: func(s *controllertest.Seat) []controller.Controller {
			return []controller.Controller{New(s, func(p *admissionv1.ValidatingAdmissionPolicy) ([]admissionv1.ExpressionWarning, error) {
				checks = append(checks, string(p.UID))
				return []admissionv1.ExpressionWarning{{FieldRef: "f", Warning: "about " + string(p.UID)}}, nil
			})}
		},
		Main: key,
		Outcome: func(t *testing.T, o *controllertest.Objects) string {
			obj := controllertest.MustGet(t, o, key.GroupResource, "", "p")
			warnings, _, _ := unstructured.NestedSlice(obj.Object, "status", "typeChecking", "expressionWarnings")
			observed, _, _ := unstructured.NestedInt64(obj.Object, "status", "observedGeneration")
			if len(warnings) != 1 {
				return fmt.Sprint(warnings)
			}
			return fmt.Sprintf("of generation %d, about it %t", observed, warnings[0].(map[string]any)["warning"] == "about "+string(obj.GetUID()))
		},
		Want: "of generation 1, about it true",
	}.Tell(t)
}
