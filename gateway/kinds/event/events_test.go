package event_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest"
	"github.com/wasmgate/wasmgate/gateway/kinds/event"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
)

// told are the events, each as type, reason and message, sorted.
func told(t *testing.T, o *controllertest.Objects) string {
	t.Helper()
	synctest.Wait()
	list, err := o.List(context.Background(), gvr.Events, "default")
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, e := range list {
		about, _, _ := unstructured.NestedString(e.Object, "involvedObject", "kind")
		name, _, _ := unstructured.NestedString(e.Object, "involvedObject", "name")
		all = append(all, fmt.Sprintf("%v %v %s/%s: %v", e.Object["type"], e.Object["reason"], about, name, e.Object["message"]))
	}
	slices.Sort(all)
	return strings.Join(all, "; ")
}

// world has a module, tabs, and a controller that tells of its conditions until
// stop.
func world(t *testing.T) (o *controllertest.Objects, stop func()) {
	t.Helper()
	o = controllertest.New()
	controllertest.MustCreate(t, o, gvr.Namespaces, controllertest.NamespaceTree("default"))
	stop = controllertest.Start(t, o, event.New(o, gvr.Modules))
	controllertest.MustCreate(t, o, gvr.Modules, controllertest.ObjectTree("", "tabs"))
	synctest.Wait()
	return o, stop
}

func set(t *testing.T, o *controllertest.Objects, conditions ...metav1.Condition) {
	t.Helper()
	controllertest.MustChange(t, o, gvr.Modules, "status", "", "tabs", func(obj *unstructured.Unstructured) {
		if err := gvr.SetConditions(obj, conditions); err != nil {
			t.Error(err)
		}
	})
	synctest.Wait()
}

func condition(status metav1.ConditionStatus, reason, message string) metav1.Condition {
	return metav1.Condition{Type: "Ready", Status: status, Reason: reason, Message: message, LastTransitionTime: metav1.Now()}
}

// Each change of a condition is told once; what was there before is not, nor what
// says the same of another generation.
func TestAChangeIsToldOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, stop := world(t)
		bad, good := condition(metav1.ConditionFalse, "Missing", "no content"), condition(metav1.ConditionTrue, "Serving", "it serves")
		set(t, o, bad)
		one := "Warning Missing WasmModule/tabs: no content"
		if got := told(t, o); got != one {
			t.Errorf("told %s", got)
		}
		bad.ObservedGeneration = 2
		set(t, o, bad)
		if got := told(t, o); got != one {
			t.Errorf("told again: %s", got)
		}
		set(t, o, good)
		both := "Normal Serving WasmModule/tabs: it serves; " + one
		if got := told(t, o); got != both {
			t.Errorf("told %s", got)
		}
		stop()
		controllertest.MustChange(t, o, gvr.Modules, "", "", "tabs", func(obj *unstructured.Unstructured) {
			obj.SetCreationTimestamp(metav1.NewTime(time.Now().Add(-time.Hour))) // which is before the next begins
		})
		stop = controllertest.Start(t, o, event.New(o, gvr.Modules))
		if got := told(t, o); got != both {
			t.Errorf("a new leader told: %s", got)
		}
		set(t, o, condition(metav1.ConditionTrue, "Serving", strings.Repeat("ü", 1000)))
		if got := told(t, o); !strings.Contains(got, ": "+strings.Repeat("ü", 510)+"...;") {
			t.Errorf("told %s", got)
		}
		stop()
	})
}

// An object that has conditions when it is seen first is no news to a gateway that began
// to tell later, but it is to one that told when the object was made.
func TestConditionsThatAreThereAtOnceAreTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := controllertest.New()
		controllertest.MustCreate(t, o, gvr.Namespaces, controllertest.NamespaceTree("default"))
		defer controllertest.Start(t, o, event.New(o, gvr.Modules))()
		synctest.Wait()
		tabs := &unstructured.Unstructured{Object: controllertest.ObjectTree("", "tabs")}
		if err := gvr.SetConditions(tabs, []metav1.Condition{condition(metav1.ConditionFalse, "Missing", "no content")}); err != nil {
			t.Fatal(err)
		}
		controllertest.MustCreate(t, o, gvr.Modules, tabs.Object)
		if got := told(t, o); got != "Warning Missing WasmModule/tabs: no content" {
			t.Errorf("told %q", got)
		}
	})
}

