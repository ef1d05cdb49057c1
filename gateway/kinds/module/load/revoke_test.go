package load_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/wasmgate/wasmgate/gateway/controller/controllertest"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/gateway/kinds/module"
	"github.com/wasmgate/wasmgate/gateway/kinds/module/load"
	"github.com/wasmgate/wasmgate/gateway/kinds/module/trust"
	"github.com/wasmgate/wasmgate/plugins"
)

// change replaces the spec of a policy.
func (w *moduleWorld) demand(t *testing.T, name string, spec any) {
	t.Helper()
	controllertest.MustChange(t, w.Objects, gvr.Trusts, "", "", name, func(o *unstructured.Unstructured) { o.Object["spec"] = spec })
}

// What serves is judged again whenever the policies change, and serves again once they
// let it.
func TestWhatServesIsJudgedAgain(t *testing.T) {
	s := newScene(t)
	w := s.world()
	m, stop := w.start(t)
	defer stop()
	controllertest.MustCreate(t, w.Objects, gvr.Modules, s.module())
	wantTrusted(t, w, m, signed, true)
	good, _ := controllertest.MustGet(t, w.Objects, gvr.Trusts, "", "one").Object["spec"].(tree)
	others := tree{"authorities": []any{authorityOf("o", s.other)}}
	both := tree{"authorities": []any{authorityOf("o", s.other), authorityOf("g", s.good)}}
	for _, step := range []struct {
		name string
		spec any
		want string
	}{
		{"another key", others, "False SignatureUntrusted"},
		{"both keys", both, "True Signed signed by g of"},
		{"revoked", tree{"revokedDigests": []any{digest(string(s.file))}}, "False Revoked"},
		{"not revoked", good, "True Signed signed by a of"},
		{"malformed", "nonsense", "False TrustUnreadable"},
		{"as before", good, "True Signed"},
		{"for others", tree{"modules": tree{"names": []any{"other"}}, "authorities": []any{authorityOf("o", s.other)}}, notDemanded},
		{"for all", others, "False SignatureUntrusted"},
	} {
		t.Log(step.name)
		w.demand(t, "one", step.spec)
		wantTrusted(t, w, m, step.want, !strings.HasPrefix(step.want, "False"))
	}
	if err := w.Delete(t.Context(), gvr.Trusts, "", "one", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	obj := wantTrusted(t, w, m, notDemanded, true)
	if by := module.StatusOf(obj).SignedBy; by != nil {
		t.Errorf("signed by %v", by)
	}
}

// Labels that bring a module under a policy have it judged; its signature may be there
// already.
func TestLabelsAreJudgedWhenTheyChange(t *testing.T) {
	s := newScene(t)
	s.file = s.content
	s.demand(tree{"selector": tree{"matchLabels": tree{"tier": "platinum"}}}, s.good)
	w := s.world()
	m, stop := w.start(t)
	defer stop()
	controllertest.MustCreate(t, w.Objects, gvr.Modules, s.module())
	wantTrusted(t, w, m, notDemanded, true)
	changeModule(t, w, func(o *unstructured.Unstructured) { o.SetLabels(map[string]string{"tier": "platinum"}) })
	wantTrusted(t, w, m, "False Unsigned", false)
}

// Content that is refused leaves what serves, if that is trusted; what is stored otherwise
// than it was is not loaded, and a gateway that starts judges by the policies of then.
func TestRefusedContentLeavesWhatServes(t *testing.T) {
	s := newScene(t)
	w := s.world()
	m, stop := w.start(t)
	controllertest.MustCreate(t, w.Objects, gvr.Modules, s.module())
	wantTrusted(t, w, m, signed, true)
	evil := wasmText("evil")
	w.content.blobs[digest(string(evil))] = evil
	changeModule(t, w, func(o *unstructured.Unstructured) {
		o.SetAnnotations(map[string]string{module.ContentAnnotation: digest(string(evil))})
	})
	obj := wantTrusted(t, w, m, "False Unsigned", true)
	if ready, reason, _ := controllertest.Condition(obj, module.Ready); ready != "True" || reason != "PreviousRevision" || len(module.StatusOf(obj).SignedBy) != 1 {
		t.Errorf("Ready %s %s, %v", ready, reason, module.StatusOf(obj).SignedBy)
	}
	stop()
	m, stop = w.start(t)
	wantTrusted(t, w, m, "False Unsigned", true)
	stop()
	revoke := func() {
		t.Helper()
		controllertest.MustCreate(t, w.Objects, gvr.Trusts, trustOf("two", tree{"revokedDigests": []any{digest(string(s.content))}}))
	}
	ready := func(want string) {
		t.Helper()
		controllertest.Eventually(t, w.Objects, "Ready "+want, func() bool {
			is, _, _ := controllertest.Condition(controllertest.MustGet(t, w.Objects, gvr.Modules, "", "tabs"), module.Ready)
			_, serving := m.get("tabs")
			return is == want && serving == (want == "True")
		})
	}
	revoke()
	m, stop = w.start(t)
	defer stop()
	ready("False")
	if got := m.triedInOrder(); got != "" {
		t.Errorf("loaded %q", got)
	}
	for range 2 { // once it was never loaded, and once withdrawn
		if err := w.Delete(t.Context(), gvr.Trusts, "", "two", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		ready("True")
		revoke()
		ready("False")
	}
}

// A module that is being compiled for long does not keep what is revoked in service.
func TestRevocationWaitsForNoLoad(t *testing.T) {
	s := newScene(t)
	w := s.world()
	m := &heldModules{memoryModules: memoryModules{serving: map[string]plugins.Revision{}}, begun: make(chan struct{}, 1), release: make(chan struct{})}
	loader := load.New(w.Objects, m, w.content, trust.New(w.Objects))
	stop := controllertest.Start(t, w.Objects, loader, load.Revocation{Controller: loader})
	defer stop()
	controllertest.MustCreate(t, w.Objects, gvr.Modules, s.module())
	wantTrusted(t, w, &m.memoryModules, signed, true)
	held := wasmText("held")
	file := join(t, held, s.good.sign(t, held, ""))
	w.content.blobs[digest(string(file))] = file
	changeModule(t, w, func(o *unstructured.Unstructured) {
		o.SetAnnotations(map[string]string{module.ContentAnnotation: digest(string(file))})
	})
	<-m.begun
	controllertest.MustCreate(t, w.Objects, gvr.Trusts, trustOf("two", tree{"revokedDigests": []any{digest(string(s.content))}}))
	controllertest.Eventually(t, w.Objects, "it serves no more", func() bool { _, serving := m.get("tabs"); return !serving })
	controllertest.MustCreate(t, w.Objects, gvr.Trusts, trustOf("three", tree{"revokedDigests": []any{digest(string(held))}}))
	close(m.release)
	wantTrusted(t, w, &m.memoryModules, "False Revoked", false)
	if m.held() {
		t.Error("what was revoked while it was compiled served for a moment")
	}
}

// heldModules take their time with what says so.
type heldModules struct {
	memoryModules
	begun, release chan struct{}
	served         atomic.Bool // what is held
}

func (m *heldModules) held() bool { return m.served.Load() }

func (m *heldModules) Set(ctx context.Context, name string, rev plugins.Revision) error {
	held := strings.Contains(unsigned(rev), "held")
	if held {
		m.begun <- struct{}{}
		<-m.release
	}
	err := m.memoryModules.Set(ctx, name, rev)
	m.served.Store(m.served.Load() || held && err == nil)
	return err
}

// The file is in force beside the objects; one that cannot be read leaves the one before.
func TestAFileOfPolicies(t *testing.T) {
	s := newScene(t)
	path := filepath.Join(t.TempDir(), "trust.yaml")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path+".new", []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(path+".new", path); err != nil {
			t.Fatal(err)
		}
	}
	file := func(name, spec string) string {
		return "apiVersion: wasmgate.dev/v1\nkind: ModuleTrust\nmetadata: {name: " + name + "}\nspec:\n" + spec
	}
	demands := func(k keyPair) string {
		return "  authorities:\n  - name: ops\n    key: |\n      " + strings.ReplaceAll(strings.TrimSpace(k.public), "\n", "\n      ") + "\n"
	}
	w := s.world()
	policies := trust.New(w.Objects)
	for text, want := range map[string]string{
		"":                                     "no ModuleTrust",
		"kind: Pod":                            "document 1: it is no ModuleTrust",
		file("a", demands(s.good)+"  more: 1"): "more",
		file("a", demands(s.good)) + "---\n" + file("b", "  authorities: [{name: a, key: x}]\n"): "document 2: spec.authorities[0].key",
		file("a", "  {}\n"):          "spec.authorities: Required",
		strings.Repeat("#", 1<<20+1): "more than",
		file("A b", demands(s.good)): "it is no ModuleTrust",
		"\xff\xfe":                   "document 1",
	} {
		write(text)
		if err := policies.ReadFile(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text[:min(len(text), 80)], err)
		}
	}
	write(file("a", demands(s.good)) + "---\n")
	if err := policies.ReadFile(path); err != nil {
		t.Fatal(err)
	}
	m := &memoryModules{serving: map[string]plugins.Revision{}}
	stop := controllertest.Start(t, w.Objects, load.New(w.Objects, m, w.content, policies))
	defer stop()
	told := make(chan error, 100)
	go policies.Follow(t.Context(), path, func(err error) { told <- err })
	controllertest.MustCreate(t, w.Objects, gvr.Modules, s.module())
	wantTrusted(t, w, m, `True Signed signed by ops of ModuleTrust "a (file)"`, true)
	write("nonsense")
	if err := <-told; err == nil {
		t.Error("nonsense was taken")
	}
	wantTrusted(t, w, m, `True Signed signed by ops of ModuleTrust "a (file)"`, true)
	write(file("a", demands(s.other)))
	if err := <-told; err != nil {
		t.Error(err)
	}
	wantTrusted(t, w, m, `False SignatureUntrusted ModuleTrust "a (file)"`, false)
}

