package gvr

import (
	"encoding/json"
	"maps"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Outline reads a definition without its versions, which are nearly all of it. It may be
// kept for long: it shares no memory with obj, whose texts are mostly parts of one.
func Outline(obj *unstructured.Unstructured) (*apiextensionsv1.CustomResourceDefinition, error) {
	spec := Section(obj, "spec")
	short := &unstructured.Unstructured{Object: map[string]any{
		"metadata": map[string]any{"name": obj.GetName(), "uid": string(obj.GetUID())},
		"spec":     map[string]any{"group": spec["group"], "names": spec["names"]},
		"status":   Section(obj, "status"),
	}}
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := Decode(short, crd); err != nil {
		return nil, err
	}
	crd.ResourceVersion = obj.GetResourceVersion()
	own := &apiextensionsv1.CustomResourceDefinition{}
	text, err := json.Marshal(crd)
	if err == nil {
		err = json.Unmarshal(text, own)
	}
	if err != nil {
		return nil, err
	}
	own.CreationTimestamp, own.DeletionTimestamp = obj.GetCreationTimestamp(), obj.GetDeletionTimestamp()
	return own, nil
}

// WithoutSpec is a definition as a write of the status needs it: the
// specification, which is nearly all of it, stays what it is. It shares the rest
// with obj.
func WithoutSpec(obj *unstructured.Unstructured) *unstructured.Unstructured {
	tree := maps.Clone(obj.Object)
	delete(tree, "spec")
	return &unstructured.Unstructured{Object: tree}
}

// IsTrue tells whether a definition has a condition that is true.
func IsTrue(crd *apiextensionsv1.CustomResourceDefinition, t apiextensionsv1.CustomResourceDefinitionConditionType) bool {
	return slices.ContainsFunc(crd.Status.Conditions, func(c apiextensionsv1.CustomResourceDefinitionCondition) bool {
		return c.Type == t && c.Status == apiextensionsv1.ConditionTrue
	})
}
