package load_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/gateway/kinds/module"
	"github.com/wasmgate/wasmgate/gateway/kinds/module/load"
	"github.com/wasmgate/wasmgate/gateway/kinds/module/trust"
	"github.com/wasmgate/wasmgate/plugins"
)

// deaf is a queue that nobody listens to.
type deaf struct{}

func (deaf) Add(controller.Key)                         {}
func (deaf) AddAfter(controller.Key, time.Duration)     {}
func (deaf) Follow(controller.Key, ...controller.Scope) {}

// Whatever call fails while a module is let serve, that is told, and another run says that
// it serves; in the same gateway, and in one that starts then.
func TestFailuresToLetAModuleServeAreTold(t *testing.T) {
	tabs := controller.Key{GroupResource: gvr.Modules, Name: "tabs"}
	for _, again := range []bool{false, true} {
		var of *controllertest.Failing
		var c *load.Controller
		var m *memoryModules
		var w *moduleWorld
		run := func(f *controllertest.Failing) error {
			if of != f || again {
				of, m = f, &memoryModules{serving: map[string]plugins.Revision{}}
				c = load.New(f, m, w.content, trust.New(f.Engine)) // who cannot be read lets nothing serve, and is no failure
			}
			return c.Reconcile(t.Context(), deaf{}, tabs)
		}
		controllertest.EachCallFails(t, 2, func() controllertest.Engine {
			w = newModuleWorld()
			bindCronTabs(t, w)
			createModule(t, w, inlineSpec("good"))
			return w.Objects
		}, run, func(f *controllertest.Failing) error {
			obj := controllertest.MustGet(t, f.Engine, gvr.Modules, "", "tabs")
			ready, _, _ := controllertest.Condition(obj, module.Ready)
			if _, serves := m.get("tabs"); !serves || ready != "True" || module.StatusOf(obj).Digest != digest("good") {
				return errors.New("it does not serve, or does not say so: " + ready)
			}
			return nil
		})
	}
}

// converting are modules that convert from v1 to v2, and not back.
type converting struct{ *memoryModules }

func (c converting) Status(name string) (plugins.Status, bool) {
	status, ok := c.memoryModules.Status(name)
	status.Conversions = []plugins.Conversion{{Kind: "CronTab", From: "v1", To: "v2"}}
	return status, ok
}

// Whatever call fails, it is said in the end which conversions are missing; and a module was
// looked at once this gateway tried to load it, and not before.
func TestFailuresToSayWhatIsMissingAreTold(t *testing.T) {
	var of *controllertest.Failing
	var c *load.Controller
	var w *moduleWorld
	controllertest.EachCallFails(t, 3, func() controllertest.Engine {
		w = newModuleWorld()
		bindCronTabs(t, w)
		createModule(t, w, inlineSpec("good"))
		return w.Objects
	}, func(f *controllertest.Failing) error {
		if of != f {
			of, c = f, load.New(f, converting{&memoryModules{serving: map[string]plugins.Revision{}}}, w.content, trust.New(f.Engine))
			if c.Looked("tabs") {
				t.Error("it was looked at")
			}
		}
		return c.Reconcile(t.Context(), deaf{}, controller.Key{GroupResource: gvr.Modules, Name: "tabs"})
	}, func(f *controllertest.Failing) error {
		status, _, message := controllertest.Condition(controllertest.MustGet(t, f.Engine, gvr.Modules, "", "tabs"), module.ConversionsComplete)
		if status != "False" || !strings.Contains(message, controllertest.CronTabsDefinition) || !strings.Contains(message, "v2") || !c.Looked("tabs") || c.Looked("other") {
			return errors.New("it does not say what is missing, or was not looked at: " + status + " " + message)
		}
		return nil
	})
}

// choosy are modules none of which is compiled any more, as by a newer release.
type choosy struct{ memoryModules }

func (c *choosy) Set(_ context.Context, name string, rev plugins.Revision) error {
	c.tried = append(c.tried, string(rev.Bytes))
	return &plugins.LoadError{Module: name, Reason: plugins.CompileFailed, Detail: "too old"}
}

// What serves elsewhere and is refused here for good is not compiled again for every change.
func TestWhatServesElsewhereIsGivenUpOnce(t *testing.T) {
	w := newModuleWorld()
	createModule(t, w, inlineSpec("good 1"))
	here := &choosy{}
	a := load.New(w.Objects, &memoryModules{serving: map[string]plugins.Revision{}}, w.content, trust.New(w.Objects))
	b := load.New(w.Objects, here, w.content, trust.New(w.Objects))
	for n, c := range []*load.Controller{a, b, a, b, b} {
		if n == 1 {
			changeModule(t, w, func(obj *unstructured.Unstructured) { obj.Object["spec"] = inlineSpec("bad 2") })
		}
		if err := c.Reconcile(t.Context(), deaf{}, controller.Key{GroupResource: gvr.Modules, Name: "tabs"}); err != nil {
			t.Fatal(err)
		}
	}
	if got := here.triedInOrder(); got != "good 1, bad 2" {
		t.Errorf("compiled: %s", got)
	}
	w.expect(t, "False MissingExport", "True PreviousRevision", digest("good 1"))
}
