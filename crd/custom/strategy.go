package custom

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/registry/rest"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/wasmgate/wasmgate/crd"
)

// libraryUpdate is the library's strategy of updates, and library that of whole
// objects.
type libraryUpdate interface {
	rest.RESTUpdateStrategy
	rest.ResetFieldsStrategy
}

type library interface {
	rest.RESTCreateStrategy
	libraryUpdate
}

// strategy is what a version says of writes of whole objects, or of their status. The
// library is asked about what is not accepted at once. Objects get here by the
// version's shape, so a schema that cannot be compiled has failed before.
type strategy struct {
	made *compiled
	// status: it is about writes through that subresource.
	status bool
}

var _ crd.Strategy = &strategy{}

// update is the library's strategy of updates.
func (s *strategy) update(p *parts) libraryUpdate {
	whole, status := p.library()
	if s.status {
		return status
	}
	return whole
}

// Prepare implements [crd.Strategy].
func (s *strategy) Prepare(ctx context.Context, obj, old *unstructured.Unstructured) {
	p, err := s.made.parts()
	switch {
	case err != nil: // Validate says so
	case old == nil:
		whole, _ := p.library()
		whole.PrepareForCreate(ctx, obj)
	case s.status:
		prepareStatus(obj, old)
	default:
		prepareUpdate(p.hasStatus, obj, old)
	}
}

// Validate implements [crd.Strategy]. Finalizers are all that the library warns of.
func (s *strategy) Validate(ctx context.Context, obj, old *unstructured.Unstructured) crd.Verdict {
	p, err := s.made.parts()
	if err != nil {
		return crd.Verdict{Errors: field.ErrorList{field.InternalError(nil, err)}}
	}
	if errs := s.mistakes(ctx, p, obj, old); len(errs) > 0 {
		return crd.Verdict{Errors: errs}
	}
	if meta, ok := obj.Object["metadata"].(map[string]any); ok && meta["finalizers"] == nil {
		return crd.Verdict{}
	}
	if old == nil {
		whole, _ := p.library()
		return crd.Verdict{Warnings: whole.WarningsOnCreate(ctx, obj)}
	}
	return crd.Verdict{Warnings: s.update(p).WarningsOnUpdate(ctx, obj, old)}
}

func (s *strategy) mistakes(ctx context.Context, p *parts, obj, old *unstructured.Unstructured) field.ErrorList {
	if p.quick.Accepts(obj, old) {
		return nil
	}
	if errs := p.costlyQuantities(obj, old); len(errs) > 0 {
		return errs
	}
	if old == nil {
		whole, _ := p.library()
		return whole.Validate(ctx, obj)
	}
	return s.update(p).ValidateUpdate(ctx, obj, old)
}

// Canonicalize implements [crd.Strategy]: there is no other form.
func (s *strategy) Canonicalize(*unstructured.Unstructured) {}

// Resets implements [crd.Strategy].
func (s *strategy) Resets() map[fieldpath.APIVersion]*fieldpath.Set {
	p, err := s.made.parts()
	if err != nil {
		return nil
	}
	return s.update(p).GetResetFields()
}
