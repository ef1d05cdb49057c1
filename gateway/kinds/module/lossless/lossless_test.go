package lossless_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/wasmgate/wasmgate/conversion/proof"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/gateway/kinds/module"
	"github.com/wasmgate/wasmgate/gateway/kinds/module/lossless"
	"github.com/wasmgate/wasmgate/plugins"
)

// world is everything that the controller knows, as the test says.
type world struct {
	*controllertest.Objects
	t      *testing.T
	report proof.Report
	refuse error
	loaded []string // what is loaded at the moment
	// branches are what is told those of what is loaded.
	branches proof.Branches

	mu     sync.Mutex // who is woken by a timer has seen nothing of the test
	proved []string   // guarded by mu

	tried chan time.Time // when each proof was made, for who waits for it
}

// next waits until something is proved, and tells when; the zero time is never.
func (w *world) next() time.Time {
	select {
	case at := <-w.tried:
		return at
	case <-time.After(24 * time.Hour): // by the bubble's clock
		return time.Time{}
	}
}

func (w *world) Set(_ context.Context, name string, rev plugins.Revision) error {
	if string(rev.Bytes) != "bytes of "+rev.Digest {
		w.t.Errorf("loaded with %q", rev.Bytes)
	}
	w.branches = rev.Branches
	w.loaded = append(w.loaded, name)
	return w.refuse
}

func (w *world) Remove(name string) { w.loaded = nil }

func (w *world) Digest([]byte) string { return "none" }

// contents are those of the world: its own Get is that of objects.
type contents struct{ *world }

func (contents) Get(_ context.Context, digest string) ([]byte, error) {
	return []byte("bytes of " + digest), nil
}

func (w *world) Prove(_ context.Context, name string, d *unstructured.Unstructured, acknowledged []string, branches proof.Branches) (proof.Report, error) {
	if branches != w.branches || branches == proof.Branches((*plugins.Branches)(nil)) {
		w.t.Errorf("led by %v, and what is loaded tells %v", branches, w.branches)
	}
	if len(w.loaded) != 1 || w.loaded[0] != name || name != "tabs@proof" {
		w.t.Errorf("%s is asked for, and loaded are %q", name, w.loaded)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.proved = append(w.proved, fmt.Sprint(d.GetName(), acknowledged))
	select {
	case w.tried <- time.Now():
	default: // nobody waits
	}
	return w.report, nil
}

func (w *world) define(converter string) {
	w.t.Helper()
	controllertest.MustCreate(w.t, w.Objects, gvr.Definitions, map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": map[string]any{"name": "ks.example.com"},
		"spec": map[string]any{"names": map[string]any{"kind": "K"},
			"versions":   []any{map[string]any{"name": "v1", "served": true, "storage": true}, map[string]any{"name": "v2", "served": true}},
			"conversion": map[string]any{"webhook": map[string]any{"clientConfig": map[string]any{"url": "wasm://" + converter}}}},
	})
}

// change changes the module, and lets the revision with that digest serve.
func (w *world) change(digest string, spec map[string]any) {
	w.t.Helper()
	controllertest.MustChange(w.t, w.Objects, gvr.Modules, "", "", "tabs", func(obj *unstructured.Unstructured) {
		spec["source"] = map[string]any{"upload": map[string]any{"digest": digest}}
		obj.Object["spec"] = spec
	})
	controllertest.MustChange(w.t, w.Objects, gvr.Modules, "status", "", "tabs", func(obj *unstructured.Unstructured) {
		if err := unstructured.SetNestedField(obj.Object, digest, "status", "digest"); err != nil {
			w.t.Error(err)
		}
	})
}