// Who converts for a definition that a policy names is judged by it, from when it does to
// when it does not.
func TestWhoConvertsForADefinitionIsJudged(t *testing.T) {
	s := newScene(t)
	s.file = s.content
	s.demand(tree{"definitions": []any{"others.example.com", "crontabs.example.com"}}, s.good)
	w := s.world()
	m, stop := w.start(t)
	defer stop()
	controllertest.MustCreate(t, w.Objects, gvr.Modules, s.module())
	wantTrusted(t, w, m, notDemanded, true)
	controllertest.MustCreate(t, w.Objects, gvr.Definitions, controllertest.CRDTree("crontabs", "CronTab", "v1", "v2"))
	bind := func(url string) {
		t.Helper()
		controllertest.MustChange(t, w.Objects, gvr.Definitions, "", "", "crontabs.example.com", func(o *unstructured.Unstructured) {
			if err := unstructured.SetNestedField(o.Object, url, "spec", "conversion", "webhook", "clientConfig", "url"); err != nil {
				t.Fatal(err)
			}
		})
	}
	bind("wasm://another")
	wantTrusted(t, w, m, notDemanded, true)
	bind("wasm://tabs")
	wantTrusted(t, w, m, "False Unsigned", false)
	bind("wasm://another")
	wantTrusted(t, w, m, notDemanded, true)
}
