package event_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest"
	"github.com/wasmgate/wasmgate/gateway/kinds/event"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
)

// breaks has two conditions of the module, which was well, become others.
func breaks(t *testing.T, o *controllertest.Objects) {
	controllertest.MustChange(t, o, gvr.Modules, "status", "", "tabs", func(obj *unstructured.Unstructured) {
		compiled, ready := condition(metav1.ConditionTrue, "Compiled", "it is compiled"), condition(metav1.ConditionFalse, "Broken", "it does not load")
		compiled.Type = "Compiled"
		if err := gvr.SetConditions(obj, []metav1.Condition{compiled, ready}); err != nil {
			t.Error(err)
		}
	})
}

// What becomes of an object is told once, whatever happens to who tells, who may end before
// it did; what was so long before is not.
func TestChangesAreToldWhateverHappens(t *testing.T) {
	controllertest.Story{
		World: func(t *testing.T) *controllertest.Objects {
			o := controllertest.New()
			controllertest.MustCreate(t, o, gvr.Namespaces, controllertest.NamespaceTree("default"))
			for _, name := range []string{"tabs", "old"} {
				controllertest.MustCreate(t, o, gvr.Modules, controllertest.ObjectTree("", name))
			}
			controllertest.MustChange(t, o, gvr.Modules, "status", "", "old", func(obj *unstructured.Unstructured) {
				if err := gvr.SetConditions(obj, []metav1.Condition{condition(metav1.ConditionFalse, "Missing", "no content")}); err != nil {
					t.Error(err)
				}
			})
			<-time.After(time.Hour)
			time.AfterFunc(time.Minute, func() { breaks(t, o) })
			return o
		},
		Lead: func(s *controllertest.Seat) []controller.Controller {
			return []controller.Controller{event.New(s, gvr.Modules)}
		},
		Main:  controller.Key{GroupResource: gvr.Modules, Name: "tabs"},
		Again: breaks,
		Outcome: func(t *testing.T, o *controllertest.Objects) string {
			all, err := o.List(t.Context(), gvr.Events, "")
			if err != nil {
				t.Error(err)
			}
			var said []string
			now := controllertest.MustGet(t, o, gvr.Modules, "", "tabs").GetUID()
			for _, e := range all {
				uid, _, _ := unstructured.NestedString(e.Object, "involvedObject", "uid")
				name, _, _ := unstructured.NestedString(e.Object, "involvedObject", "name")
				if uid == string(now) || name != "tabs" {
					said = append(said, fmt.Sprintf("%s %v: %v", name, e.Object["reason"], e.Object["message"]))
				}
			}
			slices.Sort(said)
			return strings.Join(said, "; ")
		},
		Want: "tabs Broken: it does not load; tabs Compiled: it is compiled",
	}.Tell(t)
}
