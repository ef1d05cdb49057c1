package proofs_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/conversion/proof"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest/realengine"
	"github.com/wasmgate/wasmgate/gateway/kinds/definition/proofs"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/gateway/resource"
	"github.com/wasmgate/wasmgate/gateway/resource/engine"
)

// gate is an engine with the guard, of webhooks as the test says.
type gate struct {
	*testing.T
	*engine.Engine
	report proof.Report
	err    error
	asked  []proofs.Bounds
	hold   chan struct{} // proofs end once it is closed; nil for at once
	begun  chan struct{}
}

func newGate(t *testing.T) *gate {
	g := &gate{T: t, begun: make(chan struct{}, 10)}
	g.Engine = realengine.With(t, func(*engine.Engine) admission.Chain {
		return admission.Chain{Validators: []admission.Validator{proofs.NewGuard(g.prove)}}
	}).Verbs
	return g
}

func (g *gate) prove(_ context.Context, _ *unstructured.Unstructured, b proofs.Bounds) (proof.Report, error) {
	g.asked = append(g.asked, b)
	g.begun <- struct{}{}
	if g.hold != nil {
		<-g.hold
	}
	return g.report, g.err
}

// write creates the definition, or with a name patches it, and returns the error and the
// warnings.
func (g *gate) write(ctx context.Context, name, body string) (said, warned string) {
	r := g.Catalog().Snapshot().Resource(gvr.Definitions)
	at := resource.Target{Resource: r, Version: r.Def.Version(r.Def.StorageVersion), Name: name}
	var all []string
	options := resource.WriteOptions{Warn: func(text string) { all = append(all, text) }}
	var err error
	if name == "" {
		_, err = g.Create(ctx, at, []byte(body), options)
	} else {
		_, err = g.Patch(ctx, at, types.MergePatchType, []byte(body), options)
	}
	return fmt.Sprint(err), strings.Join(all, "; ")
}

// expect compares what is said of a write, and how many proofs it took.
func (g *gate) expect(name, body string, proved int, wantErr, wantWarned string) {
	g.Helper()
	g.asked = nil
	said, warned := g.write(g.Context(), name, body)
	if !strings.Contains(said, wantErr) || !strings.Contains(warned, wantWarned) || wantWarned == "" && warned != "" || len(g.asked) != proved {
		g.Errorf("%.80s: %s, warned of %q, in %d proofs; want %s, %q in %d", body, said, warned, len(g.asked), wantErr, wantWarned, proved)
	}
}

const (
	hooked   = "ks.example.com"
	lossless = "<nil>"
	refused  = `spec.conversion.webhook.clientConfig: Invalid value: "https://hooks.example.com/c": the webhook loses what it converts: Lost of spec.a, v1 to v2 and back (1 becomes nothing)`
)

// definition is one that asks for something, and is converted for as a client config says.
func definition(name, asks, config string) string {
	return `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"` + name + `.example.com","annotations":{` + asks + `}},"spec":{
	"group":"example.com","scope":"Cluster","names":{"plural":"` + name + `","singular":"` + name + `one","kind":"K` + name + `","listKind":"K` + name + `List"},
	"conversion":{"strategy":"Webhook","webhook":{"conversionReviewVersions":["v1"],"clientConfig":{` + config + `}}},
	"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}},{"name":"v2","served":true,"storage":false,"schema":{"openAPIV3Schema":{"type":"object"}}}]}}`
}

func asking(value string) string { return `"` + proofs.Annotation + `":"` + value + `"` }

var loses = proof.Report{Verdict: proof.Lossy, Losses: []proof.Loss{{Pair: proof.Pair{From: "v1", To: "v2"}, Problem: proof.Lost, Field: "spec.a", Had: "1", Example: "spec: {a: 1}\n"}}}

