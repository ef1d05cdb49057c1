package custom

import (
	"context"

	"k8s.io/apiextensions-apiserver/pkg/crdserverscheme"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/storage/names"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/wasmgate/wasmgate/crd"
)

// library is a strategy as the library makes it.
type library interface {
	crd.Strategy
	rest.ResetFieldsStrategy
}

// libraryUpdate is the library's strategy of a subresource.
type libraryUpdate interface {
	rest.RESTUpdateStrategy
	rest.ResetFieldsStrategy
}

// alike is what the strategies of all custom resources say.
type alike struct {
	*crdserverscheme.UnstructuredObjectTyper
	namespaced bool
}

func newAlike(namespaced bool) alike {
	return alike{crdserverscheme.NewUnstructuredObjectTyper(), namespaced}
}

func (a alike) NamespaceScoped() bool                       { return a.namespaced }
func (alike) AllowCreateOnUpdate(context.Context) bool      { return false }
func (alike) AllowUnconditionalUpdate(context.Context) bool { return false }
func (alike) Canonicalize(runtime.Object)                   {}

// lazyUpdate is an update strategy that is made when it is first needed: that
// compiles CEL rules, about half a millisecond for each, and most definitions
// of a server that starts are not written to for a long time. Changes that are
// accepted at once do not need it.
type lazyUpdate struct {
	alike
	quick *quick
	// prepare is PrepareForUpdate; nil leaves it to the library.
	prepare func(obj, old *unstructured.Unstructured)
	get     func() libraryUpdate // safe for concurrent use
}

func (s *lazyUpdate) PrepareForUpdate(ctx context.Context, obj, old runtime.Object) {
	next, ok := obj.(*unstructured.Unstructured)
	before, known := old.(*unstructured.Unstructured)
	if s.prepare != nil && ok && known {
		s.prepare(next, before)
		return
	}
	s.get().PrepareForUpdate(ctx, obj, old)
}

func (s *lazyUpdate) ValidateUpdate(ctx context.Context, obj, old runtime.Object) field.ErrorList {
	if s.quick.acceptsUpdate(obj, old) {
		return nil
	}
	if errs := s.quick.costlyQuantities(obj, old); len(errs) > 0 {
		return errs
	}
	return s.get().ValidateUpdate(ctx, obj, old)
}

func (s *lazyUpdate) WarningsOnUpdate(ctx context.Context, obj, old runtime.Object) []string {
	if unfinalized(obj) {
		return nil
	}
	return s.get().WarningsOnUpdate(ctx, obj, old)
}

// unfinalized tells that an object has no finalizers, which are all that the
// library warns of.
func unfinalized(obj runtime.Object) bool {
	u, ok := obj.(*unstructured.Unstructured)
	if !ok {
		return false
	}
	meta, ok := u.Object["metadata"].(map[string]any)
	return ok && meta["finalizers"] == nil
}

// GetResetFields returns the fields that a write through this strategy cannot
// change.
func (s *lazyUpdate) GetResetFields() map[fieldpath.APIVersion]*fieldpath.Set {
	return s.get().GetResetFields()
}

// lazyStrategy adds creation.
type lazyStrategy struct {
	lazyUpdate
	names.NameGenerator
	status bool // the status is a subresource
	whole  func() library
}

func newLazyStrategy(namespaced, status bool, q *quick, get func() library) *lazyStrategy {
	u := newLazyUpdate(namespaced, q, func() libraryUpdate { return get() })
	u.prepare = func(obj, old *unstructured.Unstructured) { prepareUpdate(status, obj, old) }
	return &lazyStrategy{*u, names.SimpleNameGenerator, status, get}
}

func newLazyUpdate(namespaced bool, q *quick, get func() libraryUpdate) *lazyUpdate {
	return &lazyUpdate{alike: newAlike(namespaced), quick: q, get: get}
}

func (s *lazyStrategy) PrepareForCreate(ctx context.Context, obj runtime.Object) {
	s.whole().PrepareForCreate(ctx, obj)
}

func (s *lazyStrategy) Validate(ctx context.Context, obj runtime.Object) field.ErrorList {
	if s.quick.accepts(obj) {
		return nil
	}
	if errs := s.quick.costlyQuantities(obj); len(errs) > 0 {
		return errs
	}
	return s.whole().Validate(ctx, obj)
}

func (s *lazyStrategy) WarningsOnCreate(ctx context.Context, obj runtime.Object) []string {
	if unfinalized(obj) {
		return nil
	}
	return s.whole().WarningsOnCreate(ctx, obj)
}
