package proofs_test

import (
	"context"
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/wasmgate/wasmgate/conversion/proof"
	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest"
	"github.com/wasmgate/wasmgate/gateway/kinds/definition/proofs"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/gateway/kinds/module"
)

// A definition whose webhook is to be proved comes to say what that loses.
func TestWhatAWebhookLosesIsSaidWhateverHappens(t *testing.T) {
	prove := func(context.Context, *unstructured.Unstructured, proofs.Bounds) (proof.Report, error) {
		return proof.Report{Verdict: proof.Lossless, Tried: 7}, nil
	}
	controllertest.Story{
		World: func(t *testing.T) *controllertest.Objects {
			o := controllertest.New()
			tree := controllertest.CRDTree("crontabs", "CronTab", "v1beta1", "v1")
			tree["metadata"].(map[string]any)["annotations"] = map[string]any{proofs.Annotation: "Report"}
			tree["spec"].(map[string]any)["conversion"] = map[string]any{"strategy": "Webhook",
				"webhook": map[string]any{"clientConfig": map[string]any{"url": "https://example.com"}, "conversionReviewVersions": []any{"v1"}}}
			controllertest.MustCreate(t, o, gvr.Definitions, tree)
			return o
		},
		Lead: func(s *controllertest.Seat) []controller.Controller {
			return []controller.Controller{proofs.New(s, prove)}
		},
		Main: controller.Key{GroupResource: gvr.Definitions, Name: controllertest.CronTabsDefinition},
		Outcome: func(t *testing.T, o *controllertest.Objects) string {
			status, reason, message := controllertest.Condition(controllertest.MustGet(t, o, gvr.Definitions, "", controllertest.CronTabsDefinition), module.Lossless)
			return fmt.Sprint(status, " ", reason, ": ", message)
		},
		Want: "True NothingLost: customresourcedefinitions/crontabs.example.com: 7 objects came back as they were",
	}.Tell(t)
}
