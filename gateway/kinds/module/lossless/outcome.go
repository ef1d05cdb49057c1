package lossless

import (
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/wasmgate/wasmgate/conversion/proof"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/gateway/kinds/module"
)

// The reasons of the condition.
const (
	reasonLossless = "NothingLost"
	reasonLossy    = module.FieldsLost
	reasonUnknown  = "NotProved"
)

// State names a definition as it is now, with the versions that objects are only stored at.
func State(d *unstructured.Unstructured) string {
	return fmt.Sprintf("%s %s %d %s", d.GetName(), d.GetUID(), d.GetGeneration(), module.Retired(d))
}

// Outcome is what came of a proof, in words.
func Outcome(r proof.Report) module.Proved {
	out := module.Proved{Lossless: metav1.ConditionStatus(r.Verdict), Tried: int64(r.Tried)}
	if c := r.Coverage; c != nil {
		out.Branches = &module.Branches{Taken: int64(c.Taken), All: int64(c.All)}
	}
	switch r.Verdict {
	case proof.Lossless:
	case proof.Lossy:
		out.Message = Told(r)
	default:
		out.Lossless, out.Message = metav1.ConditionUnknown, r.Why
		if r.Again {
			out.Attempts = 1
		}
	}
	return out
}

// ConditionOf tells what is known of definitions.
func ConditionOf(definitions []*unstructured.Unstructured, known func(*unstructured.Unstructured) module.Proved, generation int64) *metav1.Condition {
	out := &metav1.Condition{Type: module.Lossless, ObservedGeneration: generation, Status: metav1.ConditionTrue, Reason: reasonLossless}
	var lost, not, fine []string
	for _, d := range definitions {
		came, at := known(d), "customresourcedefinitions/"+d.GetName()
		switch came.Lossless {
		case metav1.ConditionFalse:
			lost = append(lost, at+": "+came.Message)
		case metav1.ConditionTrue:
			fine = append(fine, fmt.Sprintf("%s: %d objects came back as they were%s", at, came.Tried, taken(came)))
		default:
			not = append(not, at+": "+came.Message+taken(came))
		}
	}
	switch {
	case len(lost) > 0:
		out.Status, out.Reason = metav1.ConditionFalse, reasonLossy
	case len(not) > 0:
		out.Status, out.Reason = metav1.ConditionUnknown, reasonUnknown
	}
	out.Message = gvr.Shorten(strings.Join(slices.Concat(lost, not, fine), "\n"))
	return out
}

// taken says how much of the code a proof ran, "" where nobody knows.
func taken(p module.Proved) string {
	if p.Branches == nil {
		return ""
	}
	return fmt.Sprintf(", and took %d of %d branches of the functions that they ran", p.Branches.Taken, p.Branches.All)
}

// maxReason is how much of what a further failure says is told.
const maxReason = 100

// Told is a loss in words: the first field with an example, and the others by name, where
// conversions fail with what they say.
func Told(r proof.Report) string {
	first := r.Losses[0]
	text := fmt.Sprintf("%s of %s, %s to %s and back", first.Problem, first.Field, first.From, first.To)
	if first.Message != "" {
		text += " (" + first.Message + ")"
	} else if first.Problem == proof.Lost {
		text += fmt.Sprintf(" (%s becomes %s)", orNothing(first.Had), orNothing(first.Got))
	}
	var others []string
	for _, l := range r.Losses[1:] {
		other := l.Field
		if l.Problem == proof.Fails {
			other += fmt.Sprintf(" (%.*s)", maxReason, l.Message)
		} else if l.Field == first.Field {
			continue
		}
		if !slices.Contains(others, other) {
			others = append(others, other)
		}
	}
	if len(others) > 0 {
		text += "; also " + strings.Join(others, ", ")
	}
	return text + "; for example\n" + first.Example
}

func orNothing(value string) string {
	if value == "" {
		return "nothing"
	}
	return value
}
