package proofs_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/wasmgate/wasmgate/conversion/proof"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest"
	"github.com/wasmgate/wasmgate/gateway/kinds/definition/proofs"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/gateway/kinds/module"
)

// world is what the controller sees, as the test says.
type world struct {
	*controllertest.Objects
	t      *testing.T
	report proof.Report
	err    error

	mu           sync.Mutex // who is woken by a timer has seen nothing of the test
	proved       int        // guarded by mu
	acknowledged []string   // at last; guarded by mu
}

func (w *world) prove(_ context.Context, d *unstructured.Unstructured, b proofs.Bounds) (proof.Report, error) {
	if d.GetName() != controllertest.CronTabsDefinition {
		w.t.Errorf("%s is proved", d.GetName())
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.proved++
	w.acknowledged = b.Acknowledged
	return w.report, w.err
}

func (w *world) change(change func(obj *unstructured.Unstructured)) {
	w.t.Helper()
	controllertest.MustChange(w.t, w.Objects, gvr.Definitions, "", "", controllertest.CronTabsDefinition, change)
}

// another makes another generation of the definition.
func (w *world) another() {
	w.t.Helper()
	w.change(func(obj *unstructured.Unstructured) {
		names := obj.Object["spec"].(map[string]any)["names"].(map[string]any)
		short, _ := names["shortNames"].([]any)
		names["shortNames"] = append(short, fmt.Sprint("c", len(short)))
	})
}

func (w *world) ask(value string) {
	w.t.Helper()
	w.change(func(obj *unstructured.Unstructured) {
		obj.SetAnnotations(map[string]string{proofs.Annotation: value})
	})
}

// expect compares the condition, and how often something was proved since the last time.
func (w *world) expect(proved int, want string) {
	w.t.Helper()
	synctest.Wait()
	status, reason, message := controllertest.Condition(controllertest.MustGet(w.t, w.Objects, gvr.Definitions, "", controllertest.CronTabsDefinition), module.Lossless)
	if got := strings.TrimSpace(fmt.Sprint(status, " ", reason, " ", message)); got != want {
		w.t.Errorf("the condition is %q, want %q", got, want)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.proved != proved {
		w.t.Errorf("%d proofs were made, want %d", w.proved, proved)
	}
	w.proved = 0
}

// A webhook is proved where its definition asks for it, once for each state of that,
// whichever gateway looks; one that nobody reached is asked again, ever later.
func TestAWebhookIsProvedWhereADefinitionAsks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{Objects: controllertest.New(), t: t, report: proof.Report{Verdict: proof.Lossless, Tried: 7}}
		stop := controllertest.Start(t, w.Objects, proofs.New(w.Objects, w.prove))
		tree := controllertest.CRDTree("crontabs", "CronTab", "v1", "v2")
		convert := func(url string) map[string]any {
			return map[string]any{"strategy": "Webhook", "webhook": map[string]any{"conversionReviewVersions": []any{"v1"}, "clientConfig": map[string]any{"url": url}}}
		}
		tree["spec"].(map[string]any)["conversion"] = convert("https://hooks.example.com/convert")
		controllertest.MustCreate(t, w.Objects, gvr.Definitions, tree)
		const none, at = "", "customresourcedefinitions/crontabs.example.com: "
		w.expect(0, none) // nobody asks
		w.ask("Other")
		w.expect(0, none)
		w.ask("Report")
		w.expect(1, "True NothingLost "+at+"7 objects came back as they were")
		w.change(func(obj *unstructured.Unstructured) { obj.SetLabels(map[string]string{"a": "b"}) })
		w.expect(0, "True NothingLost "+at+"7 objects came back as they were")
		stop()
		stop = controllertest.Start(t, w.Objects, proofs.New(w.Objects, w.prove))
		w.expect(0, "True NothingLost "+at+"7 objects came back as they were")

		w.report = proof.Report{Verdict: proof.Lossy, Losses: []proof.Loss{{Pair: proof.Pair{From: "v1", To: "v2"}, Problem: proof.Lost, Field: "spec.a", Had: "1", Example: "spec: {a: 1}\n"}}}
		w.another()
		w.expect(1, "False FieldsLost "+at+"Lost of spec.a, v1 to v2 and back (1 becomes nothing); for example\nspec: {a: 1}")

		w.report = proof.Report{Verdict: proof.Unknown, Why: "nobody answers", Again: true}
		w.another()
		w.expect(1, "Unknown NotProved "+at+"nobody answers")
		<-time.After(24 * time.Hour) // by the bubble's clock: it is asked as often as it may
		w.expect(module.MaxAttempts-1, "Unknown NotProved "+at+"nobody answers")

		w.report, w.err = proof.Report{}, errors.New("no such schema")
		w.another()
		w.expect(1, "Unknown NotProved "+at+"no such schema")
		<-time.After(24 * time.Hour)
		w.expect(0, "Unknown NotProved "+at+"no such schema")

		w.change(func(obj *unstructured.Unstructured) {
			obj.Object["spec"].(map[string]any)["conversion"] = convert("wasm://tabs") // which has a condition of its own
		})
		w.expect(0, none)
		w.err, w.report = nil, proof.Report{Verdict: proof.Lossless, Tried: 7}
		w.change(func(obj *unstructured.Unstructured) {
			obj.Object["spec"].(map[string]any)["conversion"] = convert("https://hooks.example.com/convert")
		})
		w.expect(1, "True NothingLost "+at+"7 objects came back as they were")
		w.change(func(obj *unstructured.Unstructured) {
			obj.SetAnnotations(map[string]string{proofs.Annotation: "Enforce", proofs.AcknowledgedAnnotation: "spec.a, spec.b[*].c,"})
		})
		const meant = "\nproved with acknowledged losses [\"spec.a\" \"spec.b[*].c\"], versions that are only stored []"
		w.expect(1, "True NothingLost "+at+"7 objects came back as they were"+meant) // as other losses are meant
		if !slices.Equal(w.acknowledged, []string{"spec.a", "spec.b[*].c"}) {
			t.Errorf("%q are acknowledged", w.acknowledged)
		}
		w.change(func(obj *unstructured.Unstructured) { obj.SetLabels(map[string]string{"a": "c"}) })
		w.expect(0, "True NothingLost "+at+"7 objects came back as they were"+meant)
		stop()
		stop = controllertest.Start(t, w.Objects, proofs.New(w.Objects, w.prove))
		w.expect(0, "True NothingLost "+at+"7 objects came back as they were"+meant)
		stop() // what is meant changes while nobody looks
		w.ask("Report")
		stop = controllertest.Start(t, w.Objects, proofs.New(w.Objects, w.prove))
		w.expect(1, "True NothingLost "+at+"7 objects came back as they were")
		w.ask("")
		w.expect(0, none) // nobody asks any more
		stop()
	})
}
