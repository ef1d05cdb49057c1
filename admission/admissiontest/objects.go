// Package admissiontest owns what tests of admission are about: a request, the object
// of a write, before and after it, and the namespaces that there are.
//
// It must not know who asks. Only tests import it.
package admissiontest

import (
	"context"
	"errors"
	"maps"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/crd/object"
)

// Tree is the object that a text is.
func Tree(t *testing.T, text string) map[string]any {
	t.Helper()
	out, _, err := object.ParseObject([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// Objects are the states of a Tab that is written. They implement
// admission.Objects and admission.States; nothing can be converted to the version
// "broken".
type Objects struct {
	// Before and After are the states at v1, nil for none.
	Before, After map[string]any
	// Replaced counts the changes of the new state.
	Replaced int
	// Unmerged is why nothing can be put over the new state; nil where it can.
	Unmerged error
}

// GetObject is the new state.
func (o *Objects) GetObject() *unstructured.Unstructured { return whole(o.After) }

// GetOldObject is the old state.
func (o *Objects) GetOldObject(context.Context) (*unstructured.Unstructured, error) {
	return whole(o.Before), nil
}

func whole(tree map[string]any) *unstructured.Unstructured {
	if tree == nil {
		return nil
	}
	return &unstructured.Unstructured{Object: tree}
}

// GetObjectAt is the new state at a version.
func (o *Objects) GetObjectAt(_ context.Context, version string) (map[string]any, error) {
	return at(o.After, version)
}

// GetOldObjectAt is the old state at a version.
func (o *Objects) GetOldObjectAt(_ context.Context, version string) (map[string]any, error) {
	return at(o.Before, version)
}

func at(tree map[string]any, version string) (map[string]any, error) {
	if tree == nil {
		return nil, nil
	}
	if version == "broken" {
		return nil, errors.New("no conversion")
	}
	out := maps.Clone(tree)
	out["apiVersion"] = "example.com/" + version
	return out, nil
}

// GetLabels are those of the states that there are.
func (o *Objects) GetLabels() (all []labels.Set, err error) {
	for _, t := range []map[string]any{o.After, o.Before} {
		if t == nil {
			continue
		}
		set := labels.Set{}
		l, _ := t["metadata"].(map[string]any)["labels"].(map[string]any)
		for k, v := range l {
			set[k] = v.(string)
		}
		all = append(all, set)
	}
	return all, nil
}

// Replace makes tree the new state.
func (o *Objects) Replace(_ context.Context, _ string, tree map[string]any) error {
	o.Replaced++
	tree["apiVersion"] = "example.com/v1"
	o.After = tree
	return nil
}

// Overlay is the new state with the fields of part instead of its own.
func (o *Objects) Overlay(_ context.Context, version string, part map[string]any) (map[string]any, error) {
	whole, err := at(o.After, version)
	if err != nil || o.Unmerged != nil {
		return nil, errors.Join(err, o.Unmerged)
	}
	maps.Copy(whole, part)
	return whole, nil
}

// Namespaces are the labels of namespaces, by name. They implement
// admission.Namespaces; that of the namespace "broken" cannot be read.
type Namespaces map[string]labels.Set

// IsNamespaceTerminating is false of those that there are.
func (n Namespaces) IsNamespaceTerminating(ctx context.Context, name string) (bool, error) {
	_, err := n.GetNamespaceLabels(ctx, name)
	return false, err
}

// GetNamespaceLabels are those of a namespace.
func (n Namespaces) GetNamespaceLabels(_ context.Context, name string) (labels.Set, error) {
	if set, ok := n[name]; ok {
		return set, nil
	}
	if name == "broken" {
		return nil, errors.New("no store")
	}
	return nil, apierrors.NewNotFound(schema.GroupResource{Resource: "namespaces"}, name)
}

// GetNamespaceObject is one with its name and labels.
func (n Namespaces) GetNamespaceObject(ctx context.Context, name string) (*corev1.Namespace, error) {
	set, err := n.GetNamespaceLabels(ctx, name)
	if err != nil {
		return nil, err
	}
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: set}}, nil
}
