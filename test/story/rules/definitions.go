package rules

import (
	"strings"

	"github.com/wasmgate/wasmgate/test/story"
)

// definitions are changes of definitions, and what else they say.
var definitions = map[string]func(*tale){
	"CRD-02 CRD-06 fields of definitions": func(t *tale) {
		good := t.definition(`{"type":"object"}`, ``)
		version := func(more string) string {
			return t.Define(`[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","properties":{"a":{"type":"string"},"n":{"type":"integer"}}}}}},` + more + `}]`)
		}
		edit := func(old, new string) string { return strings.Replace(good, old, new, 1) }
		t.defineTry(good, edit(`"scope":"Cluster",`, ``), edit(`"scope":"Cluster"`, `"scope":"cluster"`), edit(`"kind":"Thing"`, `"kind":"thing"`), edit(`"kind":"Thing"`, `"kind":""`), edit(`"kind":"Thing"`, `"kind":"Th ing"`), edit(`"kind":"Thing"`, `"kind":"Thing","listKind":"Thing"`), edit(`"singular":"thing"`, `"singular":"Thing"`), edit(`"singular":"thing"`, `"shortNames":["a b","T","t","t"]`), edit(`"singular":"thing"`, `"categories":["A","all"]`), edit(`"plural":"things"`, `"plural":"Things"`), edit(`"group":"`+t.Group(), `"group":"x`), edit(`"group":"`+t.Group()+`"`, `"group":""`),
			edit(`"name":"v1"`, `"name":"V1"`), edit(`"name":"v1"`, `"name":"v.1"`), edit(`"name":"v1"`, `"name":""`), edit(`"served":true`, `"served":false`), edit(`"storage":true`, `"storage":false`), edit(`"served":true,`, ``), edit(`"versions"`, `"version":"v1","versions"`), edit(`"versions"`, `"validation":{"openAPIV3Schema":{"type":"object"}},"versions"`), edit(`"versions"`, `"preserveUnknownFields":false,"versions"`), edit(`"versions"`, `"preserveUnknownFields":true,"versions"`), edit(`things.`, `others.`), edit(`"metadata":{`, `"metadata":{"annotations":{"api-approved.kubernetes.io":"x"},`),
			strings.ReplaceAll(good, t.Group(), "things.k8s.io"), edit(`[{"name":"v1"`, `[{"name":"v1","served":true,"storage":false,"schema":{"openAPIV3Schema":{"type":"object"}}},{"name":"v1"`), t.Define(`[]`), t.Define(`null`), t.Define(`[{"name":"v1","served":true,"storage":true}]`), t.Define(`[{"name":"v1","served":true,"storage":true,"schema":{}}]`))
		t.defineTry(version(`"subresources":{"scale":{"specReplicasPath":".spec.n","statusReplicasPath":".status.n"}}`), version(`"subresources":{"scale":{"specReplicasPath":"spec.n","statusReplicasPath":".spec.n"}}`), version(`"subresources":{"scale":{"specReplicasPath":".spec.n[0]","statusReplicasPath":".status.n","labelSelectorPath":".x"}}`), version(`"subresources":{"scale":{}}`), version(`"subresources":{"other":{}}`), version(`"additionalPrinterColumns":[{"name":"A","type":"string","jsonPath":".spec.a"}]`), version(`"additionalPrinterColumns":[{"name":"","type":"text","jsonPath":"spec"},{"name":"B","type":"integer","jsonPath":".[","format":"odd","priority":-1}]`), version(`"additionalPrinterColumns":[{"name":"A","type":"string"}]`),
			version(`"selectableFields":[{"jsonPath":".spec.a"}]`), version(`"selectableFields":[{"jsonPath":".spec.a"},{"jsonPath":".spec.a"},{"jsonPath":".spec.x"},{"jsonPath":".metadata.name"},{"jsonPath":"spec.n"},{"jsonPath":".spec"},{"jsonPath":""}]`), version(`"deprecated":true,"deprecationWarning":"gone soon"`), version(`"deprecationWarning":"not deprecated"`), version(`"deprecated":true,"deprecationWarning":""`), version(`"deprecated":true,"deprecationWarning":"a\nb"`))
	},
	"CRD-31 changes of definitions": func(t *tale) {
		two := func(a, b string) string {
			const s = `,"schema":{"openAPIV3Schema":{"type":"object"}}}`
			return `[{"name":"v1",` + a + s + `,{"name":"v2",` + b + s + `]`
		}
		const on, off = `"served":true,"storage":true`, `"served":true,"storage":false`
		t.Definition = t.Define(two(on, off))
		t.patchDefinition(`{"spec":{"scope":"Namespaced"}}`)
		t.patchDefinition(`{"spec":{"group":"other.example.com"}}`)
		t.patchDefinition(`{"spec":{"names":{"plural":"others"}}}`)
		t.patchDefinition(`{"spec":{"names":{"kind":"Other"}}}`)
		t.patchDefinition(`{"spec":{"versions":` + two(off, off) + `}}`)
		t.patchDefinition(`{"spec":{"versions":` + two(on, on) + `}}`)
		t.patchDefinition(`{"spec":{"versions":` + two(off, on) + `}}`)
		t.patchDefinition(`{"spec":{"versions":[{"name":"v2","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}}]}}`)
		for _, versions := range []string{`[]`, `["v1"]`, `["v3"]`, `["v2","v1","v3"]`, `["v2","v2"]`, `["v2"]`} {
			t.add(story.Step{Method: "PATCH", Path: story.Definitions + "/things." + t.Group() + "/status", Type: story.MergePatch, Body: `{"status":{"storedVersions":` + versions + `}}`, Brief: true})
		}
		t.patchDefinition(`{"spec":{"versions":[{"name":"v2","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}}]}}`)
		t.patchDefinition(`{"spec":{"versions":[]}}`)
		t.patchDefinition(`{"spec":{"preserveUnknownFields":true}}`)
		t.patchDefinition(`{"spec":{"conversion":{"strategy":"Webhook"}}}`)
	},
	"CRD-05 definitions that were invalid before": func(t *tale) {
		t.define(`{"type":"object","properties":{"a":{"type":"string"}}}`, ``)
		t.patchDefinition(`{"spec":{"versions":` + story.Version(`{"type":"object","properties":{"spec":{"type":"object","properties":{"a":{"type":"string","default":1}}}}}`) + `}}`)
		t.patchDefinition(`{"spec":{"versions":` + story.Version(`{"type":"object","properties":{"spec":{"type":"object",`+rules(`self.b == 1`)+`}}}`) + `}}`)
		t.patchDefinition(`{"spec":{"versions":` + story.Version(`{"type":"object","x-kubernetes-preserve-unknown-fields":true}`) + `}}`)
	},
	"CRD-06 warnings and columns": func(t *tale) {
		t.Definition = t.Define(`[{"name":"v1","served":true,"storage":true,"deprecated":true,"selectableFields":[{"jsonPath":".spec.s"}],"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","properties":{"s":{"type":"string"}}}}}}},{"name":"v2","served":true,"storage":false,"deprecated":true,"deprecationWarning":"use v1","schema":{"openAPIV3Schema":{"type":"object"}}}]`)
		t.create("a", `"spec":{"s":"x","gone":1}`)
		t.get("a")
		t.add(story.Step{Method: "GET", Path: t.Things("v2") + "/a"})
		t.add(story.Step{Method: "GET", Path: t.Things("v1") + "?fieldSelector=spec.s%3Dy"})
		t.add(story.Step{Method: "GET", Path: t.Things("v2") + "?fieldSelector=spec.s%3Dy"})
		t.add(story.Step{Method: "GET", Path: t.Things("v1") + "?fieldSelector=spec.t%3Dy"})
	},
}
