package lossless_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/admission/admissiontest"
	"github.com/wasmgate/wasmgate/conversion/proof"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest/realengine"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/gateway/kinds/module/lossless"
	"github.com/wasmgate/wasmgate/gateway/resource"
	"github.com/wasmgate/wasmgate/gateway/resource/engine"
	"github.com/wasmgate/wasmgate/plugins"
)

// gate is an engine with the guard, over modules as the test says.
type gate struct {
	*engine.Engine
	*controllertest.Objects
	t      *testing.T
	report proof.Report
	proved int
	warned []string
	loaded []string
}

func newGate(t *testing.T) *gate {
	g := &gate{Objects: controllertest.New(), t: t}
	guard := lossless.NewGuard(g.Objects, g, gateContent{}, g)
	g.Engine = realengine.With(t, func(*engine.Engine) admission.Chain {
		return admission.Chain{Validators: []admission.Validator{guard}}
	}).Verbs
	controllertest.MustCreate(t, g.Objects, gvr.Modules, controllertest.ObjectTree("", "tabs"))
	return g
}

func (g *gate) Set(_ context.Context, name string, _ plugins.Revision) error {
	g.loaded = append(g.loaded, name)
	return nil
}

func (g *gate) Remove(name string) {
	g.loaded = slices.DeleteFunc(g.loaded, func(l string) bool { return l == name })
}

func (g *gate) Prove(_ context.Context, name string, _ *unstructured.Unstructured, _ []string, _ proof.Branches) (proof.Report, error) {
	if !slices.Contains(g.loaded, name) || name == "tabs" {
		g.t.Errorf("%q is proved, and loaded are %q", name, g.loaded)
	}
	g.proved++
	return g.report, nil
}

// gateContent has whatever is asked for.
type gateContent struct{}

func (gateContent) Get(context.Context, string) ([]byte, error) { return []byte("content"), nil }
func (gateContent) Digest([]byte) string                        { return "none" }

// module says what the module asks for, and which digest serves of the two.
func (g *gate) module(proof string, acknowledged ...any) {
	g.t.Helper()
	digest := "sha256:" + strings.Repeat("1", 64)
	controllertest.MustChange(g.t, g.Objects, gvr.Modules, "", "", "tabs", func(obj *unstructured.Unstructured) {
		obj.Object["spec"] = map[string]any{"proof": proof, "acknowledgedLoss": acknowledged, "source": map[string]any{"upload": map[string]any{"digest": digest}}}
	})
	controllertest.MustChange(g.t, g.Objects, gvr.Modules, "status", "", "tabs", func(obj *unstructured.Unstructured) {
		obj.Object["status"] = map[string]any{"digest": digest}
	})
}

// write creates a definition that the module converts for, or patches it; it compares
// the error, and how many proofs it took.
func (g *gate) write(patch string, proofs int, want string) {
	g.t.Helper()
	r := g.Catalog().Snapshot().Resource(gvr.Definitions)
	at := resource.Target{Resource: r, Version: r.Def.Version(r.Def.StorageVersion)}
	g.warned, g.proved = nil, 0
	options := resource.WriteOptions{Warn: func(text string) { g.warned = append(g.warned, text) }}
	var err error
	if patch == "" {
		_, err = g.Engine.Create(g.t.Context(), at, []byte(`{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"ks.example.com"},"spec":{
			"group":"example.com","scope":"Cluster","names":{"plural":"ks","singular":"k","kind":"K","listKind":"KList"},
			"conversion":{"strategy":"Webhook","webhook":{"conversionReviewVersions":["v1"],"clientConfig":{"url":"wasm://tabs"}}},
			"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}},{"name":"v2","served":true,"storage":false,"schema":{"openAPIV3Schema":{"type":"object"}}}]}}`), options)
	} else {
		at.Name = "ks.example.com"
		_, err = g.Engine.Patch(g.t.Context(), at, types.MergePatchType, []byte(patch), options)
	}
	if got := fmt.Sprint(err); !strings.Contains(got, want) {
		g.t.Errorf("the answer is %s, want %s", got, want)
	}
	if g.proved != proofs {
		g.t.Errorf("%d proofs were made, want %d", g.proved, proofs)
	}
	if len(g.loaded) > 0 {
		g.t.Errorf("%q are loaded still", g.loaded)
	}
}

