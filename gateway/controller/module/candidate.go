package module

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/wasmgate/wasmgate/gateway/controller/kinds"
	"github.com/wasmgate/wasmgate/plugins"
)

const (
	// PromotedAnnotation is the revision of the candidate that may serve, as
	// status.candidate.revision names it.
	PromotedAnnotation = "wasmgate.dev/promoted-revision"
	// shadowRollout is the spec.rollout of a module whose new revisions wait.
	shadowRollout = "Shadow"
	// awaitingPromotion is the reason of the condition Compiled then.
	awaitingPromotion = "AwaitingPromotion"
)

// Candidate is a revision that waits until it is promoted.
type Candidate struct {
	// Revision names content, configuration and limits together.
	Revision string `json:"revision"`
	// Digest is the digest of the content.
	Digest string `json:"digest"`
	// Report is how it compares with what serves; nil before that is known.
	Report *Report `json:"report,omitempty"`
}

// Report is what came of converting live objects with the candidate and with
// what serves.
type Report struct {
	// State is one of the States.
	State string `json:"state"`
	// Message says it to people.
	Message string `json:"message,omitempty"`
	// Conversions is how many were made with both; Different how many came out
	// otherwise, and Failed how many the candidate fails and what serves does
	// not.
	Conversions int64 `json:"conversions"`
	Different   int64 `json:"different"`
	Failed      int64 `json:"failed"`
	// Samples are some of those, the first found.
	Samples []Sample `json:"samples,omitempty"`
}

// The states of a [Report].
const (
	// Running: the comparison is under way.
	Running = "Running"
	// Completed: all objects were converted.
	Completed = "Completed"
	// Refused: the candidate cannot be loaded.
	Refused = "Refused"
)

// Ended tells that the report will not change any more.
func (r Report) Ended() bool { return r.State == Completed || r.State == Refused }

// Sample is one conversion that the candidate makes otherwise.
type Sample struct {
	// Object is resource, namespace and name.
	Object string `json:"object"`
	// From and To are versions.
	From string `json:"from"`
	To   string `json:"to"`
	// Difference is where, and what is there: now and with the candidate.
	Difference string `json:"difference"`
}

// promotes tells that new revisions of a module wait to be promoted.
func promotes(obj *unstructured.Unstructured) bool {
	return kinds.Section(obj, "spec")["rollout"] == shadowRollout
}

// hold refuses a revision that has to be promoted first. The first revision of a
// module has nothing to be compared with, and what served last may serve again;
// what served and cannot any more, as it is lost from the store, lets nothing
// else serve by itself.
func (c *Controller) hold(obj *unstructured.Unstructured, rev plugins.Revision) *refusal {
	if !promotes(obj) {
		return nil
	}
	revision := revisionName(rev)
	if obj.GetAnnotations()[PromotedAnnotation] == revision {
		return nil
	}
	before := ""
	if c.serving(obj.GetName()).Serving == nil {
		last, ok := lastGoodRevision(obj)
		switch {
		case ok && last.Same(rev):
			return nil
		case ok:
			before = last.Digest
		default:
			if before = servedLast(obj); before == "" {
				return nil
			}
		}
		before = fmt.Sprintf("content %s, which served, cannot be loaded, and nothing is there to compare with; ", before)
	}
	return &refusal{awaitingPromotion, fmt.Sprintf("%srevision %s of content %s waits; see status.candidate, and let it serve with: wasmgate module promote %s", before, revision, rev.Digest, obj.GetName())}
}

// revisionName is the same for revisions that convert the same.
func revisionName(rev plugins.Revision) string {
	rev.Attempt = ""
	sum := sha256.Sum256([]byte(identity(rev)))
	return hex.EncodeToString(sum[:6])
}

// nextCandidate is the status.candidate that goes with an outcome; a report
// stays with its revision.
func nextCandidate(obj *unstructured.Unstructured, old *Candidate, problem *refusal, digestOf func([]byte) string) *Candidate {
	if problem == nil || problem.reason != awaitingPromotion {
		return nil
	}
	rev, unusable := wantedRevision(obj, digestOf)
	if unusable != nil {
		return nil
	}
	if name := revisionName(*rev); old == nil || old.Revision != name {
		return &Candidate{Revision: name, Digest: rev.Digest}
	}
	return old
}

// CandidateOf is what waits to be promoted, and the revision without its bytes
// unless they are inline; ok is false when nothing waits.
func CandidateOf(obj *unstructured.Unstructured, digestOf func([]byte) string) (c Candidate, rev plugins.Revision, ok bool) {
	var s statusFields
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(kinds.Section(obj, "status"), &s); err != nil || s.Candidate == nil {
		return c, rev, false
	}
	wanted, unusable := wantedRevision(obj, digestOf)
	if unusable != nil || revisionName(*wanted) != s.Candidate.Revision {
		return c, rev, false // the status is about another revision still
	}
	return *s.Candidate, *wanted, true
}

// SetReport notes how the candidate compares.
func SetReport(obj *unstructured.Unstructured, report Report) error {
	tree, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&report)
	if err != nil {
		return fmt.Errorf("write status of module %q: %w", obj.GetName(), err)
	}
	return unstructured.SetNestedMap(obj.Object, tree, "status", "candidate", "report")
}
