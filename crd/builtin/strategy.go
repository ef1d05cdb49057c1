package builtin

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured/unstructuredscheme"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/storage/names"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/wasmgate/wasmgate/crd"
)

// rules are what a kind adds to writes. Functions that are nil do nothing;
// trees are changed in place.
type rules[T any] struct {
	prepareCreate func(obj map[string]any)
	prepareUpdate func(obj, old map[string]any)
	canonicalize  func(obj map[string]any)

	validate       func(obj *T) field.ErrorList
	validateUpdate func(obj, old *T) field.ErrorList
	// warn returns warnings; old is nil on create.
	warn func(obj, old *T) []string

	// resets are the fields that a client's write leaves as they were, and so
	// owns nothing of; nil for none.
	resets map[fieldpath.APIVersion]*fieldpath.Set
	// createOnUpdate allows PUT to create.
	createOnUpdate bool
	// unconditional allows updates without a resourceVersion.
	unconditional bool
}

// strategy is [rules] as Kubernetes' registries know them.
type strategy[T any] struct {
	runtime.ObjectTyper
	names.NameGenerator
	namespaced bool
	rules      rules[T]
}

var _ crd.Strategy = &strategy[struct{}]{}

func newStrategy[T any](namespaced bool, r rules[T]) *strategy[T] {
	return &strategy[T]{unstructuredscheme.NewUnstructuredObjectTyper(), names.SimpleNameGenerator, namespaced, r}
}

// subresource makes an update strategy for a part of the object.
func subresource[T any](name string, namespaced bool, r rules[T], verbs ...string) *crd.Subresource {
	return &crd.Subresource{Name: name, Update: rest.RESTUpdateStrategy(newStrategy(namespaced, r)), Verbs: verbs}
}

// resets are fields at the top of objects of an apiVersion.
func resets(version fieldpath.APIVersion, names ...string) map[fieldpath.APIVersion]*fieldpath.Set {
	set := &fieldpath.Set{}
	for _, name := range names {
		set.Insert(fieldpath.Path{{FieldName: &name}})
	}
	return map[fieldpath.APIVersion]*fieldpath.Set{version: set}
}

// GetResetFields implements [rest.ResetFieldsStrategy].
func (s *strategy[T]) GetResetFields() map[fieldpath.APIVersion]*fieldpath.Set {
	return s.rules.resets
}

func content(obj runtime.Object) map[string]any {
	u, ok := obj.(*unstructured.Unstructured)
	if !ok || u.Object == nil {
		return map[string]any{}
	}
	return u.Object
}

func typed[T any](obj runtime.Object) (*T, field.ErrorList) {
	t := new(T)
	if err := toTyped(content(obj), t); err != nil {
		return nil, field.ErrorList{field.InternalError(nil, err)}
	}
	return t, nil
}

func (s *strategy[T]) NamespaceScoped() bool                         { return s.namespaced }
func (s *strategy[T]) AllowCreateOnUpdate(context.Context) bool      { return s.rules.createOnUpdate }
func (s *strategy[T]) AllowUnconditionalUpdate(context.Context) bool { return s.rules.unconditional }

func (s *strategy[T]) PrepareForCreate(_ context.Context, obj runtime.Object) {
	if s.rules.prepareCreate != nil {
		s.rules.prepareCreate(content(obj))
	}
}

func (s *strategy[T]) PrepareForUpdate(_ context.Context, obj, old runtime.Object) {
	if s.rules.prepareUpdate != nil {
		s.rules.prepareUpdate(content(obj), content(old))
	}
}

func (s *strategy[T]) Canonicalize(obj runtime.Object) {
	if s.rules.canonicalize != nil {
		s.rules.canonicalize(content(obj))
	}
}

func (s *strategy[T]) Validate(_ context.Context, obj runtime.Object) field.ErrorList {
	t, errs := typed[T](obj)
	if errs != nil || s.rules.validate == nil {
		return errs
	}
	return s.rules.validate(t)
}

func (s *strategy[T]) ValidateUpdate(_ context.Context, obj, old runtime.Object) field.ErrorList {
	t, errs := typed[T](obj)
	if errs != nil {
		return errs
	}
	o, errs := typed[T](old)
	if errs != nil || s.rules.validateUpdate == nil {
		return errs
	}
	return s.rules.validateUpdate(t, o)
}

func (s *strategy[T]) WarningsOnCreate(_ context.Context, obj runtime.Object) []string {
	return s.warnings(obj, nil)
}

func (s *strategy[T]) WarningsOnUpdate(_ context.Context, obj, old runtime.Object) []string {
	return s.warnings(obj, old)
}

func (s *strategy[T]) warnings(obj, old runtime.Object) []string {
	if s.rules.warn == nil {
		return nil
	}
	t, errs := typed[T](obj)
	if errs != nil {
		return nil
	}
	var o *T
	if old != nil {
		if o, errs = typed[T](old); errs != nil {
			return nil
		}
	}
	return s.rules.warn(t, o)
}
