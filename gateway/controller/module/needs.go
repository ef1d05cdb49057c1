package module

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/wasmgate/wasmgate/plugins"
)

// ConversionsComplete is the condition of a WasmModule that tells whether it
// converts all that definitions need of it: False while it does not, and True
// once that was mended. The package coverage sets it.
const ConversionsComplete = "ConversionsComplete"

// Needs are the conversions that a definition needs of its converter: from what
// may be stored to what is served, and from there to what is stored.
func Needs(tree map[string]any) []plugins.Conversion {
	kind, _, _ := unstructured.NestedString(tree, "spec", "names", "kind")
	storage, served := versionsOf(tree)
	stored, _, _ := unstructured.NestedStringSlice(tree, "status", "storedVersions")
	if !slices.Contains(stored, storage) {
		stored = append(stored, storage)
	}
	var needed []plugins.Conversion
	known := map[plugins.Conversion]bool{}
	need := func(from, to string) {
		c := plugins.Conversion{Kind: kind, From: from, To: to}
		if from != to && from != "" && to != "" && !known[c] {
			known[c] = true
			needed = append(needed, c)
		}
	}
	for _, from := range stored {
		for _, to := range served {
			need(from, to)
		}
		need(from, storage)
	}
	for _, from := range served {
		need(from, storage)
	}
	return needed
}

// versionsOf are the versions of a definition.
func versionsOf(tree map[string]any) (storage string, served []string) {
	versions, _, _ := unstructured.NestedFieldNoCopy(tree, "spec", "versions")
	all, _ := versions.([]any)
	for _, v := range all {
		version, _ := v.(map[string]any)
		name, _ := version["name"].(string)
		if version["served"] == true {
			served = append(served, name)
		}
		if version["storage"] == true {
			storage = name
		}
	}
	return storage, served
}

// Named are the first of conversions, in words.
func Named(conversions []plugins.Conversion) string {
	names := make([]string, len(conversions))
	for i, c := range conversions {
		c.Kind = ""
		names[i] = c.String()
	}
	return some(names)
}

// ConversionsOf are what the status says that the module converts; nil when it
// does not say.
func ConversionsOf(obj *unstructured.Unstructured) []plugins.Conversion {
	return readStatus(obj).Conversions
}

// Lack is what a definition needs of a module and does not get.
type Lack struct {
	// Definition is its name.
	Definition string
	Lacking    []plugins.Conversion
}

// Told says what definitions lack.
func Told(lacks []Lack) string {
	texts := make([]string, len(lacks))
	for i, l := range lacks {
		texts[i] = fmt.Sprintf("customresourcedefinitions/%s needs %s", l.Definition, Named(l.Lacking))
	}
	if more := len(texts) - maxNamed; more > 0 {
		texts = append(texts[:maxNamed:maxNamed], fmt.Sprintf("and %d more", more))
	}
	return strings.Join(texts, "; ")
}
