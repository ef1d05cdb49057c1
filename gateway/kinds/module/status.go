package module

import (
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/plugins"
)

// The conditions of a WasmModule.
const (
	// Compiled is whether the newest revision is usable.
	Compiled = "Compiled"
	// Ready is whether calls are served, by that revision or the one
	// before.
	Ready = "Ready"
)

// NotReady says why a module serves nothing, "" when it does or nobody looked yet.
func NotReady(obj *unstructured.Unstructured) string {
	if c := meta.FindStatusCondition(StatusOf(obj).Conditions, Ready); c != nil && c.Status != metav1.ConditionTrue {
		return c.Message
	}
	return ""
}

// Status is the status of a WasmModule as it is written.
type Status struct {
	ObservedGeneration int64                `json:"observedGeneration,omitempty"`
	Digest             string               `json:"digest,omitempty"`
	Size               int64                `json:"size,omitempty"`
	ABI                int64                `json:"abi,omitempty"`
	Dialect            plugins.Dialect      `json:"dialect,omitempty"`
	Hooks              []string             `json:"hooks,omitempty"`
	Conversions        []plugins.Conversion `json:"conversions,omitempty"`
	Pulled             *PulledImage         `json:"pulled,omitempty"`
	// Accepted names the revision that was let serve last; a gateway that does
	// not know it is an earlier one.
	Accepted string `json:"acceptedRevision,omitempty"`
	// Kept is set where the spec may not say how what serves is configured.
	Kept *KeptConfiguration `json:"keptConfiguration,omitempty"`
	// Calls is about the revision that serves.
	Calls     *Calls           `json:"calls,omitempty"`
	Revisions []ServedRevision `json:"revisions,omitempty"`
	// SignedBy are who vouches for what serves.
	SignedBy   []Signer           `json:"signedBy,omitempty"`
	Candidate  *Candidate         `json:"candidate,omitempty"`
	Proofs     []Proved           `json:"proofs,omitempty"`
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// StatusOf reads the status. One that cannot be read is none: nobody but
// gateways writes it, and they make it right again.
func StatusOf(obj *unstructured.Unstructured) (s Status) {
	if runtime.DefaultUnstructuredConverter.FromUnstructured(gvr.Section(obj, "status"), &s) != nil {
		return Status{}
	}
	return s
}

// ServedRevision is content that served.
type ServedRevision struct {
	Digest string      `json:"digest"`
	Size   int64       `json:"size,omitempty"`
	Since  metav1.Time `json:"since,omitzero"`
}

// ServedLast is the content that served last, "" for none.
func ServedLast(obj *unstructured.Unstructured) string {
	history, _, _ := unstructured.NestedSlice(obj.Object, "status", "revisions")
	if len(history) == 0 {
		return ""
	}
	last, _ := history[0].(map[string]any)
	digest, _ := last["digest"].(string)
	return digest
}

// defaultHistory is how many contents are kept unless the spec says otherwise.
const defaultHistory = 5

// HistoryLimit is how many contents the object wants kept.
func HistoryLimit(obj *unstructured.Unstructured) int64 {
	if n, ok := wholeNumber(gvr.Section(obj, "spec")["revisionHistoryLimit"]); ok {
		return n
	}
	return defaultHistory
}
