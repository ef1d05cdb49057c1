package admitting

import (
	"context"
	"encoding/json"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/admission/policy"
	"github.com/wasmgate/wasmgate/gateway/resource"
)

// Made asks about an object that is made at a subresource and stored nowhere, as
// the Binding or the Eviction of a pod, and returns what it becomes. The tree is
// not the caller's any more.
func (a *Admission) Made(ctx context.Context, t resource.Target, kind schema.GroupVersionKind, tree map[string]any, o resource.WriteOptions) (map[string]any, error) {
	def, it := t.Resource.Def, &made{tree}
	r := a.about(t, o)
	r.Operation, r.Kind, r.Options, r.Objects, r.Namespaces = admission.Create, kind, createOptions(o), it, cached{a.params}
	err := admission.Mutate(ctx, r, policy.Stage(a.mutations.about(ctx, def), r, a.params, a.observe), admission.Mutation(about(ctx, a.mutating, def), r))
	if err == nil {
		err = policy.Validate(ctx, a.validations.about(ctx, def), r, a.params, a.observe)
	}
	if err == nil {
		err = admission.Validate(ctx, about(ctx, a.validating, def), r)
	}
	return it.tree, err
}

// made implements [admission.Objects]: an object at the one version that it has.
type made struct{ tree map[string]any }

// New implements [admission.Objects].
func (m *made) New(context.Context, string) (map[string]any, error) { return m.tree, nil }

// Old implements [admission.Objects].
func (*made) Old(context.Context, string) (map[string]any, error) { return nil, nil }

// Labels implements [admission.Objects].
func (m *made) Labels() ([]labels.Set, error) {
	return []labels.Set{(&unstructured.Unstructured{Object: m.tree}).GetLabels()}, nil
}

// Replace implements [admission.Objects].
func (m *made) Replace(_ context.Context, _ string, tree map[string]any) error {
	m.tree = tree
	return nil
}

// Overlay implements [admission.Objects].
func (*made) Overlay(context.Context, string, map[string]any) (map[string]any, error) {
	return nil, apierrors.NewServiceUnavailable("there is no schema of the object to merge by")
}

// cached implements [admission.Namespaces] by the cache.
type cached struct{ params policy.Params }

// Labels implements [admission.Namespaces].
func (c cached) Labels(ctx context.Context, name string) (labels.Set, error) {
	ns, err := c.Namespace(ctx, name)
	if err != nil {
		return nil, err
	}
	return ns.Labels, nil
}

// Namespace implements [admission.Namespaces].
func (c cached) Namespace(ctx context.Context, name string) (*corev1.Namespace, error) {
	found, err := c.params.Get(ctx, corev1.SchemeGroupVersion.WithKind("Namespace"), "", name)
	if err != nil {
		return nil, err
	}
	if found == nil {
		return nil, apierrors.NewNotFound(schema.GroupResource{Resource: "namespaces"}, name)
	}
	out := &corev1.Namespace{}
	data, err := found.MarshalJSON()
	if err == nil {
		err = json.Unmarshal(data, out)
	}
	return out, err
}
