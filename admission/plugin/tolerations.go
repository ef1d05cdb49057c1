package plugin

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/admission/order"
	"github.com/wasmgate/wasmgate/crd/object"
)

var pods = schema.GroupResource{Resource: "pods"}

// patience is how many seconds a pod stays on a node that is not ready.
const patience = 300

// DefaultTolerationSeconds gives every pod the tolerations that say how long it stays
// on a node that nobody hears of.
type DefaultTolerationSeconds struct{}

// Name implements [admission.Plugin].
func (DefaultTolerationSeconds) Name() string { return order.DefaultTolerationSeconds }

// Edits implements [admission.Editor].
func (DefaultTolerationSeconds) Edits(_ admission.Operation, gr schema.GroupResource, subresource string) bool {
	return gr == pods && subresource == ""
}

// Edit implements [admission.Editor].
func (DefaultTolerationSeconds) Edit(_ context.Context, _ admission.Attributes, tree map[string]any) (changed bool, err error) {
	spec := object.Child(tree, "spec")
	if spec == nil {
		return false, nil
	}
	list, _ := spec["tolerations"].([]any)
	for _, taint := range []string{"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"} {
		if !tolerated(list, taint) {
			list = append(list, map[string]any{"key": taint, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": int64(patience)})
			changed = true
		}
	}
	spec["tolerations"] = list
	return changed, nil
}

func tolerated(list []any, taint string) bool {
	for _, t := range list {
		t, _ := t.(map[string]any)
		key, effect := object.TextAt(t, "key"), object.TextAt(t, "effect")
		if (key == taint || key == "") && (effect == "NoExecute" || effect == "") {
			return true
		}
	}
	return false
}
