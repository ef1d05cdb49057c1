package module

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

const (
	// Healthy is the condition of a WasmModule that tells how its calls go:
	// Unknown before there were any. The package calls sets it, but for that.
	Healthy = "Healthy"
	// NoCalls is the reason while nobody knows.
	NoCalls = "NoCalls"
)

// Calls is how the calls of a revision go.
type Calls struct {
	// Revision names it.
	Revision string `json:"revision"`
	// Failing are the gateways at which calls fail.
	Failing []FailingCalls `json:"failing,omitempty"`
}

// FailingCalls are calls at one gateway.
type FailingCalls struct {
	// Gateway is its host and port.
	Gateway string `json:"gateway"`
	// Calls is how many were made since some fail, and Failed how many did.
	Calls  int64       `json:"calls"`
	Failed int64       `json:"failed"`
	Since  metav1.Time `json:"since,omitzero"`
	// Hook and Reason are those of the last one.
	Hook   string `json:"hook"`
	Reason string `json:"reason"`
	// Updated is when the gateway said so.
	Updated metav1.Time `json:"updated,omitzero"`
}

// CallsOf is what the status says of calls; nil for nothing.
func CallsOf(obj *unstructured.Unstructured) *Calls { return StatusOf(obj).Calls }

// SetCalls writes that into the status.
func SetCalls(obj *unstructured.Unstructured, calls Calls) error {
	tree, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&calls)
	if err != nil {
		return fmt.Errorf("write status of module %q: %w", obj.GetName(), err)
	}
	return unstructured.SetNestedMap(obj.Object, tree, "status", "calls")
}
