package controller

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// The resources that the controllers of this package act on.
var (
	NamespaceResource = schema.GroupResource{Resource: "namespaces"}
	CRDResource       = schema.GroupResource{Group: "apiextensions.k8s.io", Resource: "customresourcedefinitions"}
	MigrationResource = schema.GroupResource{Group: "storagemigration.k8s.io", Resource: "storageversionmigrations"}
	ModuleResource    = schema.GroupResource{Group: "wasmgate.dev", Resource: "wasmmodules"}
)

// decode reads obj into a typed Go object.
func decode(obj *unstructured.Unstructured, into any) error {
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(obj.Object, into); err != nil {
		return fmt.Errorf("read %s %q: %w", obj.GetKind(), obj.GetName(), err)
	}
	return nil
}

// setStatus replaces obj's status with a typed one; status is a pointer.
func setStatus(obj *unstructured.Unstructured, status any) error {
	tree, err := runtime.DefaultUnstructuredConverter.ToUnstructured(status)
	if err != nil {
		return fmt.Errorf("write status of %s %q: %w", obj.GetKind(), obj.GetName(), err)
	}
	obj.Object["status"] = tree
	return nil
}

// section returns the map at obj[name], or an empty one that obj does not hold.
func section(obj *unstructured.Unstructured, name string) map[string]any {
	m, _ := obj.Object[name].(map[string]any)
	if m == nil {
		m = map[string]any{}
	}
	return m
}
