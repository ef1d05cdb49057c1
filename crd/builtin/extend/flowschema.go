package extend

import (
	"cmp"

	"github.com/wasmgate/wasmgate/crd/object"
)

// byPrecedence is the order in which FlowSchemas are asked, which is that of their tables.
func byPrecedence(a, b map[string]any) int {
	first, _ := object.Child(a, "spec")["matchingPrecedence"].(int64)
	second, _ := object.Child(b, "spec")["matchingPrecedence"].(int64)
	return cmp.Or(cmp.Compare(first, second), cmp.Compare(object.TextAt(a, "metadata", "name"), object.TextAt(b, "metadata", "name")))
}
