package versionpriority_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/rs/zerolog"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	vp "github.com/wasmgate/wasmgate/crd/priority"
	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest/realengine"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/gateway/kinds/versionpriority"
	"github.com/wasmgate/wasmgate/gateway/kinds/versionpriority/ordering"
	"github.com/wasmgate/wasmgate/plugins"
)

// fakeModules answer as their digest says.
type fakeModules struct {
	mu    sync.Mutex
	by    map[string]plugins.Status
	asked []string
	fails map[string]error // by digest
}

func (m *fakeModules) Status(name string) (plugins.Status, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s, ok := m.by[name]
	return s, ok
}

func (m *fakeModules) serve(name, digest string, hooks ...plugins.Hook) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.by[name] = plugins.Status{Serving: &plugins.Revision{Digest: digest}, Hooks: hooks}
}

func (m *fakeModules) calls() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.asked)
}

func (m *fakeModules) Prioritize(ctx context.Context, name string, review []byte, accept func([]byte) error) error {
	m.mu.Lock()
	m.asked = append(m.asked, string(review))
	digest := m.by[name].Digest()
	err := m.fails[digest]
	m.mu.Unlock()
	if _, bounded := ctx.Deadline(); !bounded {
		return errors.New("the call has no deadline")
	}
	if err != nil {
		return err
	}
	var r vp.Review
	if err := json.Unmarshal(review, &r); err != nil {
		return err
	}
	versions := slices.Clone(r.Request.Versions)
	switch digest {
	case "backwards":
		slices.Reverse(versions)
	case "twice":
		versions[0] = versions[1]
	}
	reply, err := json.Marshal(vp.Review{APIVersion: vp.APIVersion, Kind: vp.ReviewKind, Response: &vp.Response{UID: r.Request.UID, Versions: versions}})
	if err != nil {
		return err
	}
	return accept(reply)
}

// world is the controller on the real engine.
type world struct {
	*realengine.Engine
	t       *testing.T
	modules *fakeModules
	orders  *ordering.Source
}

func newWorld(t *testing.T) *world {
	e := realengine.Start(t)
	w := &world{Engine: e, t: t, modules: &fakeModules{by: map[string]plugins.Status{}, fails: map[string]error{}}, orders: ordering.New(e.Catalog, zerolog.Nop())}
	controllertest.DefineCronTabs(t, e)
	c := versionpriority.New(e, w.modules, w.orders)
	if c.Name() == "" || c.Workers() < 2 || c.Resync() <= 0 {
		t.Errorf("%q, %d workers, resync %s", c.Name(), c.Workers(), c.Resync())
	}
	controllertest.Start(t, e, c)
	return w
}

// module makes a WasmModule, or changes it so that the controller looks again.
func (w *world) module(name, digest string, hooks ...plugins.Hook) {
	w.t.Helper()
	if digest != "" {
		w.modules.serve(name, digest, hooks...)
	}
	if controllertest.Gone(w, gvr.Modules, "", name) {
		controllertest.MustCreate(w.t, w, gvr.Modules, map[string]any{"metadata": map[string]any{"name": name}, "spec": map[string]any{"source": map[string]any{"upload": map[string]any{}}}})
		if err := w.Fresh(w.t.Context()); err != nil {
			w.t.Fatal(err)
		}
	}
	controllertest.MustChange(w.t, w, gvr.Modules, "", "", name, func(obj *unstructured.Unstructured) {
		obj.SetAnnotations(map[string]string{"serves": fmt.Sprint(digest, hooks)})
	})
}

func (w *world) bind(name, module string, groups ...any) {
	w.t.Helper()
	controllertest.MustCreate(w.t, w, gvr.Priorities, map[string]any{"metadata": map[string]any{"name": name}, "spec": map[string]any{"groups": groups, "module": module}})
}

// expect waits for a condition of an object, and checks what is in force.
func (w *world) expect(name, condition, status, reason, message, order string) {
	w.t.Helper()
	var got []string
	controllertest.Eventually(w.t, w, fmt.Sprintf("%s %s=%s %s %s, %s", name, condition, status, reason, message, order), func() bool {
		obj, err := w.Get(w.t.Context(), gvr.Priorities, "", name)
		if err != nil {
			return false
		}
		s, r, m := controllertest.Condition(obj, condition)
		got = []string{s, r, m, strings.Join(w.orders.Current().Apply("example.com", []string{"v1", "v1beta1"}), " ")}
		return s == status && r == reason && strings.Contains(m, message) && got[3] == order
	})
	if w.t.Failed() {
		w.t.Logf("it is %q", got)
	}
}

const kubernetes, backwards = "v1 v1beta1", "v1beta1 v1"

