package plugin

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/admission/order"
	"github.com/wasmgate/wasmgate/crd/object"
)

var pods = schema.GroupResource{Resource: "pods"}

// DefaultTolerationSeconds gives every pod the tolerations that say how long it stays
// on a node that nobody hears of.
type DefaultTolerationSeconds struct {
	// NotReady and Unreachable are for how long.
	NotReady, Unreachable int64
}

// Name implements [admission.Plugin].
func (DefaultTolerationSeconds) Name() string { return order.DefaultTolerationSeconds }

// Edits implements [admission.Editor].
func (DefaultTolerationSeconds) Edits(_ admission.Operation, gr schema.GroupResource, subresource string) bool {
	return gr == pods && subresource == ""
}

// Edit implements [admission.Editor].
func (p DefaultTolerationSeconds) Edit(_ context.Context, _ admission.Attributes, tree map[string]any) (changed bool, err error) {
	spec := object.Child(tree, "spec")
	if spec == nil {
		return false, nil
	}
	list, _ := spec["tolerations"].([]any)
	for _, d := range []struct {
		taint   string
		seconds int64
	}{{"node.kubernetes.io/not-ready", p.NotReady}, {"node.kubernetes.io/unreachable", p.Unreachable}} {
		if !tolerated(list, d.taint) {
			list = append(list, map[string]any{"key": d.taint, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": d.seconds})
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