// expect compares the condition, and what was proved since the last time.
func (w *world) expect(want string, proved ...string) {
	w.t.Helper()
	synctest.Wait()
	status, reason, message := controllertest.Condition(controllertest.MustGet(w.t, w.Objects, gvr.Modules, "", "tabs"), module.Lossless)
	if got := strings.TrimSpace(fmt.Sprintf("%s %s %s", status, reason, message)); got != want {
		w.t.Errorf("the condition is %q, want %q", got, want)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if fmt.Sprint(w.proved) != fmt.Sprint(proved) {
		w.t.Errorf("proved were %q, want %q", w.proved, proved)
	}
	w.proved = nil
}

// A module is proved for the definitions that it converts for, once for each revision
// and state of a definition, and only if it asks for it.
func TestWhatAModuleLosesIsSaid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{Objects: controllertest.New(), t: t, report: proof.Report{Verdict: proof.Lossless, Tried: 7}}
		controllertest.MustCreate(t, w.Objects, gvr.Modules, controllertest.ObjectTree("", "tabs"))
		defer controllertest.Start(t, w.Objects, lossless.New(w.Objects, w, contents{w}, w))()
		one, two := "sha256:"+strings.Repeat("1", 64), "sha256:"+strings.Repeat("2", 64)
		w.define("tabs")
		w.change(one, map[string]any{})
		w.expect("") // nobody asks
		w.change(one, map[string]any{"proof": "Report"})
		w.expect("True NothingLost customresourcedefinitions/ks.example.com: 7 objects came back as they were", "ks.example.com[]")
		controllertest.MustChange(t, w.Objects, gvr.Modules, "", "", "tabs", func(obj *unstructured.Unstructured) { obj.SetLabels(map[string]string{"a": "b"}) })
		w.expect("True NothingLost customresourcedefinitions/ks.example.com: 7 objects came back as they were")

		w.report = proof.Report{Verdict: proof.Lossy, Losses: []proof.Loss{
			{Pair: proof.Pair{From: "v1", To: "v2"}, Problem: proof.Lost, Field: "spec.a", Had: `"x"`, Example: "spec:\n  a: x\n"},
			{Pair: proof.Pair{From: "v2", To: "v1"}, Problem: proof.Lost, Field: "spec.b"}}}
		w.change(two, map[string]any{"proof": "Report"})
		w.expect("False FieldsLost customresourcedefinitions/ks.example.com: Lost of spec.a, v1 to v2 and back (\"x\" becomes nothing); also spec.b; for example\nspec:\n  a: x", "ks.example.com[]")
		w.report = proof.Report{Verdict: proof.Unknown, Why: "the time is up"}
		w.change(two, map[string]any{"proof": "Report", "acknowledgedLoss": []any{"spec.a", "spec.b"}})
		w.expect("Unknown NotProved customresourcedefinitions/ks.example.com: the time is up", "ks.example.com[spec.a spec.b]")
		w.refuse = &plugins.LoadError{Module: "tabs@proof", Reason: "SafeMode", Detail: "no"}
		w.change(one, map[string]any{"proof": "Report"})
		w.expect("Unknown NotProved customresourcedefinitions/ks.example.com: " + errors.Unwrap(fmt.Errorf("%w", w.refuse)).Error())
		w.refuse = nil
		controllertest.MustChange(t, w.Objects, gvr.Definitions, "", "", "ks.example.com", func(obj *unstructured.Unstructured) {
			obj.Object["spec"].(map[string]any)["conversion"] = map[string]any{"strategy": "None"}
		})
		w.expect("") // nothing converts with it
	})
}

// A proof that ran out of time is made again, ever later, and not for ever.
func TestAProofWithoutTimeIsMadeAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{Objects: controllertest.New(), t: t, report: proof.Report{Verdict: proof.Unknown, Why: "the time is up", Again: true}, tried: make(chan time.Time, 100)}
		controllertest.MustCreate(t, w.Objects, gvr.Modules, controllertest.ObjectTree("", "tabs"))
		defer controllertest.Start(t, w.Objects, lossless.New(w.Objects, w, contents{w}, w))()
		w.define("tabs")
		w.change("sha256:"+strings.Repeat("1", 64), map[string]any{"proof": "Report"})
		const unknown = "Unknown NotProved customresourcedefinitions/ks.example.com: the time is up"
		w.expect(unknown, "ks.example.com[]")
		last, pause := w.next(), module.AttemptPause
		for n := range module.MaxAttempts - 1 {
			now := w.next()
			if took := now.Sub(last); took < pause || took > pause+2*time.Second {
				t.Errorf("the attempt %d is made after %s, want %s", n+2, took, pause)
			}
			last = now
			w.expect(unknown, "ks.example.com[]")
			if got := module.StatusOf(controllertest.MustGet(t, w.Objects, gvr.Modules, "", "tabs")).Proofs; len(got) != 1 || got[0].Attempts != int64(n)+2 {
				t.Errorf("after %d more attempts the status has %+v", n+1, got)
			}
			pause *= 2
		}
		if at := w.next(); !at.IsZero() {
			t.Errorf("it is proved again, after %s", at.Sub(last))
		}
		w.expect(unknown)
	})
}