func TestAModuleOrdersAGroup_WP03(t *testing.T) {
	w := newWorld(t)
	w.module("m", "backwards", plugins.Prioritize)
	w.bind("one", "m", "example.com", "none.example.com")
	w.expect("one", "Ready", "True", "Ordered", `module "m" orders every group`, backwards)
	w.expect("one", "Accepted", "True", "Accepted", "", backwards)
	if want := string(must(vp.Ask("example.com", []string{"v1", "v1beta1"}).Encode())); w.modules.asked[0] != want {
		t.Errorf("asked %s, want %s", w.modules.asked[0], want)
	}
	obj := controllertest.MustGet(t, w, gvr.Priorities, "", "one")
	groups, _, _ := unstructured.NestedSlice(obj.Object, "status", "groups")
	want := []any{map[string]any{"group": "example.com", "versions": []any{"v1beta1", "v1"}}, map[string]any{"group": "none.example.com", "message": "the group serves nothing"}}
	if fmt.Sprint(groups) != fmt.Sprint(want) {
		t.Errorf("groups %v", groups)
	}
	if g, _, _ := unstructured.NestedInt64(obj.Object, "status", "observedGeneration"); g != 1 {
		t.Errorf("observed %d", g)
	}
	if err := w.Delete(t.Context(), gvr.Priorities, "", "one", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	controllertest.Eventually(t, w, "the Kubernetes order is back", func() bool {
		return slices.Equal(w.orders.Current().Apply("example.com", []string{"v1", "v1beta1"}), []string{"v1", "v1beta1"})
	})
}

func TestAModuleIsAskedOnlyWhenSomethingChanged_WP03(t *testing.T) {
	w := newWorld(t)
	w.module("m", "backwards", plugins.Prioritize)
	w.bind("one", "m", "example.com")
	w.expect("one", "Ready", "True", "Ordered", "", backwards)
	if n := w.modules.calls(); n != 1 {
		t.Errorf("asked %d times", n)
	}
	for range 100 { // requests
		w.orders.Current().Apply("example.com", []string{"v1", "v1beta1"})
	}
	controllertest.MustChange(t, w, gvr.Priorities, "", "", "one", func(obj *unstructured.Unstructured) {
		obj.SetAnnotations(map[string]string{"touched": "yes"})
	})
	w.module("other", "backwards", plugins.Prioritize)
	w.bind("two", "other", "none.example.com")
	w.expect("two", "Ready", "True", "Ordered", "", backwards)
	if n := w.modules.calls(); n != 1 {
		t.Errorf("asked %d times when other things changed", n)
	}
	w.module("m", "as it is", plugins.Prioritize)
	w.expect("one", "Ready", "True", "Ordered", "", kubernetes)
	if n := w.modules.calls(); n != 2 {
		t.Errorf("asked %d times after another module", n)
	}
	controllertest.MustChange(t, w, gvr.Definitions, "", "", controllertest.CronTabsDefinition, func(obj *unstructured.Unstructured) {
		versions, _, _ := unstructured.NestedSlice(obj.Object, "spec", "versions")
		versions[0].(map[string]any)["served"] = false
		_ = unstructured.SetNestedSlice(obj.Object, versions, "spec", "versions")
	})
	controllertest.Eventually(t, w, "asked about what is left", func() bool {
		w.modules.mu.Lock()
		defer w.modules.mu.Unlock()
		return strings.Contains(w.modules.asked[len(w.modules.asked)-1], `"versions":["v1"]`)
	})
}

func TestWithoutAModuleTheKubernetesOrderIsInForce_WP03(t *testing.T) {
	w := newWorld(t)
	w.bind("one", "m", "example.com")
	w.expect("one", "Ready", "False", "ModuleMissing", `example.com: there is no WasmModule "m"`, kubernetes)
	w.module("m", "")
	w.expect("one", "Ready", "False", "ModuleLoading", `module "m" is being loaded`, kubernetes)
	w.module("m", "backwards", plugins.Convert)
	w.expect("one", "Ready", "False", "HookMissing", `module "m" does not export wasmgate_prioritize`, kubernetes)
	w.module("m", "backwards", plugins.Convert, plugins.Prioritize)
	w.expect("one", "Ready", "True", "Ordered", "", backwards)
	w.module("m", "twice", plugins.Prioritize)
	w.expect("one", "Ready", "False", "BadReply", `response.versions[1]: "v1beta1" is there twice`, kubernetes)
	w.modules.fails["traps"] = &plugins.CallError{Module: "m", Hook: plugins.Prioritize, Kind: plugins.Trap, Reason: "unreachable"}
	w.module("m", "traps", plugins.Prioritize)
	w.expect("one", "Ready", "False", "CallFailed", `wasm module "m": wasmgate_prioritize: Trap: unreachable`, kubernetes)
	if err := w.Delete(t.Context(), gvr.Modules, "", "m", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	w.expect("one", "Ready", "False", "ModuleMissing", "", kubernetes)
}

func TestARefusedModuleIsSaidToBe(t *testing.T) {
	w := newWorld(t)
	w.module("m", "")
	controllertest.MustChange(t, w, gvr.Modules, "status", "", "m", func(obj *unstructured.Unstructured) {
		_ = unstructured.SetNestedSlice(obj.Object, []any{map[string]any{"type": "Ready", "status": "False", "reason": "Malformed", "message": "no magic", "lastTransitionTime": "2026-01-01T00:00:00Z"}}, "status", "conditions")
	})
	w.bind("one", "m", "example.com")
	w.expect("one", "Ready", "False", "ModuleNotReady", `module "m" is not ready: no magic`, kubernetes)
}

func TestASlowModuleIsAskedAgain_WP03(t *testing.T) {
	w := newWorld(t)
	w.modules.fails["slow"] = &plugins.CallError{Module: "m", Kind: plugins.Deadline, Reason: "it did not finish"}
	w.module("m", "slow", plugins.Prioritize)
	w.bind("one", "m", "example.com")
	w.expect("one", "Ready", "False", "CallFailed", "it did not finish", kubernetes)
	w.modules.mu.Lock()
	delete(w.modules.fails, "slow")
	w.modules.mu.Unlock()
	w.expect("one", "Ready", "True", "Ordered", "", kubernetes)
}

// A module that has no room, no time, or is not ready to be asked keeps the order that it gave.
func TestWhileAModuleIsBusyItsOrderStays(t *testing.T) {
	for _, kind := range []plugins.ErrorKind{plugins.NoRoom, plugins.NotReady, plugins.Deadline} {
		w := newWorld(t)
		w.module("m", "backwards", plugins.Prioritize)
		w.bind("one", "m", "example.com")
		w.expect("one", "Ready", "True", "Ordered", "", backwards)
		w.modules.mu.Lock()
		w.modules.fails["busy"] = &plugins.CallError{Module: "m", Kind: kind, Reason: "it is busy"}
		w.modules.mu.Unlock()
		w.module("m", "busy", plugins.Prioritize)
		w.expect("one", "Ready", "False", "CallFailed", "it is busy", backwards)
	}
}

func TestOfTwoThatNameAGroupTheOlderOrdersIt_WP03(t *testing.T) {
	w := newWorld(t)
	w.module("back", "backwards", plugins.Prioritize)
	w.module("same", "as it is", plugins.Prioritize)
	w.bind("a", "back", "example.com")
	w.bind("b", "same", "other.example.com", "example.com")
	w.expect("b", "Accepted", "False", "GroupTaken", `example.com: VersionPriority "a", which comes first, orders the group`, backwards)
	w.expect("b", "Ready", "False", "GroupTaken", `example.com: VersionPriority "a"`, backwards)
	w.expect("a", "Accepted", "True", "Accepted", "", backwards)
	if err := w.Delete(t.Context(), gvr.Priorities, "", "a", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	w.expect("b", "Accepted", "True", "Accepted", "", kubernetes)
	w.expect("b", "Ready", "True", "Ordered", "", kubernetes)
}

func TestWhileAModuleIsLoadedItsOrderStays(t *testing.T) {
	w := newWorld(t)
	w.module("m", "backwards", plugins.Prioritize)
	w.bind("one", "m", "example.com")
	w.expect("one", "Ready", "True", "Ordered", "", backwards)
	w.modules.mu.Lock()
	delete(w.modules.by, "m")
	w.modules.mu.Unlock()
	w.module("m", "")
	w.expect("one", "Ready", "False", "ModuleLoading", "", backwards)
}

func TestAGoneObjectIsForgotten(t *testing.T) {
	e := realengine.Start(t)
	c := versionpriority.New(e, &fakeModules{}, ordering.New(e.Catalog, zerolog.Nop()))
	q := &follows{}
	if err := c.Reconcile(t.Context(), q, controller.Key{GroupResource: gvr.Priorities, Name: "none"}); err != nil || q.scopes != 0 || q.calls != 1 {
		t.Errorf("%v, follows %d in %d calls", err, q.scopes, q.calls)
	}
}

// follows counts what is followed.
type follows struct {
	controller.Queue
	scopes, calls int
}

func (f *follows) Follow(_ controller.Key, scopes ...controller.Scope) {
	f.scopes, f.calls = len(scopes), f.calls+1
}

func must(data []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return data
}