// A webhook that loses something is not bound where the definition asks for it, with the field
// named; what is bound stays changeable.
func TestWebhooksThatLoseAreNotBound(t *testing.T) {
	g := newGate(t)
	const url = `"url":"https://hooks.example.com/c"`
	g.report = loses
	g.expect("", definition("a", "", url), 0, lossless, "")
	g.expect("", definition("b", asking("Report"), url), 0, lossless, "")
	g.expect("", definition("c", asking("enforce"), url), 0, lossless, `want Report or Enforce, got "enforce": nothing is proved`)
	g.expect("", definition("d", asking("Enforce"), `"url":"wasm://tabs"`), 0, lossless, "")
	g.expect("", definition("ks", asking("Enforce"), url), 1, refused, "")
	g.expect("", definition("ks", asking("Enforce"), `"service":{"namespace":"ns","name":"hook"}`), 1, `Invalid value: "svc/ns/hook": the webhook loses`, "")

	g.report = proof.Report{Verdict: proof.Lossless}
	g.expect("", definition("ks", asking("Enforce")+`,"`+proofs.AcknowledgedAnnotation+`":"spec.b"`, url), 1, lossless, "")
	if b := g.asked[0]; !slices.Equal(b.Acknowledged, []string{"spec.b"}) || b.Budget <= 0 || b.Budget > 15*time.Second {
		t.Errorf("proved with %+v", b)
	}
	g.report = loses
	g.expect(hooked, `{"metadata":{"labels":{"a":"b"}},"spec":{"names":{"shortNames":["k"]}}}`, 0, lossless, "")
	g.expect(hooked, `{"spec":{"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}},{"name":"v3","served":true,"storage":false,"schema":{"openAPIV3Schema":{"type":"object"}}}]}}`, 1, refused, "")
	g.expect("b.example.com", `{"metadata":{"annotations":{`+asking("Enforce")+`}}}`, 0, lossless, "") // what serves goes on
}

// What nobody can prove is let in, with a warning, and is judged once there are authorities to
// ask by; other ones change nothing.
func TestWebhooksThatDoNotAnswerAreBound(t *testing.T) {
	g := newGate(t)
	g.report = proof.Report{Verdict: proof.Unknown, Why: "nobody answers"}
	g.expect("", definition("ks", asking("Enforce"), `"url":"https://hooks.example.com/c"`), 1, lossless, "spec.conversion.webhook.clientConfig: it is not proved that the webhook loses nothing: nobody answers")
	bundle := func(text string) string {
		return `{"spec":{"conversion":{"webhook":{"clientConfig":{"caBundle":"` + text + `"}}}}}`
	}
	g.report = loses
	g.expect(hooked, bundle("YQ=="), 1, refused, "")
	g.report, g.err = proof.Report{}, errors.New("no such schema")
	g.expect(hooked, bundle("YQ=="), 1, lossless, "no such schema")
	g.expect(hooked, bundle("Yg=="), 0, lossless, "")
}

// One is proved at a time: who waits for too long is let in, and who is gone is told so.
func TestProofsOfWebhooksTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(t)
		g.report, g.hold = loses, make(chan struct{})
		const url = `"url":"https://hooks.example.com/c"`
		first, third := make(chan string), make(chan string)
		go func() {
			said, _ := g.write(t.Context(), "", definition("ks", asking("Enforce"), url))
			first <- said
		}()
		<-g.begun
		if said, warned := g.write(t.Context(), "", definition("b", asking("Enforce"), url)); said != lossless || !strings.Contains(warned, "others are being proved") {
			t.Errorf("who waits is told %s, and warned of %q", said, warned)
		}
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			said, warned := g.write(ctx, "", definition("c", asking("Enforce"), url))
			third <- said + warned
		}()
		synctest.Wait() // it waits for its turn
		cancel()
		if said := <-third; !strings.Contains(said, "context canceled") || strings.Contains(said, "proved") {
			t.Errorf("who is gone is told %s", said)
		}
		close(g.hold)
		if said := <-first; !strings.Contains(said, refused) {
			t.Error(said)
		}
		if len(g.asked) != 1 {
			t.Errorf("%d were proved", len(g.asked))
		}
	})
}
