package gvr

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// conditioned is the part of a status that kinds have in common.
type conditioned struct {
	Conditions []metav1.Condition `json:"conditions"`
}

// Conditions are the conditions in the status of an object.
func Conditions(obj *unstructured.Unstructured) ([]metav1.Condition, error) {
	var status conditioned
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(Section(obj, "status"), &status); err != nil {
		return nil, fmt.Errorf("read status of %s %q: %w", obj.GetKind(), obj.GetName(), err)
	}
	return status.Conditions, nil
}

// ChangeConditions makes the conditions of an object what change makes of them, and
// reports whether they are others now. change may write into what it gets.
func ChangeConditions(obj *unstructured.Unstructured, change func([]metav1.Condition) []metav1.Condition) (changed bool, err error) {
	before, err := Conditions(obj)
	if err != nil {
		return false, err
	}
	after := change(slices.Clone(before))
	if equality.Semantic.DeepEqual(before, after) {
		return false, nil
	}
	return true, SetConditions(obj, after)
}

// SetConditions leaves the rest of the status as it is.
func SetConditions(obj *unstructured.Unstructured, conditions []metav1.Condition) error {
	tree, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&conditioned{conditions})
	if err != nil {
		return fmt.Errorf("write status of %s %q: %w", obj.GetKind(), obj.GetName(), err)
	}
	status := Section(obj, "status")
	status["conditions"] = tree["conditions"]
	obj.Object["status"] = status
	return nil
}
