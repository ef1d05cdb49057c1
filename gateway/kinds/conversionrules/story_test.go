package conversionrules

import (
	"context"
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/wasmgate/wasmgate/conversion/proof"
	"github.com/wasmgate/wasmgate/conversion/rules"
	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/gateway/kinds/module"
	"github.com/wasmgate/wasmgate/gateway/kinds/module/lossless"
)

// slow proves everything, and something may happen to the leader while it does.
type slow struct{ *controllertest.Seat }

func (s slow) Prove(ctx context.Context, _ string, _ *unstructured.Unstructured, _ []string, _ proof.Branches) (proof.Report, error) {
	return proof.Report{Verdict: proof.Lossless, Tried: 7}, s.Meet(ctx, func() error { return nil })
}

// Rules come to say that they convert, and what they lose, whatever happens to who finds
// that out.
func TestWhatRulesLoseIsSaidWhateverHappens(t *testing.T) {
	controllertest.Story{
		World: func(t *testing.T) *controllertest.Objects {
			o := controllertest.New(&crd.Definition{Group: gvr.Rules.Group, Plural: gvr.Rules.Resource, Kind: "ConversionRules", StorageVersion: "v1", KeyPrefix: gvr.Rules.Resource})
			controllertest.MustCreate(t, o, gvr.Definitions, tree(t, definition))
			controllertest.MustCreate(t, o, gvr.Rules, tree(t, rulesObject+specOf(`"Report"`, "")[1:]))
			controllertest.MustChange(t, o, gvr.Rules, "", "", "ks", func(obj *unstructured.Unstructured) {
				obj.Object["spec"] = tree(t, rulesObject+specOf(`"Report"`, `,{"keep":{"field":"zone"}}`)[1:])["spec"]
			})
			return o
		},
		Lead: func(s *controllertest.Seat) []controller.Controller {
			c := newController(s)
			c.prover = func(*rules.Rules) lossless.Proofs { return slow{s} }
			return []controller.Controller{c}
		},
		Main: controller.Key{GroupResource: gvr.Rules, Name: "ks"},
		Outcome: func(t *testing.T, o *controllertest.Objects) string {
			obj := controllertest.MustGet(t, o, gvr.Rules, "", "ks")
			converts, why, _ := controllertest.Condition(obj, ready)
			loses, reason, message := controllertest.Condition(obj, module.Lossless)
			return fmt.Sprintf("%s %s, %s %s: %s", converts, why, loses, reason, message)
		},
		Want: "True Compiled, True NothingLost: customresourcedefinitions/ks.example.com: 7 objects came back as they were",
	}.Tell(t)
}
