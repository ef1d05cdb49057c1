package module

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/wasmgate/wasmgate/plugins"
)

// Candidate is a revision that waits until it is promoted.
type Candidate struct {
	// Revision names content, configuration and limits together, and this time
	// that they wait: another time has another name, so that a promotion is
	// about one trial.
	Revision string `json:"revision"`
	// Digest is the digest of the content.
	Digest string `json:"digest"`
	// Report is how it compares with what serves; nil before that is known.
	Report *Report `json:"report,omitempty"`
}

// Is tells that the candidate is the revision of that name.
func (c *Candidate) Is(name string) bool {
	return c != nil && strings.HasPrefix(c.Revision, name+"-")
}

// CandidateOf is what waits to be promoted, and the revision without its bytes
// unless they are inline; ok is false when nothing waits.
func CandidateOf(obj *unstructured.Unstructured, digestOf func([]byte) string) (c Candidate, rev plugins.Revision, ok bool) {
	waits := StatusOf(obj).Candidate
	if waits == nil {
		return c, rev, false
	}
	wanted, unusable := Wanted(obj, digestOf)
	if unusable != nil || !waits.Is(RevisionName(*wanted)) {
		return c, rev, false // the status is about another revision still
	}
	return *waits, *wanted, true
}

// SetReport notes how the candidate compares.
func SetReport(obj *unstructured.Unstructured, report Report) error {
	tree, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&report)
	if err != nil {
		return fmt.Errorf("write status of module %q: %w", obj.GetName(), err)
	}
	return unstructured.SetNestedMap(obj.Object, tree, "status", "candidate", "report")
}
