package offline_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wasmgate/wasmgate/gateway/options/workbench"
	"github.com/wasmgate/wasmgate/gateway/server/offline"
)

// filesOf are the files of a project whose names begin with something.
func filesOf(p workbench.Drafted, begin string) (all [][]byte) {
	for _, f := range p.Files {
		if strings.HasPrefix(f.Name, begin) {
			all = append(all, f.Content)
		}
	}
	return all
}

// What a project begins with converts, its samples come back, and what is lost is found,
// as the schemas allow a host without a port.
func TestAProjectBegins(t *testing.T) {
	made, err := offline.Tools{}.Draft(t.Context(), workbench.Draft{Language: "rules"})
	if err != nil {
		t.Fatal(err)
	}
	rules, crd := filesOf(made, "rules.yaml"), filesOf(made, "crd.yaml")
	if made.Name != "widgets" || len(rules) != 1 || len(crd) != 1 || len(filesOf(made, "README.md")) != 1 || !strings.Contains(string(crd[0]), "wasm://rules/widgets") {
		t.Fatalf("%+v", made)
	}
	m := workbench.Module{Name: "rules.yaml", Content: rules[0]}
	samples := filesOf(made, "samples/")
	if len(samples) < 3 || len(filesOf(made, "golden/")) != len(samples) {
		t.Errorf("%d samples", len(samples))
	}
	found, err := offline.Tools{}.Prove(t.Context(), workbench.Proof{Module: m, Definitions: crd[0], Objects: 200, Budget: time.Minute, Seed: 1})
	if err != nil || found.Lossless != "False" || found.Losses[0].Field != "spec.hostPort" {
		t.Errorf("%+v, %v", found, err)
	}
}

