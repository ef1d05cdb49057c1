package extend

import (
	"reflect"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/wasmgate/wasmgate/crd/object"
)

// required is what a pod says of the nodes that it may run on.
const required = "requiredDuringSchedulingIgnoredDuringExecution"

// term and requirement are a pod's terms of nodes in the form that messages show them in,
// which is that of kube-apiserver's own types.
type (
	term        struct{ MatchExpressions, MatchFields []requirement }
	requirement struct {
		Key, Operator string
		Values        []any
	}
)

// validateWaiting lets who changes a pod that waits for its scheduling gates say more of the
// nodes that it may run on, and not less: to every term requirements are added at the end,
// and terms neither come nor go. Where nothing was required anything can be.
func validateWaiting(obj, old map[string]any) (errs field.ErrorList) {
	if gates, _ := object.Child(old, "spec")["schedulingGates"].([]any); len(gates) == 0 {
		return nil
	}
	at := field.NewPath("spec", "affinity", "nodeAffinity", required, "nodeSelectorTerms")
	was, now := termsOf(old), termsOf(obj)
	if len(was) > 0 && len(was) != len(now) {
		return field.ErrorList{field.Invalid(at, now, "no additions/deletions to non-empty NodeSelectorTerms list are allowed")}
	}
	for i := range was {
		if !now[i].narrows(was[i]) {
			errs = append(errs, field.Invalid(at.Index(i), now[i], "only additions are allowed (no mutations or deletions)"))
		}
	}
	return errs
}

// narrows tells whether a term is another one with more in it. One with nothing in it is
// that of no node, which more would make one of some.
func (t term) narrows(was term) bool {
	if len(was.MatchExpressions) == 0 && len(was.MatchFields) == 0 {
		return len(t.MatchExpressions) == 0 && len(t.MatchFields) == 0
	}
	return begins(t.MatchExpressions, was.MatchExpressions) && begins(t.MatchFields, was.MatchFields)
}

// begins tells whether a list begins with another.
func begins(list, with []requirement) bool {
	return len(list) >= len(with) && (len(with) == 0 || reflect.DeepEqual(list[:len(with)], with))
}

// termsOf are the terms of nodes that a pod requires.
func termsOf(pod map[string]any) []term {
	return termsIn(object.Child(pod, "spec", "affinity", "nodeAffinity", required))
}

// termsIn are the terms of a selector of nodes.
func termsIn(selector map[string]any) (out []term) {
	for _, t := range object.Objects(selector["nodeSelectorTerms"]) {
		out = append(out, term{requirementsOf(t["matchExpressions"]), requirementsOf(t["matchFields"])})
	}
	return out
}

func requirementsOf(list any) (out []requirement) {
	for _, r := range object.Objects(list) {
		one := requirement{Key: object.TextAt(r, "key"), Operator: object.TextAt(r, "operator")}
		if values, _ := r["values"].([]any); len(values) > 0 {
			one.Values = values
		}
		out = append(out, one)
	}
	return out
}
