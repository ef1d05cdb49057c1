package module

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
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
	if c := meta.FindStatusCondition(readStatus(obj).Conditions, Ready); c != nil && c.Status != metav1.ConditionTrue {
		return c.Message
	}
	return ""
}

// statusFields is the status of a WasmModule as it is written.
type statusFields struct {
	ObservedGeneration int64                `json:"observedGeneration,omitempty"`
	Digest             string               `json:"digest,omitempty"`
	Size               int64                `json:"size,omitempty"`
	ABI                int64                `json:"abi,omitempty"`
	Hooks              []string             `json:"hooks,omitempty"`
	Conversions        []plugins.Conversion `json:"conversions,omitempty"`
	Pulled             *PulledImage         `json:"pulled,omitempty"`
	// Accepted names the revision that was let serve last; a gateway that does
	// not know it is an earlier one.
	Accepted string `json:"acceptedRevision,omitempty"`
	// Kept is set where the spec may not say how what serves is configured.
	Kept *keptConfiguration `json:"keptConfiguration,omitempty"`
	// Calls is about the revision that serves.
	Calls      *Calls             `json:"calls,omitempty"`
	Revisions  []servedRevision   `json:"revisions,omitempty"`
	Candidate  *Candidate         `json:"candidate,omitempty"`
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// readStatus reads the status. One that cannot be read is none: nobody but
// gateways writes it, and they make it right again.
func readStatus(obj *unstructured.Unstructured) (s statusFields) {
	if runtime.DefaultUnstructuredConverter.FromUnstructured(gvr.Section(obj, "status"), &s) != nil {
		return statusFields{}
	}
	return s
}

// servedRevision is content that served.
type servedRevision struct {
	Digest string      `json:"digest"`
	Size   int64       `json:"size,omitempty"`
	Since  metav1.Time `json:"since,omitzero"`
}

// served tells that content served before.
func served(obj *unstructured.Unstructured, digest string) bool {
	return slices.ContainsFunc(readStatus(obj).Revisions, func(r servedRevision) bool { return r.Digest == digest })
}

// servedLast is the content that served last, "" for none.
func servedLast(obj *unstructured.Unstructured) string {
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

// remember puts what serves at the head of the history, which keeps a number of
// contents.
func remember(history []servedRevision, digest string, size int64, now metav1.Time, keep int64) []servedRevision {
	if len(history) == 0 || history[0].Digest != digest {
		rest := slices.DeleteFunc(slices.Clone(history), func(r servedRevision) bool { return r.Digest == digest })
		history = append([]servedRevision{{Digest: digest, Size: size, Since: now}}, rest...)
	}
	return history[:min(int64(len(history)), max(keep, 1))]
}

// historyLimit is how many contents the object wants kept.
func historyLimit(obj *unstructured.Unstructured) int64 {
	if n, ok := wholeNumber(gvr.Section(obj, "spec")["revisionHistoryLimit"]); ok {
		return n
	}
	return defaultHistory
}

// report writes the outcome into the object, unless this gateway did before.
func (c *Controller) report(ctx context.Context, obj *unstructured.Unstructured, m *loaded, problem *refusal) error {
	status := c.serving(obj.GetName())
	outcome := fmt.Sprintf("%d %+v %s", obj.GetGeneration(), problem, m.unkept)
	if status.Serving != nil {
		outcome += " " + identity(*status.Serving)
	}
	if m.reported == outcome {
		return nil
	}
	old := readStatus(obj)
	fields := old.served(status, m.restored)
	fields.Pulled, fields.Revisions, fields.Accepted = old.Pulled, old.Revisions, old.Accepted
	if serving := status.Serving; serving != nil {
		fields.Revisions = remember(old.Revisions, fields.Digest, fields.Size, metav1.NewTime(c.now().Truncate(time.Second)), historyLimit(obj))
		if problem == nil || fields.Accepted == "" {
			fields.Accepted = RevisionName(*serving)
		}
		if problem != nil || promotes(obj) {
			fields.Kept = keep(*serving)
		}
	} else if !m.restored {
		fields.Kept = old.kept(obj)
	}
	fields.Candidate = nextCandidate(obj, old.Candidate, problem, c.content.Digest)
	fields.settle(obj.GetGeneration(), status.Serving != nil, problem, m.unkept)
	if !slices.Equal(old.Conversions, fields.Conversions) {
		lacking, err := lacks(ctx, c.objects, obj.GetName(), fields.Conversions)
		if err != nil {
			return err
		}
		SetCompleteness(&fields.Conditions, obj.GetGeneration(), lacking)
	}
	if searching := status.Serving == nil && !m.restored; searching {
		fields.Calls = old.Calls
	} else {
		fields.beginCalls(old.Calls, status.Serving != nil)
	}
	if !equality.Semantic.DeepEqual(old, fields) {
		if err := gvr.SetStatus(obj, &fields); err != nil {
			return err
		}
		if _, err := c.objects.Update(ctx, gvr.Modules, "status", obj); err != nil {
			return err
		}
	}
	m.reported = outcome
	return nil
}

// served is a status that says what serves. A digest stays while nothing does
// and the search for the revision that served before has not ended.
func (old statusFields) served(now plugins.Status, restored bool) statusFields {
	s := statusFields{Conditions: append([]metav1.Condition(nil), old.Conditions...)}
	switch {
	case now.Serving != nil:
		s.Digest, s.Size, s.ABI, s.Conversions = now.Digest(), int64(now.Size), int64(now.ABI), now.Conversions
		for _, h := range now.Hooks {
			s.Hooks = append(s.Hooks, string(h))
		}
	case !restored:
		s.Digest, s.Size, s.ABI, s.Hooks, s.Conversions = old.Digest, old.Size, old.ABI, old.Hooks, old.Conversions
	}
	return s
}

// settle sets the conditions. unkept says why content is not kept for the time
// when another one is refused.
func (s *statusFields) settle(generation int64, serving bool, problem *refusal, unkept string) {
	s.ObservedGeneration = generation
	compiled := metav1.Condition{Type: Compiled, Status: metav1.ConditionTrue, Reason: "Compiled"}
	ready := metav1.Condition{Type: Ready, Status: metav1.ConditionTrue, Reason: "Serving"}
	bad := metav1.ConditionFalse
	if problem != nil && problem.expected {
		bad = metav1.ConditionUnknown
	}
	switch {
	case problem == nil:
		compiled.Message = fmt.Sprintf("ABI %d, hooks: %s", s.ABI, strings.Join(s.Hooks, ", "))
		ready.Message = s.Digest + " serves"
		if unkept != "" {
			ready.Message += ", and is not kept beside the object: " + unkept
		}
	case serving:
		compiled.Status, compiled.Reason, compiled.Message = bad, problem.reason, problem.message
		ready.Reason = "PreviousRevision"
		ready.Message = fmt.Sprintf("the newest revision does not serve (%s); %s keeps serving", problem.reason, s.Digest)
	default:
		compiled.Status, compiled.Reason, compiled.Message = bad, problem.reason, problem.message
		ready.Status, ready.Reason, ready.Message = bad, problem.reason, problem.message
	}
	for _, condition := range []metav1.Condition{compiled, ready} {
		condition.Message, condition.ObservedGeneration = gvr.Shorten(condition.Message), generation
		meta.SetStatusCondition(&s.Conditions, condition)
	}
}
