package module

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/wasmgate/wasmgate/excerpt"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
)

// Proved is what came of looking for what one revision of a module loses of the
// objects of one definition. The status keeps it, so that no gateway has to look again
// and each knows which revision may serve.
type Proved struct {
	// Revision is that of [RevisionName].
	Revision string `json:"revision"`
	// Definition is the name of the definition.
	Definition string `json:"definition"`
	// Inputs are those of [ProofInputs]: with others it is not known any more.
	Inputs string `json:"inputs"`
	// Lossless is True, False or Unknown.
	Lossless metav1.ConditionStatus `json:"lossless"`
	// Message is what is lost, or why it is not known.
	Message string `json:"message,omitempty"`
	// Tried is how many objects were converted there and back.
	Tried int64 `json:"tried,omitempty"`
	// Branches are the branches that this took of those in the functions that it ran;
	// nil where nobody knows.
	Branches *Branches `json:"branches,omitempty"`
	// Attempts is how often it was tried where another try may come to more, else 0.
	Attempts int64 `json:"attempts,omitempty"`
	// Last is when the last of them ended.
	Last metav1.Time `json:"last,omitzero"`
}

// Branches are how many branches of a module's code were taken, of all of them.
type Branches struct {
	Taken int64 `json:"taken"`
	All   int64 `json:"all"`
}

const (
	// MaxProved is how many definitions a module is proved for.
	MaxProved = 256
	// MaxAttempts is how often a proof that came to nothing is tried.
	MaxAttempts = 4
	// AttemptPause is for how long the second attempt waits; each later one waits
	// twice as long as the one before.
	AttemptPause = 15 * time.Second
	// maxProofText bounds, in bytes, what a status says of all proofs together, but for
	// minProofText of each.
	maxProofText, minProofText = 64 << 10, 256
	// proofEdition is another one when a proof finds what it did not before.
	proofEdition = 2
)

// Again tells that it is to be tried once more.
func (p Proved) Again() bool {
	return p.Lossless == metav1.ConditionUnknown && p.Attempts > 0 && p.Attempts < MaxAttempts
}

// Due is for how long yet another attempt has to wait.
func (p Proved) Due(now time.Time) time.Duration {
	return p.Last.Add(AttemptPause << max(p.Attempts-1, 0)).Sub(now)
}

// Then is what is known after another proof of the same. One that could not be tried
// counts as no attempt.
func (p Proved) Then(came Proved, tried bool) Proved {
	came.Revision, came.Definition, came.Inputs = p.Revision, p.Definition, p.Inputs
	switch {
	case came.Attempts == 0:
	case !tried && p.Attempts > 0:
		came.Attempts, came.Last = p.Attempts, p.Last
	default:
		came.Attempts, came.Last = p.Attempts+1, metav1.Now().Rfc3339Copy()
	}
	return came
}

// Basis is what a proof for a definition depends on, besides the converter.
func Basis(definition *unstructured.Unstructured) string {
	spec := gvr.Section(definition, "spec")
	text, err := json.Marshal([]any{definition.GetName(), spec["conversion"], spec["versions"], spec["preserveUnknownFields"]})
	if err != nil { // it came as JSON
		return definition.GetName()
	}
	return string(text)
}

// ProofInputs is the digest of what a proof of a module for a definition depends on,
// besides the revision.
func ProofInputs(obj, definition *unstructured.Unstructured) string {
	_, acknowledged := ProofAsked(obj)
	slices.Sort(acknowledged)
	basis := []any{proofEdition, Basis(definition), acknowledged, obj.GetAnnotations()[RetryAnnotation]}
	if retired := Retired(definition); len(retired) > 0 {
		basis = append(basis, retired)
	}
	text, err := json.Marshal(basis)
	if err != nil { // they are texts
		return ""
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

// ProvedOf finds what is known among proofs.
func ProvedOf(proofs []Proved, revision, definition, inputs string) (p Proved, ok bool) {
	at := slices.IndexFunc(proofs, func(p Proved) bool {
		return p.Revision == revision && p.Definition == definition && p.Inputs == inputs
	})
	if at < 0 {
		return p, false
	}
	return proofs[at], true
}

// Converting are the definitions among all that convert with a module, by name.
func Converting(all []*unstructured.Unstructured, name string) (bound []*unstructured.Unstructured) {
	for _, d := range all {
		if module := NeedOf(d).Module; module == name && len(Needs(d.Object)) > 0 {
			bound = append(bound, d)
		}
	}
	slices.SortFunc(bound, func(a, b *unstructured.Unstructured) int { return strings.Compare(a.GetName(), b.GetName()) })
	return bound
}

// SetProofs writes what is known into the status, and reports whether that is another.
func SetProofs(obj *unstructured.Unstructured, proofs []Proved) (changed bool, err error) {
	proofs = short(proofs)
	if equality.Semantic.DeepEqual(StatusOf(obj).Proofs, proofs) {
		return false, nil
	}
	status := gvr.Section(obj, "status")
	delete(status, "proofs")
	if len(proofs) > 0 {
		tree, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&Status{Proofs: proofs})
		if err != nil {
			return false, fmt.Errorf("write status of module %q: %w", obj.GetName(), err)
		}
		status["proofs"] = tree["proofs"]
	}
	obj.Object["status"] = status
	return true, nil
}

// short are proofs as there is room for them in a status.
func short(proofs []Proved) []Proved {
	proofs = slices.Clone(proofs)
	most := max(minProofText, maxProofText/max(len(proofs), 1))
	for i, p := range proofs {
		p.Message = excerpt.Of(gvr.Shorten(p.Message), most)
		proofs[i] = p
	}
	return proofs
}
