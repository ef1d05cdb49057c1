package module

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
)

// Lossless is the condition of a WasmModule that tells whether its conversions lose
// anything: False with the field, the pair of versions and an object that shows it.
// It is there only while spec.proof asks for it, and set by the package lossless.
const Lossless = "Lossless"

// The reasons for which a revision does not serve where losses are not let in.
const (
	// FieldsLost: it loses something. It is the reason of Lossless, too.
	FieldsLost = "FieldsLost"
	// AwaitingProof: it is not known yet.
	AwaitingProof = "AwaitingProof"
)

// Proof is what is to become of what is known of a module's losses: its spec.proof.
type Proof string

// What can be asked for. NoProof is that nothing is looked for.
const (
	NoProof      Proof = ""
	ReportLoss   Proof = "Report"
	EnforceProof Proof = "Enforce"
)

// ProofAsked is what a module asks for, and the paths of fields whose loss is meant.
func ProofAsked(obj *unstructured.Unstructured) (asked Proof, acknowledged []string) {
	spec := gvr.Section(obj, "spec")
	all, _ := spec["acknowledgedLoss"].([]any)
	for _, path := range all {
		if text, ok := path.(string); ok {
			acknowledged = append(acknowledged, text)
		}
	}
	text, _ := spec["proof"].(string)
	return Proof(text), acknowledged
}
