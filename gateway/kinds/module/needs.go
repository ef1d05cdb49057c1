package module

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/plugins"
)

// ConversionsComplete is the condition of a WasmModule that tells whether it
// converts all that definitions need of it: False while it does not, and True
// once that was mended. It is set in the write that says what serves, and by the
// package coverage when definitions change.
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

// Retired are the versions that objects of a definition may be stored at, though they are
// neither served nor written at it any more. They end with a migration, which no generation
// tells.
func Retired(definition *unstructured.Unstructured) (retired []string) {
	storage, served := versionsOf(definition.Object)
	stored, _, _ := unstructured.NestedStringSlice(definition.Object, "status", "storedVersions")
	for _, name := range stored {
		if name != storage && !slices.Contains(served, name) {
			retired = append(retired, name)
		}
	}
	return retired
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
	return FirstNames(names)
}

// ConversionsOf are what the status says that the module converts; nil when it
// does not say.
func ConversionsOf(obj *unstructured.Unstructured) []plugins.Conversion {
	return StatusOf(obj).Conversions
}

const (
	// conversionMissing is the reason of a ConversionsComplete that is False.
	conversionMissing = "ConversionMissing"
	// complete is the reason of one that is True.
	complete = "Complete"
)

// SetCompleteness sets ConversionsComplete among the conditions of a module whose
// object has that generation. One that never lacked anything has no such
// condition.
func SetCompleteness(conditions *[]metav1.Condition, generation int64, lacks []Lack) {
	condition := metav1.Condition{Type: ConversionsComplete, ObservedGeneration: generation,
		Status: metav1.ConditionTrue, Reason: complete, Message: "it converts all that definitions need"}
	if len(lacks) > 0 {
		condition.Status, condition.Reason = metav1.ConditionFalse, conversionMissing
		condition.Message = gvr.Shorten(Told(lacks) + "; the module does not say that it converts that")
	} else if meta.FindStatusCondition(*conditions, ConversionsComplete) == nil {
		return
	}
	meta.SetStatusCondition(conditions, condition)
}

// Need is what a definition needs of the module that converts for it.
type Need struct {
	// Module is its name; "" when no module converts.
	Module      string
	Conversions []plugins.Conversion
}

// NeedOf is what a definition needs.
func NeedOf(definition *unstructured.Unstructured) Need {
	refs := References(gvr.Definitions, definition.Object)
	if len(refs) == 0 {
		return Need{}
	}
	return Need{refs[0].Module, Needs(definition.Object)}
}

// Lacks returns what definitions need of the named module that is not among what
// it converts, by the names of the definitions, which come with their needs.
func Lacks(name string, has []plugins.Conversion, needs iter.Seq2[string, Need]) (lacks []Lack) {
	for definition, need := range needs {
		if need.Module != name {
			continue
		}
		if lacking := plugins.Lacking(has, need.Conversions); len(lacking) > 0 {
			lacks = append(lacks, Lack{Definition: definition, Lacking: lacking})
		}
	}
	slices.SortFunc(lacks, func(a, b Lack) int { return strings.Compare(a.Definition, b.Definition) })
	return lacks
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
