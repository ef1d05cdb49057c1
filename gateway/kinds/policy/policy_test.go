package policy

import (
	"context"
	"errors"
	"reflect"
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
)

// one is a store of one policy.
type one struct {
	object  map[string]any
	updates int
	fails   error // updates
}

func (o *one) Get(_ context.Context, gr schema.GroupResource, _, name string) (*unstructured.Unstructured, error) {
	if o.object == nil || gr != gvr.ValidatingPolicies || name != "p" {
		return nil, apierrors.NewNotFound(gr, name)
	}
	return (&unstructured.Unstructured{Object: o.object}).DeepCopy(), nil
}

func (o *one) Update(_ context.Context, gr schema.GroupResource, subresource string, obj *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	if gr != gvr.ValidatingPolicies || subresource != "status" {
		return nil, errors.New("not the status of a policy")
	}
	if o.fails != nil {
		return nil, o.fails
	}
	o.updates++
	o.object = obj.Object
	return obj, nil
}

func TestStatusFollowsGenerations_CEL20(t *testing.T) {
	o := &one{object: map[string]any{"metadata": map[string]any{"name": "p", "generation": int64(3)}, "spec": map[string]any{"validations": []any{map[string]any{"expression": "x"}}}}}
	warnings := []admissionv1.ExpressionWarning{{FieldRef: "f", Warning: "w"}}
	var wrong error
	checked := 0
	c := New(o, func(p *admissionv1.ValidatingAdmissionPolicy) ([]admissionv1.ExpressionWarning, error) {
		checked++
		if p.Name != "p" || p.Spec.Validations[0].Expression != "x" {
			t.Errorf("checked %v", p)
		}
		return warnings, wrong
	})
	run := func() error {
		t.Helper()
		return c.Reconcile(t.Context(), nil, controller.Key{GroupResource: gvr.ValidatingPolicies, Name: "p"})
	}
	for range 2 {
		if err := run(); err != nil {
			t.Fatal(err)
		}
	}
	want := map[string]any{"observedGeneration": int64(3), "typeChecking": map[string]any{"expressionWarnings": []any{map[string]any{"fieldRef": "f", "warning": "w"}}}}
	if !reflect.DeepEqual(o.object["status"], want) || o.updates != 1 || checked != 1 {
		t.Errorf("status %v, %d updates, %d checks", o.object["status"], o.updates, checked)
	}
	o.object["metadata"].(map[string]any)["generation"], warnings = int64(4), nil
	if err := run(); err != nil || !reflect.DeepEqual(o.object["status"], map[string]any{"observedGeneration": int64(4), "typeChecking": map[string]any{}}) {
		t.Errorf("status %v, %v", o.object["status"], err)
	}
	o.object["metadata"].(map[string]any)["generation"], wrong = int64(5), errors.New("no types")
	if err := run(); !errors.Is(err, wrong) || o.updates != 2 {
		t.Errorf("%v, %d updates", err, o.updates)
	}
	wrong, o.fails = nil, errors.New("no store")
	if err := run(); !errors.Is(err, o.fails) {
		t.Errorf("got %v", err)
	}
	o.fails = apierrors.NewNotFound(gvr.ValidatingPolicies, "p")
	if err := run(); err != nil {
		t.Errorf("gone meanwhile: %v", err)
	}
	o.object["spec"] = "text"
	if err := run(); err == nil {
		t.Error("read what cannot be read")
	}
	o.object = nil
	if err := run(); err != nil {
		t.Errorf("gone: %v", err)
	}
	if got := c.Watches(); len(got) != 1 || got[0] != gvr.ValidatingPolicies || c.Name() == "" {
		t.Errorf("watches %v", got)
	}
}
