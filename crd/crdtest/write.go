package crdtest

import (
	"context"
	"errors"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/crd/object"
)

// Namespace is where the objects are of the kinds that have one.
const Namespace = "bi-ns"

// Parse reads a JSON object.
func Parse(t testing.TB, data []byte) map[string]any {
	t.Helper()
	tree, _, err := object.Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// Shaped is an object of a kind as a client sends it, at the version that is stored.
func Shaped(t testing.TB, d *crd.Definition, body string) *unstructured.Unstructured {
	t.Helper()
	tree := Parse(t, []byte(body))
	tree["apiVersion"], tree["kind"] = d.APIVersion(d.StorageVersion), d.Kind
	if _, err := d.Versions[0].Shape.FromClient(tree, false); err != nil {
		t.Fatal(err)
	}
	return &unstructured.Unstructured{Object: tree}
}

// WriteContext is that of a write of an object of a kind.
func WriteContext(d *crd.Definition) context.Context {
	if !d.Namespaced {
		return request.WithNamespace(context.Background(), "")
	}
	return request.WithNamespace(context.Background(), Namespace)
}

// Creation is what is wrong with a new object.
func Creation(t testing.TB, d *crd.Definition, body string) error {
	t.Helper()
	obj := Shaped(t, d, body)
	if d.Namespaced {
		obj.SetNamespace(Namespace)
	}
	rest.FillObjectMetaSystemFields(obj)
	return rest.BeforeCreate(Registry(d, d.Versions[0].Strategy), WriteContext(d), obj)
}

// Change is what is wrong with another state of an object, written whole or through a
// subresource.
func Change(t testing.TB, d *crd.Definition, subresource, was, body string) error {
	t.Helper()
	old, obj := Shaped(t, d, was), Shaped(t, d, body)
	for _, o := range []*unstructured.Unstructured{old, obj} {
		o.SetUID("u")
		o.SetResourceVersion("7")
		if d.Namespaced {
			o.SetNamespace(Namespace)
		}
	}
	update := d.Versions[0].Strategy
	if subresource != "" {
		update = d.Versions[0].Subresources[subresource].Update
	}
	return rest.BeforeUpdate(Registry(d, update), WriteContext(d), obj, old)
}

// Message is what a refusal says, from the name on; none of what is no refusal.
func Message(err error) string {
	var status *apierrors.StatusError
	if !errors.As(err, &status) {
		return ""
	}
	_, said, _ := strings.Cut(status.ErrStatus.Message, " is invalid: ")
	return said
}
