package conversionrules

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest/realengine"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/gateway/resource"
	"github.com/wasmgate/wasmgate/gateway/resource/engine"
	"github.com/wasmgate/wasmgate/gateway/resource/local"
)

// gate is an engine with the guard.
type gate struct {
	*testing.T
	*engine.Engine
}

func newGate(t *testing.T) gate {
	return gate{t, realengine.With(t, func(e *engine.Engine) admission.Chain {
		return admission.Chain{Validators: []admission.Validator{newGuard(local.Part(e, "test"))}}
	}).Verbs}
}

// write creates an object, or with a name patches the one that has it, and compares the
// error and the warnings.
func (g gate) write(kind schema.GroupResource, name, body, wantErr, wantWarned string) {
	g.Helper()
	r := g.Catalog().Snapshot().Resource(kind)
	at := resource.Target{Resource: r, Version: r.Def.Version(r.Def.StorageVersion), Name: name}
	var warned []string
	options := resource.WriteOptions{Warn: func(text string) { warned = append(warned, text) }}
	var err error
	if name == "" {
		_, err = g.Create(g.Context(), at, []byte(body), options)
	} else {
		_, err = g.Patch(g.Context(), at, types.MergePatchType, []byte(body), options)
	}
	if got := fmt.Sprint(err); !strings.Contains(got, wantErr) {
		g.Errorf("%s: the answer is %s, want %s", body, got, wantErr)
	}
	if got := strings.Join(warned, "; "); !strings.Contains(got, wantWarned) || wantWarned == "" && got != "" {
		g.Errorf("%s: the warnings are %q, want %q", body, got, wantWarned)
	}
}

const definition = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"ks.example.com"},"spec":{
	"group":"example.com","scope":"Cluster","names":{"plural":"ks","singular":"k","kind":"K","listKind":"KList"},
	"conversion":{"strategy":"Webhook","webhook":{"conversionReviewVersions":["v1"],"clientConfig":{"url":"wasm://rules/ks"}}},
	"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","properties":{"a":{"type":"string"},"zone":{"type":"string"}}}}},
		{"name":"v2","served":true,"storage":false,"schema":{"openAPIV3Schema":{"type":"object","properties":{"b":{"type":"string"}}}}}]}}`

func specOf(proof, more string) string {
	return `{"spec":{"proof":` + proof + `,"conversions":[{"from":"v1","to":"v2","rules":[{"rename":{"field":"a","to":"b"}}` + more + `]}]}}`
}

// A definition of which rules lose something is refused where they ask for it, and so is a
// change by which they would; one that names rules that are not there is warned of.
func TestRulesThatLoseAreNotBound(t *testing.T) {
	g := newGate(t)
	keep := `,{"keep":{"field":"zone"}}`
	const refused = `the rules lose what they convert for ks.example.com: Lost of zone, v1 to v2 and back`
	url := `"ks": ` + refused
	g.write(gvr.Definitions, "", strings.ReplaceAll(strings.ReplaceAll(definition, "ks", "others"), "KList", "OtherList"), "<nil>", `there are no ConversionRules "others"; until there are, objects cannot be converted`)
	g.write(gvr.Rules, "", `{"apiVersion":"wasmgate.dev/v1","kind":"ConversionRules","metadata":{"name":"ks"},`+specOf(`"Enforce"`, "")[1:], "<nil>", "")
	g.write(gvr.Definitions, "", definition, "spec.conversion.webhook.clientConfig.url: Invalid value: "+url, "")
	g.write(gvr.Rules, "ks", `{"spec":{"acknowledgedLoss":["zone"]}}`, "<nil>", "") // bound to nothing
	g.write(gvr.Definitions, "", definition, "<nil>", "")
	g.write(gvr.Rules, "ks", `{"spec":{"acknowledgedLoss":null}}`, "spec.conversions: Invalid value: "+url, "")
	g.write(gvr.Rules, "ks", `{"metadata":{"labels":{"a":"b"}}}`, "<nil>", "") // which changes no rule
	g.write(gvr.Rules, "ks", strings.Replace(specOf(`"Enforce"`, keep), `"conversions"`, `"acknowledgedLoss":null,"conversions"`, 1), "<nil>", "")
	more := strings.Replace(definition, `"zone":`, `"extra":{"type":"string"},"zone":`, 1)
	g.write(gvr.Definitions, "ks.example.com", more[:strings.Index(more, `"metadata"`)]+more[strings.Index(more, `"spec"`):], strings.Replace(refused, "zone", "extra", 1), "")
	g.write(gvr.Rules, "ks", specOf(`"Enforce"`, ""), url, "")
	g.write(gvr.Rules, "ks", specOf(`"Report"`, ""), "<nil>", "")                                // which informs
	g.write(gvr.Rules, "ks", `{"spec":{"proof":"Enforce"}}`, url, "")                            // and is not what it is to be
	g.write(gvr.Definitions, "ks.example.com", `{"metadata":{"labels":{"a":"b"}}}`, "<nil>", "") // what is bound stays changeable
}

// Rules that are made after a definition that names them are judged as if they came first.
func TestRulesThatLoseAreNotMadeForADefinition(t *testing.T) {
	g := newGate(t)
	rules := func(proof, more string) string {
		return `{"apiVersion":"wasmgate.dev/v1","kind":"ConversionRules","metadata":{"name":"ks"},` + specOf(proof, more)[1:]
	}
	g.write(gvr.Definitions, "", definition, "<nil>", `there are no ConversionRules "ks"`)
	g.write(gvr.Rules, "", rules(`"Enforce"`, ""), `spec.conversions: Invalid value: "ks": the rules lose what they convert for ks.example.com: Lost of zone, v1 to v2 and back`, "")
	g.write(gvr.Rules, "", rules(`"Enforce"`, `,{"keep":{"field":"zone"}}`), "<nil>", "")
}

// Rules that convert though they would be refused now are proved as all others.
func TestStoredRulesThatLoseAreNotBound(t *testing.T) {
	g := newGate(t)
	g.write(gvr.Rules, "", rulesObject+specOf(`"Enforce"`, shared)[1:], "<nil>", "") // as nothing checks them here
	g.write(gvr.Definitions, "", definition, `"ks": the rules lose what they convert for ks.example.com: Lost of zone, v1 to v2 and back`, "")
}

// Rules that nothing is bound to have nothing to prove: they wait for no proofs of others.
func TestRulesThatAreNotBoundWaitForNobody(t *testing.T) {
	guarded := newGuard(nil)
	g := gate{t, realengine.With(t, func(e *engine.Engine) admission.Chain {
		guarded.objects = local.Part(e, "test")
		return admission.Chain{Validators: []admission.Validator{guarded}}
	}).Verbs}
	guarded.turn <- struct{}{}
	g.write(gvr.Rules, "", `{"apiVersion":"wasmgate.dev/v1","kind":"ConversionRules","metadata":{"name":"ks"},`+specOf(`"Enforce"`, "")[1:], "<nil>", "")
	g.write(gvr.Rules, "ks", `{"spec":{"acknowledgedLoss":["zone"]}}`, "<nil>", "")
}
