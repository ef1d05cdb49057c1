package offline_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/gateway/options/workbench"
	"github.com/wasmgate/wasmgate/gateway/server/offline"
)

// What is wrong with definitions, or with a key, is told apart from what is wrong with the
// module: who asked knows the files.
func TestWhichFileIsWrong(t *testing.T) {
	fits := example(t, "crd-lossless.yaml")
	rules := workbench.Module{Name: "rules.yaml", Content: example(t, "rules.yaml")}
	for _, text := range []string{"{", "a: b", "kind: CustomResourceDefinition\napiVersion: apiextensions.k8s.io/v1\nspec: 7\n"} {
		var of workbench.DefinitionError
		if _, err := (offline.Tools{}).Prove(t.Context(), workbench.Proof{Module: rules, Definitions: []byte(text)}); !errors.As(err, &of) {
			t.Errorf("fuzz of %q: %v", text, err)
		}
		if _, err := (offline.Tools{}).Try(t.Context(), workbench.Samples{Module: rules, Definitions: []byte(text)}); !errors.As(err, &of) {
			t.Errorf("test of %q: %v", text, err)
		}
	}
	for text, want := range map[string]string{
		"{":             "odd.yaml: yaml: ",
		"kind: CronTab": `odd.yaml: it has a "CronTab", neither ConversionRules nor a module`,
		"":              `odd.yaml: it has a "", neither`,
		"kind: ConversionRules\nspec: {conversions: [{from: v1, to: v2, rules: [{keep: {field: a, annotation: e.com/k}}, {keep: {field: b, annotation: e.com/k}}]}]}": `odd.yaml: spec.conversions[0].rules[1].keep.annotation: Duplicate value: "e.com/k"`,
	} {
		_, err := (offline.Tools{}).Prove(t.Context(), workbench.Proof{Module: workbench.Module{Name: "odd.yaml", Content: []byte(text)}, Definitions: fits})
		if err == nil || !strings.HasPrefix(err.Error(), want) || errors.As(err, new(workbench.DefinitionError)) {
			t.Errorf("%q: %v", text, err)
		}
	}
	if _, err := (offline.Tools{}).Sign(workbench.Signed{Key: []byte("x")}); !errors.As(err, new(workbench.KeyError)) {
		t.Errorf("a key: %v", err)
	}
	if _, err := (offline.Tools{}).Verify(workbench.Signed{Key: []byte("x")}); !errors.As(err, new(workbench.KeyError)) {
		t.Errorf("a public key: %v", err)
	}
}