// What was proved is known to another gateway, and so is what one that lets in no losses
// has to know of the revision that is to follow.
func TestWhatWasProvedIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{Objects: controllertest.New(), t: t, report: proof.Report{Verdict: proof.Lossless, Tried: 7}}
		controllertest.MustCreate(t, w.Objects, gvr.Modules, controllertest.ObjectTree("", "tabs"))
		stop := controllertest.Start(t, w.Objects, lossless.New(w.Objects, w, contents{w}, w))
		w.define("tabs")
		one, two := "sha256:"+strings.Repeat("1", 64), "sha256:"+strings.Repeat("2", 64)
		w.change(one, map[string]any{"proof": "Enforce"})
		const fine = "True NothingLost customresourcedefinitions/ks.example.com: 7 objects came back as they were"
		w.expect(fine, "ks.example.com[]")
		stop()
		stop = controllertest.Start(t, w.Objects, lossless.New(w.Objects, w, contents{w}, w))
		w.expect(fine)

		w.report = proof.Report{Verdict: proof.Lossy, Losses: []proof.Loss{{Pair: proof.Pair{From: "v1", To: "v2"}, Problem: proof.Lost, Field: "spec.a", Example: "spec: {}\n"}}}
		controllertest.MustChange(t, w.Objects, gvr.Modules, "", "", "tabs", func(obj *unstructured.Unstructured) {
			obj.Object["spec"] = map[string]any{"proof": "Enforce", "source": map[string]any{"upload": map[string]any{"digest": two}}}
		})
		w.expect(fine, "ks.example.com[]") // the condition is about what serves
		proofs := module.StatusOf(controllertest.MustGet(t, w.Objects, gvr.Modules, "", "tabs")).Proofs
		said := map[metav1.ConditionStatus]string{}
		for _, p := range proofs {
			said[p.Lossless] = p.Message
		}
		if len(proofs) != 2 || !strings.HasPrefix(said[metav1.ConditionFalse], "Lost of spec.a, v1 to v2 and back") {
			t.Errorf("the status has %+v", proofs)
		}
		stop()
		stop = controllertest.Start(t, w.Objects, lossless.New(w.Objects, w, contents{w}, w))
		defer stop()
		w.expect(fine)
	})
}

// In safe mode nothing is tried, however often, and nothing is held against a revision.
func TestInSafeModeNothingIsTried(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{Objects: controllertest.New(), t: t, refuse: &plugins.LoadError{Module: "tabs@proof", Reason: plugins.SafeMode, Detail: "no"}}
		controllertest.MustCreate(t, w.Objects, gvr.Modules, controllertest.ObjectTree("", "tabs"))
		defer controllertest.Start(t, w.Objects, lossless.New(w.Objects, w, contents{w}, w))()
		w.define("tabs")
		w.change("sha256:"+strings.Repeat("1", 64), map[string]any{"proof": "Enforce"})
		<-time.After(time.Hour) // by the bubble's clock
		synctest.Wait()
		got := module.StatusOf(controllertest.MustGet(t, w.Objects, gvr.Modules, "", "tabs")).Proofs
		if len(got) != 1 || got[0].Attempts != 1 || !got[0].Again() {
			t.Errorf("the status has %+v", got)
		}
	})
}
