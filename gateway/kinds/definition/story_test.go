package definition_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	definitions "github.com/wasmgate/wasmgate/crd/definition"
	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest"
	"github.com/wasmgate/wasmgate/gateway/kinds/definition"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
)

var crontabs = controller.Key{GroupResource: gvr.Definitions, Name: controllertest.CronTabsDefinition}

// A definition is established once, and names stay with whoever has them,
// whatever happens to who gives them.
func TestStatusOfADefinitionWhateverHappens(t *testing.T) {
	controllertest.Story{
		World: func(t *testing.T) *controllertest.Objects {
			o := controllertest.New()
			controllertest.MustCreate(t, o, gvr.Definitions, controllertest.CRDTree("crontabs", "CronTab", "v1"))
			controllertest.MustCreate(t, o, gvr.Definitions, controllertest.CRDTree("others", "Other", "v1beta1", "v1"))
			return o
		},
		Lead: func(s *controllertest.Seat) []controller.Controller {
			return []controller.Controller{definition.NewStatus(s, definitions.Conditions)}
		},
		Main: crontabs,
		Outcome: func(t *testing.T, o *controllertest.Objects) string {
			var lines []string
			for _, name := range []string{"crontabs.example.com", "others.example.com"} {
				obj := controllertest.MustGet(t, o, gvr.Definitions, "", name)
				kind, _, _ := unstructured.NestedString(obj.Object, "status", "acceptedNames", "kind")
				accepted, _, _ := controllertest.Condition(obj, "NamesAccepted")
				established, _, _ := controllertest.Condition(obj, "Established")
				lines = append(lines, kind+" accepted "+accepted+", established "+established)
			}
			return strings.Join(lines, "\n")
		},
		Want: "CronTab accepted True, established True\nOther accepted True, established True",
	}.Tell(t)
}

// A definition that is deleted goes with all its instances and nothing else.
func TestEndOfADefinitionWhateverHappens(t *testing.T) {
	controllertest.Story{
		World: func(t *testing.T) *controllertest.Objects {
			o := controllertest.WithCronTabs(t, 3)
			controllertest.MustCreate(t, o, controllertest.ConfigMaps, controllertest.ObjectTree("work", "bystander"))
			controllertest.DeleteDefinition(t, o)
			return o
		},
		Lead: func(s *controllertest.Seat) []controller.Controller {
			return []controller.Controller{definition.NewFinalizer(s, s, s.InStore())}
		},
		Main: crontabs,
		// Who made it again deletes that, too.
		Again: func(t *testing.T, o *controllertest.Objects) {
			controllertest.Establish(t, o, controllertest.CronTabsDefinition, "v1")
			controllertest.DeleteDefinition(t, o)
		},
		Outcome: func(t *testing.T, o *controllertest.Objects) string {
			left, err := o.ListMetadata(t.Context(), controllertest.CronTabs, "")
			if err != nil {
				t.Error(err)
			}
			return fmt.Sprintf("gone %t, %d instances, bystander gone %t", controllertest.Gone(o, gvr.Definitions, "", controllertest.CronTabsDefinition), len(left),
				controllertest.Gone(o, controllertest.ConfigMaps, "work", "bystander"))
		},
		Want: "gone true, 0 instances, bystander gone false",
	}.Tell(t)
}

// What is in a definition that was made again belongs there: a leader that empties
// the one before leaves it alone.
func TestInstancesOfAnotherDefinitionStay(t *testing.T) {
	var renewed *controllertest.Objects // where it was made again
	controllertest.Story{
		World: func(t *testing.T) *controllertest.Objects {
			o := controllertest.WithCronTabs(t, 2)
			controllertest.DeleteDefinition(t, o)
			return o
		},
		Lead: func(s *controllertest.Seat) []controller.Controller {
			return []controller.Controller{definition.NewFinalizer(s, s, s.InStore())}
		},
		Main: crontabs,
		Again: func(t *testing.T, o *controllertest.Objects) {
			renewed = o
			controllertest.Establish(t, o, controllertest.CronTabsDefinition, "v1")
			if controllertest.Gone(o, controllertest.CronTabs, "work", "mine") {
				controllertest.MustCreate(t, o, controllertest.CronTabs, controllertest.ObjectTree("work", "mine"))
			}
		},
		Outcome: func(t *testing.T, o *controllertest.Objects) string {
			if controllertest.Gone(o, gvr.Definitions, "", controllertest.CronTabsDefinition) {
				if renewed == o {
					return "the new definition was deleted"
				}
				return "as it should be"
			}
			if controllertest.Gone(o, controllertest.CronTabs, "work", "mine") {
				return "an instance of the new definition was deleted"
			}
			return "as it should be"
		},
		Want: "as it should be",
	}.Tell(t)
}

// Nor does a leader that stood still before it looked for instances.
func TestInstancesOfAnotherDefinitionStay_unseen(t *testing.T) {
	o := controllertest.WithCronTabs(t, 2)
	controllertest.DeleteDefinition(t, o)
	var made atomic.Bool
	o.Fail(func(op string, key controller.Key) error {
		if op == "list" && key.GroupResource == controllertest.CronTabs && made.CompareAndSwap(false, true) {
			o.Replace(crontabs)
			controllertest.Establish(t, o, controllertest.CronTabsDefinition, "v1")
			controllertest.MustCreate(t, o, controllertest.CronTabs, controllertest.ObjectTree("work", "mine"))
		}
		return nil
	})
	f := definition.NewFinalizer(o, o, o.Stored())
	if err := f.Reconcile(t.Context(), quiet{}, crontabs); err != nil {
		t.Log(err) // which it may say, and look again
	}
	if !made.Load() || controllertest.Gone(o, controllertest.CronTabs, "work", "mine") {
		t.Errorf("made again %t, and an instance of the new definition was deleted", made.Load())
	}
}

// quiet is a queue that nobody listens to.
type quiet struct{}

func (quiet) Add(controller.Key)                         {}
func (quiet) AddAfter(controller.Key, time.Duration)     {}
func (quiet) Follow(controller.Key, ...controller.Scope) {}