// Conditions that come to the same at once are one event.
func TestTheSameIsToldOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, stop := world(t)
		defer stop()
		compiled := func(c metav1.Condition) metav1.Condition { c.Type = "Compiled"; return c }
		bad, good := condition(metav1.ConditionFalse, "Missing", "no content"), condition(metav1.ConditionTrue, "Serving", "it serves")
		set(t, o, compiled(bad), bad)
		one := "Warning Missing WasmModule/tabs: no content"
		if got := told(t, o); got != one {
			t.Errorf("told %s", got)
		}
		set(t, o, compiled(bad), good)
		two := "Normal Serving WasmModule/tabs: it serves; " + one
		if got := told(t, o); got != two {
			t.Errorf("told %s", got)
		}
		other := condition(metav1.ConditionFalse, "Odd", "it is odd")
		set(t, o, compiled(other), good)
		two = "Normal Serving WasmModule/tabs: it serves; Warning Missing WasmModule/tabs: no content; Warning Odd WasmModule/tabs: it is odd"
		pulled := func(c metav1.Condition) metav1.Condition { c.Type = "Pulled"; return c }
		set(t, o, compiled(other), good, pulled(other)) // which another said before
		unknown := condition(metav1.ConditionUnknown, "Waiting", "it is on its way")
		set(t, o, compiled(unknown), good, pulled(other))
		set(t, o, compiled(other), good, pulled(other))
		if got := told(t, o); got != two {
			t.Errorf("told %s", got)
		}
		set(t, o, compiled(bad), good)
		one = "Warning Missing WasmModule/tabs: no content"
		two = strings.Replace(two, one, one+"; "+one, 1)
		set(t, o, compiled(bad), bad) // which is news of one
		if got := told(t, o); got != strings.Replace(two, one, one+"; "+one, 1) {
			t.Errorf("told %s, want another of %s", got, two)
		}
	})
}

// A condition that flaps fills neither the store nor the list.
func TestChangesThatDoNotEndAreToldSeldom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, stop := world(t)
		defer stop()
		flap := func(times int) {
			for i := range times {
				set(t, o, condition(metav1.ConditionFalse, "Missing", fmt.Sprint(i)))
				synctest.Wait()
			}
		}
		flap(100)
		if n := strings.Count(told(t, o), "tabs"); n != 25 {
			t.Errorf("%d events of 100 changes", n)
		}
		<-time.After(10 * time.Minute)
		flap(100)
		if n := strings.Count(told(t, o), "tabs"); n != 27 {
			t.Errorf("%d events, want two more", n)
		}
	})
}

// Where events may not be created nothing is held up; what fails otherwise is
// tried again.
func TestAnEventThatCannotBeCreated(t *testing.T) {
	for reason, want := range map[error]string{
		apierrors.NewForbidden(gvr.Events, "x", nil):                      "",
		apierrors.NewServiceUnavailable("the store is away, for a while"): "Warning Missing WasmModule/tabs: no content",
	} {
		synctest.Test(t, func(t *testing.T) {
			o, stop := world(t)
			defer stop()
			o.Fail(func(op string, key controller.Key) error {
				if op == "create" && key.GroupResource == gvr.Events {
					return reason
				}
				return nil
			})
			set(t, o, condition(metav1.ConditionFalse, "Missing", "no content"))
			synctest.Wait()
			o.Fail(nil)
			controllertest.Eventually(t, o, want, func() bool { return told(t, o) == want })
		})
	}
}

// Gateways that both believe to lead tell once, one that leads next tells nothing
// again, and of another object of the name it is told anew.
func TestTwoLeadersTellOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, stop := world(t)
		second := controllertest.Start(t, o, event.New(o, gvr.Modules))
		synctest.Wait()
		bad := condition(metav1.ConditionFalse, "Broken", "it does not load")
		const once = "Warning Broken WasmModule/tabs: it does not load"
		set(t, o, bad)
		if got := told(t, o); got != once {
			t.Errorf("told by two: %s", got)
		}
		o.Wake(controller.Key{GroupResource: gvr.Modules, Name: "tabs"})
		stop()
		second()
		next := controllertest.Start(t, o, event.New(o, gvr.Modules))
		defer next()
		if got := told(t, o); got != once {
			t.Errorf("told by the next: %s", got)
		}
		o.Replace(controller.Key{GroupResource: gvr.Modules, Name: "tabs"})
		synctest.Wait()
		set(t, o, bad)
		if got := told(t, o); got != once+"; "+once {
			t.Errorf("told of another object: %s", got)
		}
	})
}

// What a condition says again is told by the next leader if the last one ended before it
// could, though an event tells the same of an earlier time.
func TestAChangeBackIsToldByTheNextLeader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, stop := world(t)
		broken := condition(metav1.ConditionFalse, "Broken", "it is broken")
		set(t, o, broken)
		<-time.After(5 * time.Second)
		set(t, o, condition(metav1.ConditionTrue, "Loaded", "it is loaded"))
		<-time.After(5 * time.Second)
		stop()
		broken.LastTransitionTime = metav1.Now()
		set(t, o, broken)
		defer controllertest.Start(t, o, event.New(o, gvr.Modules))()
		const want = "Normal Loaded WasmModule/tabs: it is loaded; Warning Broken WasmModule/tabs: it is broken; Warning Broken WasmModule/tabs: it is broken"
		if got := told(t, o); got != want {
			t.Errorf("told: %s", got)
		}
	})
}
