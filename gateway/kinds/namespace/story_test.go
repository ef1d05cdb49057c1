package namespace_test

import (
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest"
	"github.com/wasmgate/wasmgate/gateway/kinds/definition/leftovers"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/gateway/kinds/namespace"
)

// The system's namespaces are there, whatever happens to who makes them.
func TestSystemNamespacesWhateverHappens(t *testing.T) {
	controllertest.Story{
		World: func(t *testing.T) *controllertest.Objects {
			o := controllertest.New()
			controllertest.MustCreate(t, o, gvr.Namespaces, controllertest.NamespaceTree("kube-system"))
			return o
		},
		Lead: func(s *controllertest.Seat) []controller.Controller {
			return []controller.Controller{namespace.NewBootstrap(s)}
		},
		Main: controller.Key{GroupResource: gvr.Namespaces, Name: "kube-system"},
		Outcome: func(t *testing.T, o *controllertest.Objects) string {
			all, err := o.List(t.Context(), gvr.Namespaces, "")
			if err != nil {
				t.Error(err)
			}
			var names []string
			for _, ns := range all {
				names = append(names, ns.GetName())
			}
			return fmt.Sprint(names)
		},
		Want: fmt.Sprint(namespace.System),
	}.Tell(t)
}

// A namespace that is deleted goes with all that is in it and nothing else.
func TestEndOfANamespaceWhateverHappens_RES05(t *testing.T) {
	var memory leftovers.Gone
	story := controllertest.Story{
		World: func(t *testing.T) *controllertest.Objects {
			memory = gone()
			o := controllertest.WithCronTabs(t, 2)
			controllertest.MustCreate(t, o, gvr.Namespaces, controllertest.NamespaceTree("next"))
			controllertest.MustCreate(t, o, controllertest.ConfigMaps, controllertest.ObjectTree("work", "config"))
			controllertest.MustCreate(t, o, controllertest.ConfigMaps, controllertest.ObjectTree("next", "bystander"))
			deleteNamespace(t, o, "work")
			return o
		},
		Lead: func(s *controllertest.Seat) []controller.Controller {
			return []controller.Controller{namespace.NewFinalizer(s, s, s.InStore(), memory)}
		},
		Main:  controller.Key{GroupResource: gvr.Namespaces, Name: "work"},
		Again: func(t *testing.T, o *controllertest.Objects) { deleteNamespace(t, o, "work") },
		Outcome: func(t *testing.T, o *controllertest.Objects) string {
			left, err := o.ListMetadata(t.Context(), controllertest.CronTabs, "")
			if err != nil {
				t.Error(err)
			}
			return fmt.Sprintf("gone %t, %d instances, config gone %t, bystander gone %t", controllertest.Gone(o, gvr.Namespaces, "", "work"), len(left),
				controllertest.Gone(o, controllertest.ConfigMaps, "work", "config"), controllertest.Gone(o, controllertest.ConfigMaps, "next", "bystander"))
		},
		Want: "gone true, 0 instances, config gone true, bystander gone false",
	}
	story.Tell(t)
}

// What is in a namespace that was made again belongs there: a leader that empties
// the one before leaves it alone.
func TestObjectsOfAnotherNamespaceStay_RES05(t *testing.T) {
	var memory leftovers.Gone
	controllertest.Story{
		World: func(t *testing.T) *controllertest.Objects {
			memory = gone()
			o := controllertest.WithCronTabs(t, 2)
			deleteNamespace(t, o, "work")
			return o
		},
		Lead: func(s *controllertest.Seat) []controller.Controller {
			return []controller.Controller{namespace.NewFinalizer(s, s, s.InStore(), memory)}
		},
		Main: controller.Key{GroupResource: gvr.Namespaces, Name: "work"},
		Again: func(t *testing.T, o *controllertest.Objects) {
			controllertest.MustCreate(t, o, controllertest.ConfigMaps, controllertest.ObjectTree("work", "mine"))
		},
		Outcome: func(_ *testing.T, o *controllertest.Objects) string {
			if !controllertest.Gone(o, gvr.Namespaces, "", "work") && controllertest.Gone(o, controllertest.ConfigMaps, "work", "mine") {
				return "an object of the new namespace was deleted"
			}
			return "as it should be"
		},
		Want: "as it should be",
	}.Tell(t)
}

// Nor does a leader that stood still before it looked for what is in there.
func TestObjectsOfAnotherNamespaceStay_unseen_RES05(t *testing.T) {
	for name, empty := range map[string]bool{"that has only what is new": true, "that had objects": false} {
		t.Run(name, func(t *testing.T) {
			n := 2
			if empty {
				n = 0
			}
			o := controllertest.WithCronTabs(t, n)
			deleteNamespace(t, o, "work")
			var made atomic.Bool
			o.Fail(func(op string, _ controller.Key) error {
				if op == "list" && made.CompareAndSwap(false, true) {
					o.Replace(controller.Key{GroupResource: gvr.Namespaces, Name: "work"})
					controllertest.MustCreate(t, o, controllertest.ConfigMaps, controllertest.ObjectTree("work", "mine"))
				}
				return nil
			})
			stop := controllertest.Start(t, o, namespace.NewFinalizer(o, o, o.Stored(), gone()))
			controllertest.Eventually(t, o, "it is made again", made.Load)
			controllertest.MustCreate(t, o, gvr.Namespaces, controllertest.NamespaceTree("next"))
			deleteNamespace(t, o, "next")
			namespaceGone(t, o, "next")
			stop()
			if controllertest.Gone(o, controllertest.ConfigMaps, "work", "mine") {
				t.Error("an object of the new namespace was deleted")
			}
		})
	}
}
