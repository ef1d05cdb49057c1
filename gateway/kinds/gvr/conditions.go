package gvr

import (
	"fmt"

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