// Of two files one project becomes; what cannot be known is marked, and rules that were
// drafted lose nothing that is not marked.
func TestAProjectOfTwoFiles(t *testing.T) {
	version := func(name, properties string) []byte {
		return fmt.Appendf(nil, `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gadgets.example.com, creationTimestamp: null}
spec:
  group: example.com
  scope: Cluster
  names: {plural: gadgets, singular: gadget, kind: Gadget, listKind: GadgetList}
  versions:
  - {name: %s, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {%s}}}}}}
`, name, properties)
	}
	old := version("v1alpha1", `image: {type: object, properties: {repository: {type: string}, pullPolicy: {type: string}}}, hosts: {type: array, minItems: 1, maxItems: 1, items: {type: string}}, colour: {type: string}`)
	next := version("v1", `image: {type: string}, host: {type: string}, "odd.name/x": {type: integer}`)
	made, err := offline.Tools{}.Draft(t.Context(), workbench.Draft{Language: "rules", From: old, To: next, Name: "g"})
	if err != nil {
		t.Fatal(err)
	}
	rules := filesOf(made, "rules.yaml")[0]
	for _, want := range []string{"# CHECK: spec.hosts", "  #   or: ", "- fromList: {field: spec.host}", "- keep: {field: spec.colour}", `- restore: {field: "spec[\"odd.name/x\"]", annotation: "conversion.wasmgate.dev/odd-name-x-0db88c53"}`, "from: v1alpha1\n    to: v1\n"} {
		if !strings.Contains(string(rules), want) {
			t.Errorf("no %s in\n%s", want, rules)
		}
	}
	found, err := offline.Tools{}.Prove(t.Context(), workbench.Proof{Module: workbench.Module{Name: "rules", Content: rules}, Definitions: filesOf(made, "crd.yaml")[0],
		Objects: 300, Budget: time.Minute, Seed: 1, Acknowledged: []string{"spec.hosts"}})
	if err != nil || found.Lossless != "True" {
		t.Errorf("%+v, %v\n%s", found, err, rules)
	}
	for _, c := range []struct {
		what workbench.Draft
		want string
	}{
		{workbench.Draft{From: old}, "gadgets.example.com has one version, v1alpha1: give a file with the new one, too"},
		{workbench.Draft{From: old, To: old}, "both files have the same versions"},
		{workbench.Draft{To: old}, "no old one"},
		{workbench.Draft{From: []byte("a: b"), To: next}, "the old version: the file has no CustomResourceDefinition"},
		{workbench.Draft{From: old, To: example(t, "crd-v1.yaml")}, "group and kind have to be the same"},
		{workbench.Draft{From: []byte(strings.Replace(string(old), "apiextensions.k8s.io/v1", "apiextensions.k8s.io/v1beta1", 1)), To: next}, "the old version: gadgets.example.com is a CustomResourceDefinition of apiextensions.k8s.io/v1beta1"},
		{workbench.Draft{From: []byte(strings.Replace(string(old), "  versions:\n  - ", "  x:\n  - ", 1))}, "gadgets.example.com has no versions"},
		{workbench.Draft{From: []byte(strings.Replace(string(old), "name: v1alpha1", `name: "v1\n#"`, 1)), To: next}, `gadgets.example.com: the name of the version "v1\n#" is not valid: a DNS-1035 label`},
		{workbench.Draft{From: []byte(strings.Replace(string(old), "name: v1alpha1", `name: ""`, 1)), To: next}, `gadgets.example.com: the name of the version "" is not valid`},
		{workbench.Draft{From: old, To: []byte(strings.Replace(string(next), "plural: gadgets", `plural: "gadgets: x"`, 1))}, `gadgets.example.com: the plural "gadgets: x" is not valid: a DNS-1035 label`},
		{workbench.Draft{From: old, To: []byte(strings.Replace(string(next), "name: gadgets.example.com", `name: "gadgets\nkind: x"`, 1))}, `the name "gadgets\nkind: x" is not valid: a lowercase RFC 1123 subdomain`},
		{workbench.Draft{From: old, To: next, Name: "g: x"}, `the name "g: x" is not valid: a lowercase RFC 1123 subdomain`},
		{workbench.Draft{From: old, To: []byte(strings.Replace(string(next), "  versions:\n", "  versions:\n  - {name: v1, schema: {openAPIV3Schema: {type: object}}}\n", 1))}, "gadgets.example.com has the version v1 twice"},
		{workbench.Draft{From: old, To: []byte(strings.ReplaceAll(string(next), "schema: {openAPIV3Schema", "schemas: {openAPIV3Schema"))}, "has no schema"},
	} {
		if _, err := (offline.Tools{}).Draft(t.Context(), c.what); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
}

// Samples of a module have nothing that the module has no step for; those of rules have it.
func TestSamplesOfModulesAreWhatTheyHaveStepsFor(t *testing.T) {
	version := func(name, env string) []byte {
		return fmt.Appendf(nil, `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gadgets.example.com}
spec:
  group: example.com
  scope: Cluster
  names: {plural: gadgets, singular: gadget, kind: Gadget, listKind: GadgetList}
  versions:
  - {name: %s, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {size: {type: integer}, env: %s}}}}}}
`, name, env)
	}
	old := version("v1", "{type: array, items: {type: object, required: [name, value], properties: {name: {type: string}, value: {type: string}}}}")
	next := version("v2", "{type: object, additionalProperties: {type: string}}")
	for language, want := range map[string]bool{"rules": true, "go": false} {
		made, err := offline.Tools{}.Draft(t.Context(), workbench.Draft{Language: language, From: old, To: next, Name: "g"})
		if err != nil {
			t.Fatal(err)
		}
		golden := filesOf(made, "golden/")
		if len(golden) == 0 {
			t.Errorf("%s: no sample", language)
		}
		if has := slices.ContainsFunc(golden, func(text []byte) bool { return strings.Contains(string(text), "env:") }); has != want {
			t.Errorf("%s: samples with a list that becomes a map: %t", language, has)
		}
	}
}
