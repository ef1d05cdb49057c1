package lossless_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/wasmgate/wasmgate/conversion/proof"
	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/gateway/kinds/module"
	"github.com/wasmgate/wasmgate/gateway/kinds/module/lossless"
)

// proves is a leader's world, to whom something may happen while it proves.
type proves struct {
	*world
	seat *controllertest.Seat
}

func (p proves) Prove(ctx context.Context, name string, d *unstructured.Unstructured, acknowledged []string, branches proof.Branches) (r proof.Report, err error) {
	err = p.seat.Meet(ctx, func() error {
		r, err = p.world.Prove(ctx, name, d, acknowledged, branches)
		return err
	})
	return r, err
}

// What a module loses is said, whatever happens to who proves it; and of another module of
// its name, which nobody may prove, nothing is.
func TestWhatAModuleLosesIsSaidWhateverHappens(t *testing.T) {
	one := "sha256:" + strings.Repeat("1", 64)
	const fine = "True NothingLost: customresourcedefinitions/ks.example.com: 7 objects came back as they were, 1 proof"
	var last *world
	again := false
	controllertest.Story{
		World: func(t *testing.T) *controllertest.Objects {
			o := controllertest.New()
			w := &world{Objects: o, t: t}
			controllertest.MustCreate(t, o, gvr.Modules, controllertest.ObjectTree("", "tabs"))
			w.define("tabs")
			w.change(one, map[string]any{"proof": "Report"})
			again = false
			return o
		},
		Lead: func(s *controllertest.Seat) []controller.Controller {
			last = &world{Objects: s.Objects, t: t, report: proof.Report{Verdict: proof.Lossless, Tried: 7}}
			return []controller.Controller{lossless.New(s, last, contents{last}, proves{last, s})}
		},
		Main:  controller.Key{GroupResource: gvr.Modules, Name: "tabs"},
		Again: func(*testing.T, *controllertest.Objects) { again = true },
		Outcome: func(t *testing.T, o *controllertest.Objects) string {
			obj := controllertest.MustGet(t, o, gvr.Modules, "", "tabs")
			status, reason, message := controllertest.Condition(obj, module.Lossless)
			said := fmt.Sprintf("%s %s: %s, %d proof", status, reason, message, len(module.StatusOf(obj).Proofs))
			if again && said == " : , 0 proof" { // nobody asks for one of the new module
				return fine
			}
			return said
		},
		Want: fine,
	}.Tell(t)
}
