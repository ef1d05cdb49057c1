package module

import (
	"context"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/wasmgate/wasmgate/gateway/controller/kinds"
)

// The conditions of a WasmModule.
const (
	// Compiled is whether the newest revision is usable.
	Compiled = "Compiled"
	// Ready is whether calls are served, by that revision or the one
	// before.
	Ready = "Ready"
)

// statusFields is the status of a WasmModule as it is written.
type statusFields struct {
	ObservedGeneration int64              `json:"observedGeneration,omitempty"`
	Digest             string             `json:"digest,omitempty"`
	Size               int64              `json:"size,omitempty"`
	ABI                int64              `json:"abi,omitempty"`
	Hooks              []string           `json:"hooks,omitempty"`
	Conditions         []metav1.Condition `json:"conditions,omitempty"`
}

// report writes the outcome into the object, unless this gateway did before.
func (c *Controller) report(ctx context.Context, obj *unstructured.Unstructured, m *loaded, problem *refusal) error {
	outcome := fmt.Sprintf("%d %+v", obj.GetGeneration(), problem)
	if m.serving != nil {
		outcome += " " + m.serving.identity
	}
	if m.reported == outcome {
		return nil
	}
	obj, err := c.keepRevision(ctx, obj, m, problem)
	if err != nil {
		return err
	}
	var old statusFields
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(kinds.Section(obj, "status"), &old); err != nil {
		old = statusFields{} // nobody but gateways writes it; make it right again
	}
	status := newStatusFields(old, obj.GetGeneration(), m, problem)
	if !equality.Semantic.DeepEqual(old, status) {
		if err := kinds.SetStatus(obj, &status); err != nil {
			return err
		}
		if _, err := c.objects.Update(ctx, kinds.Modules, "status", obj); err != nil {
			return err
		}
	}
	m.reported = outcome
	return nil
}

// keepRevision notes how the revision that keeps serving is configured when
// the object no longer says so, and drops the note when it does again.
func (c *Controller) keepRevision(ctx context.Context, obj *unstructured.Unstructured, m *loaded, problem *refusal) (*unstructured.Unstructured, error) {
	note := ""
	if problem != nil && m.serving != nil {
		note = keep(m.serving.rev)
	}
	annotations := obj.GetAnnotations()
	if annotations[KeptAnnotation] == note {
		return obj, nil
	}
	if note == "" {
		delete(annotations, KeptAnnotation)
	} else {
		if annotations == nil {
			annotations = map[string]string{}
		}
		annotations[KeptAnnotation] = note
	}
	obj.SetAnnotations(annotations)
	return c.objects.Update(ctx, kinds.Modules, "", obj)
}

func newStatusFields(old statusFields, generation int64, m *loaded, problem *refusal) statusFields {
	serving := m.serving
	s := statusFields{ObservedGeneration: generation, Conditions: append([]metav1.Condition(nil), old.Conditions...)}
	switch {
	case serving != nil:
		s.Digest, s.Size, s.ABI, s.Hooks = serving.Digest, serving.Size, int64(serving.ABI), serving.Hooks
	case !m.restored: // the digest is what the next try to restore goes by
		s.Digest, s.Size, s.ABI, s.Hooks = old.Digest, old.Size, old.ABI, old.Hooks
	}
	compiled := metav1.Condition{Type: Compiled, Status: metav1.ConditionTrue, Reason: "Compiled"}
	ready := metav1.Condition{Type: Ready, Status: metav1.ConditionTrue, Reason: "Serving"}
	switch {
	case problem == nil:
		compiled.Message = fmt.Sprintf("ABI %d, hooks: %s", s.ABI, strings.Join(s.Hooks, ", "))
		ready.Message = s.Digest + " serves"
	case serving != nil:
		compiled.Status, compiled.Reason, compiled.Message = metav1.ConditionFalse, problem.reason, problem.message
		ready.Reason = "PreviousRevision"
		ready.Message = fmt.Sprintf("the newest revision was refused (%s); %s keeps serving", problem.reason, s.Digest)
	default:
		compiled.Status, compiled.Reason, compiled.Message = metav1.ConditionFalse, problem.reason, problem.message
		ready.Status, ready.Reason, ready.Message = metav1.ConditionFalse, problem.reason, problem.message
	}
	for _, condition := range []metav1.Condition{compiled, ready} {
		condition.Message, condition.ObservedGeneration = kinds.Shorten(condition.Message), generation
		meta.SetStatusCondition(&s.Conditions, condition)
	}
	return s
}
