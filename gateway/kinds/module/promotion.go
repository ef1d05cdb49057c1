package module

import (
	"crypto/sha256"
	"encoding/hex"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/plugins"
)

const (
	// PromotedAnnotation lets a candidate serve: its revision, as
	// status.candidate.revision names it, and after a slash what is accepted of
	// its report, if that is needed: differences=N, as many as the report counts,
	// or force, whatever it says and before it is complete.
	PromotedAnnotation = "wasmgate.dev/promoted-revision"
	// shadowRollout is the spec.rollout of a module whose new revisions wait.
	shadowRollout = "Shadow"
)

// Promotes tells that new revisions of a module wait to be promoted.
func Promotes(obj *unstructured.Unstructured) bool {
	return gvr.Section(obj, "spec")["rollout"] == shadowRollout
}

// RevisionName is the same for revisions that behave the same.
func RevisionName(rev plugins.Revision) string {
	rev.Attempt = ""
	sum := sha256.Sum256([]byte(Identity(rev)))
	return hex.EncodeToString(sum[:6])
}
