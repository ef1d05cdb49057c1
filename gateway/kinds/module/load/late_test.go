package load_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/wasmgate/wasmgate/gateway/controller/controllertest"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/gateway/kinds/module/load"
	"github.com/wasmgate/wasmgate/gateway/kinds/module/trust"
	"github.com/wasmgate/wasmgate/plugins"
)

// busyModules are late to start everything while the machine is busy.
type busyModules struct {
	*memoryModules
	mu    sync.Mutex
	busy  bool // guarded by mu
	tries int  // guarded by mu
}

func (b *busyModules) Set(ctx context.Context, name string, rev plugins.Revision) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.tries++
	if b.busy {
		return &plugins.LoadError{Module: name, Reason: plugins.StartLate, Detail: "it did not finish within 10s"}
	}
	return b.memoryModules.Set(ctx, name, rev)
}

func (b *busyModules) is(busy bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.busy = busy
}

func (b *busyModules) tried() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.tries
}

func (w *moduleWorld) startBusy(t *testing.T, busy bool) (*busyModules, func()) {
	t.Helper()
	m := &busyModules{memoryModules: &memoryModules{serving: map[string]plugins.Revision{}}, busy: busy}
	return m, controllertest.Start(t, w.Objects, load.New(w.Objects, m, w.content, trust.New(w.Objects)))
}

// A module that served, and starts too late after a restart, stays known as what served,
// and serves as soon as it starts: nobody has to ask for it.
func TestModule_aLateStartIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newModuleWorld()
		_, stop := w.startBusy(t, false)
		createModule(t, w, inlineSpec("good"))
		if got := w.says(t, 0); !strings.HasPrefix(got, "True True ") {
			t.Fatal(got)
		}
		changeModule(t, w, func(obj *unstructured.Unstructured) { obj.Object["spec"] = inlineSpec("bad") })
		if got := w.says(t, 0); !strings.HasPrefix(got, "False True MissingExport") {
			t.Fatal(got)
		}
		stop()

		m, stop := w.startBusy(t, true) // both the one that served and the newest
		defer stop()
		if got := w.says(t, 0); got != "False False StartLate: it did not finish within 10s; it is tried again, within 5m0s" {
			t.Error(got)
		}
		obj := controllertest.MustGet(t, w.Objects, gvr.Modules, "", "tabs")
		if served, _, _ := unstructured.NestedString(obj.Object, "status", "digest"); served != digest("good") {
			t.Errorf("what served is forgotten: %q", served)
		}
		m.is(false)
		if got := w.says(t, 2*time.Second); !strings.HasPrefix(got, "False True MissingExport") {
			t.Error(got)
		}
	})
}

// What never starts is tried ever less often, whatever changes beside it, and at once
// when it is asked for, or something else is.
func TestModule_whatNeverStartsTakesNoProcessor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newModuleWorld()
		m, stop := w.startBusy(t, true)
		defer stop()
		createModule(t, w, inlineSpec("loops"))
		if got := w.says(t, 0); m.tried() != 1 || got != "False False StartLate: it did not finish within 10s; it is tried again, within 5m0s" {
			t.Errorf("%d tries: %s", m.tried(), got)
		}
		for n := range 10 {
			changeModule(t, w, func(obj *unstructured.Unstructured) { obj.SetLabels(map[string]string{"n": string(rune('a' + n))}) })
			w.says(t, 0)
		}
		if m.tried() != 1 {
			t.Errorf("%d tries at once", m.tried())
		}
		w.says(t, time.Hour) // after 1, 2, 4 ... 256 seconds, and then every 5 minutes
		if n := m.tried(); n < 15 || n > 22 {
			t.Errorf("%d tries in an hour", n)
		}
		before := m.tried()
		changeModule(t, w, func(obj *unstructured.Unstructured) {
			obj.SetAnnotations(map[string]string{"wasmgate.dev/retry": "1"})
		})
		if w.says(t, 0); m.tried() != before+1 {
			t.Errorf("%d tries when asked", m.tried()-before)
		}
		m.is(false)
		changeModule(t, w, func(obj *unstructured.Unstructured) { obj.Object["spec"] = inlineSpec("good") })
		if got := w.says(t, 0); !strings.HasPrefix(got, "True True ") {
			t.Error(got)
		}
	})
}
