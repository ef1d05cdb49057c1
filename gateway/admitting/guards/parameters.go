package guards

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Namespaced tells whether parameters of a kind are in namespaces; has is false when
// there are none.
func (s *State) Namespaced(kind schema.GroupVersionKind) (namespaced, has bool) {
	for _, o := range s.Objects {
		if o.Parameter && o.GroupVersionKind() == kind {
			namespaced, has = namespaced || o.GetNamespace() != "", true
		}
	}
	return namespaced, has
}

// Get returns a parameter, nil if there is none.
func (s *State) Get(_ context.Context, kind schema.GroupVersionKind, namespace, name string) (*unstructured.Unstructured, error) {
	for _, o := range s.Objects {
		if o.Parameter && o.GroupVersionKind() == kind && o.GetNamespace() == namespace && o.GetName() == name {
			return o.Unstructured, nil
		}
	}
	return nil, nil
}

// Select returns the parameters that have such labels, by name.
func (s *State) Select(_ context.Context, kind schema.GroupVersionKind, namespace string, l labels.Selector) (all []*unstructured.Unstructured, err error) {
	for _, o := range s.Objects {
		if o.Parameter && o.GroupVersionKind() == kind && (namespace == "" || o.GetNamespace() == namespace) && l.Matches(labels.Set(o.GetLabels())) {
			all = append(all, o.Unstructured)
		}
	}
	return all, nil
}
