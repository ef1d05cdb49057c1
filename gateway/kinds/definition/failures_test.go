package definition_test

import (
	"errors"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	definitions "github.com/wasmgate/wasmgate/crd/definition"
	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest"
	"github.com/wasmgate/wasmgate/gateway/kinds/definition"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
)

// Whatever call fails, it is told, and the next run does what was left; that a definition
// went is no failure.
func TestFailuresOfControllersOfDefinitions(t *testing.T) {
	for what, c := range map[string]struct {
		world func(t *testing.T) *controllertest.Objects
		run   func(f *controllertest.Failing) controller.Controller
		done  func(o controllertest.Engine) bool
	}{
		"status": {
			func(t *testing.T) *controllertest.Objects {
				o := controllertest.New()
				controllertest.MustCreate(t, o, gvr.Definitions, controllertest.CRDTree("crontabs", "CronTab", "v1"))
				return o
			},
			func(f *controllertest.Failing) controller.Controller {
				return definition.NewStatus(f, definitions.Conditions)
			},
			func(o controllertest.Engine) bool {
				obj, err := o.Get(t.Context(), gvr.Definitions, "", controllertest.CronTabsDefinition)
				if err != nil {
					return false
				}
				status, _, _ := controllertest.Condition(obj, "NamesAccepted")
				return status == "True"
			},
		},
		"end": {
			func(t *testing.T) *controllertest.Objects {
				o := controllertest.WithCronTabs(t, 2)
				controllertest.DeleteDefinition(t, o)
				return o
			},
			func(f *controllertest.Failing) controller.Controller {
				return definition.NewFinalizer(f, f, f.Engine.(*controllertest.Objects).Stored())
			},
			func(o controllertest.Engine) bool {
				return controllertest.Gone(o, gvr.Definitions, "", controllertest.CronTabsDefinition)
			},
		},
	} {
		t.Run(what, func(t *testing.T) {
			var last controller.Controller
			var of *controllertest.Failing
			run := func(f *controllertest.Failing) error {
				if of != f { // what a controller remembers is of one world
					of, last = f, c.run(f)
				}
				return last.Reconcile(t.Context(), quiet{}, crontabs)
			}
			controllertest.EachCallFails(t, 4, func() controllertest.Engine { return c.world(t) }, run, func(f *controllertest.Failing) error {
				if !c.done(f.Engine) {
					return errors.New("it is not done")
				}
				return nil
			})
			for number := 1; number <= 4; number++ {
				f := &controllertest.Failing{Engine: c.world(t), Number: number, With: apierrors.NewNotFound(gvr.Definitions, controllertest.CronTabsDefinition)}
				_ = run(f) // that it went may be said, or not
				if err := run(f); err != nil || !c.done(f.Engine) {
					t.Errorf("again, after call %d found nothing: %v", number, err)
				}
			}
		})
	}
}