// A definition of which its module loses something is refused where the module asks for
// it, with the field, the pair and an object; it is proved once.
func TestADefinitionIsNotBoundToWhatLosesIt(t *testing.T) {
	g := newGate(t)
	g.report = proof.Report{Verdict: proof.Lossy, Losses: []proof.Loss{
		{Pair: proof.Pair{From: "v1", To: "v2"}, Problem: proof.Lost, Field: "spec.a", Had: `"x"`, Example: "spec:\n  a: x\n"}}}
	const refused = `spec.conversion.webhook.clientConfig.url: Invalid value: "tabs": the module loses what it converts: Lost of spec.a, v1 to v2 and back ("x" becomes nothing); for example` + "\nspec:\n  a: x"
	g.module("Enforce")
	g.write("", 1, refused)
	g.write("", 0, refused)            // what is known is not proved again
	g.module("Enforce", "spec.b")      // which might be all
	g.write("", 1, "acknowledgedLoss") // and is not
	g.module("Report")                 // which informs
	g.write("", 0, "<nil>")            // and refuses nothing
	g.module("Enforce")                // what is bound stays changeable
	g.write(`{"metadata":{"labels":{"a":"b"}}}`, 0, "<nil>")
	g.write(`{"spec":{"names":{"shortNames":["kk"]}}}`, 0, "<nil>")
	g.write(`{"spec":{"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","description":"other"}}},{"name":"v2","served":true,"storage":false,"schema":{"openAPIV3Schema":{"type":"object"}}}]}}`, 1, refused)
	g.write(`{"spec":{"conversion":{"strategy":"None","webhook":null}}}`, 0, "<nil>")
}

// What nobody could prove is let in, with a warning that says why.
func TestADefinitionIsBoundToWhatIsNotProved(t *testing.T) {
	g := newGate(t)
	g.report = proof.Report{Verdict: proof.Unknown, Why: "the time is up"}
	g.module("Enforce")
	g.write("", 1, "<nil>")
	if want := `spec.conversion.webhook.clientConfig.url: it is not proved that WasmModule "tabs" loses nothing: the time is up`; !slices.Contains(g.warned, want) {
		t.Errorf("the warnings are %q, want %q", g.warned, want)
	}
	controllertest.MustChange(t, g.Objects, gvr.Modules, "status", "", "tabs", func(obj *unstructured.Unstructured) { obj.Object["status"] = map[string]any{} })
	g.write(`{"spec":{"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","description":"other"}}},{"name":"v2","served":true,"storage":false,"schema":{"openAPIV3Schema":{"type":"object"}}}]}}`, 0, "<nil>")
	if !strings.Contains(fmt.Sprint(g.warned), "does not serve yet") {
		t.Errorf("the warnings are %q", g.warned)
	}
}

// Only definitions are looked at that somebody writes as such; a module that cannot be read
// is told, unless there is none.
func TestWhatTheGuardLooksAt(t *testing.T) {
	g := newGate(t)
	g.report = proof.Report{Verdict: proof.Lossy, Losses: []proof.Loss{{Problem: proof.Lost, Field: "spec.a"}}}
	g.module("Enforce")
	bound := controllertest.CRDTree("ks", "K", "v1", "v2")
	if err := unstructured.SetNestedField(bound, "wasm://tabs", "spec", "conversion", "webhook", "clientConfig", "url"); err != nil {
		t.Fatal(err)
	}
	definitions := schema.GroupVersionResource{Group: gvr.Definitions.Group, Version: "v1", Resource: gvr.Definitions.Resource}
	others := schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "others"}
	for name, c := range map[string]struct {
		a     admissiontest.Attributes
		fails int
		want  string
	}{
		"a definition":            {admissiontest.Attributes{Resource: definitions, Objects: &admissiontest.Objects{After: bound}}, 0, "the module loses what it converts"},
		"another kind":            {admissiontest.Attributes{Resource: others, Objects: &admissiontest.Objects{After: bound}}, 0, ""},
		"its status":              {admissiontest.Attributes{Resource: definitions, Subresource: "status", Objects: &admissiontest.Objects{After: bound}}, 0, ""},
		"the gateway's own":       {admissiontest.Attributes{Resource: definitions, Own: true, Objects: &admissiontest.Objects{After: bound}}, 0, ""},
		"a deletion":              {admissiontest.Attributes{Resource: definitions, Operation: admission.Delete, Objects: &admissiontest.Objects{}}, 0, ""},
		"while the store is away": {admissiontest.Attributes{Resource: definitions, Objects: &admissiontest.Objects{After: bound}}, 1, controllertest.ErrAway.Error()},
	} {
		guard := lossless.NewGuard(&controllertest.Failing{Engine: g.Objects, Number: c.fails}, g, gateContent{}, g)
		err := guard.Validate(t.Context(), &c.a)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := g.Objects.Delete(t.Context(), gvr.Modules, "", "tabs", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	a := admissiontest.Attributes{Resource: definitions, Objects: &admissiontest.Objects{After: bound}}
	if err := lossless.NewGuard(g.Objects, g, gateContent{}, g).Validate(t.Context(), &a); err != nil {
		t.Errorf("without a module: %v", err)
	}
}
