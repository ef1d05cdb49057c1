package definition

import (
	"context"
	"fmt"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"k8s.io/apiextensions-apiserver/pkg/registry/customresourcedefinition"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/registry/rest"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/wasmgate/wasmgate/crd"
)

// updater is the library's strategy of updates, over its own types.
type updater interface {
	rest.RESTUpdateStrategy
	rest.ResetFieldsStrategy
}

// strategy is the library's strategy of whole definitions, over unstructured objects.
type strategy struct {
	update updater
	create rest.RESTCreateStrategy
}

func newStrategy() crd.Strategy {
	library := customresourcedefinition.NewStrategy(scheme)
	return &strategy{library, library}
}

// Canonicalize implements [crd.Strategy]: there is no other form.
func (s *strategy) Canonicalize(*unstructured.Unstructured) {}

// Resets implements [crd.Strategy].
func (s *strategy) Resets() map[fieldpath.APIVersion]*fieldpath.Set { return s.update.GetResetFields() }

// Prepare implements [crd.Strategy]. What cannot be read is refused by the validation.
func (s *strategy) Prepare(ctx context.Context, obj, old *unstructured.Unstructured) {
	in, oldIn, schemas, err := readHeads(obj, old)
	switch {
	case err != nil:
		return
	case old == nil:
		s.create.PrepareForCreate(ctx, in)
	default:
		s.update.PrepareForUpdate(ctx, in, oldIn)
	}
	write(obj, in, schemas)
}

// Validate implements [crd.Strategy].
func (s *strategy) Validate(ctx context.Context, obj, old *unstructured.Unstructured) crd.Verdict {
	in, oldIn, err := wholes(obj, old)
	if err != nil {
		return unreadable(err)
	}
	var errs field.ErrorList
	if old == nil {
		errs = foreign(in)
	}
	errs = append(errs, replaceModuleURL(in)...)
	errs = append(errs, guarded(func() field.ErrorList {
		if old == nil {
			return s.create.Validate(ctx, in)
		}
		return s.update.ValidateUpdate(ctx, in, oldIn)
	})...)
	switch {
	case len(errs) > 0:
		return crd.Verdict{Errors: errs}
	case old == nil:
		return crd.Verdict{Warnings: s.create.WarningsOnCreate(ctx, in)}
	}
	return crd.Verdict{Warnings: s.update.WarningsOnUpdate(ctx, in, oldIn)}
}

// ownGroup is the group of the gateway's own kinds.
const ownGroup = "wasmgate.dev"

// foreign refuses a new definition of the gateway's own group: it would be served
// beside the built-in kinds, or never.
func foreign(in *apiextensions.CustomResourceDefinition) field.ErrorList {
	if in.Spec.Group != ownGroup {
		return nil
	}
	return field.ErrorList{field.Invalid(field.NewPath("spec", "group"), ownGroup, "it is the group of the gateway's own kinds; choose another one")}
}

// wholes reads the states of a write as a whole. old is nil for a creation.
func wholes(obj, old *unstructured.Unstructured) (in, oldIn *apiextensions.CustomResourceDefinition, err error) {
	if in, err = internal(obj.Object); err != nil || old == nil {
		return in, nil, err
	}
	oldIn, err = internal(old.Object)
	return in, oldIn, err
}

// readHeads reads the heads of a new and of an old state, nil for none, and takes the
// schemas out of the new one.
func readHeads(obj, old *unstructured.Unstructured) (in, oldIn *apiextensions.CustomResourceDefinition, schemas []any, err error) {
	var h heads
	head, schemas := h.of(obj.Object)
	if in, err = internal(head); err != nil || old == nil {
		return in, nil, schemas, err
	}
	head, _ = h.of(old.Object)
	oldIn, err = internal(head)
	return in, oldIn, schemas, err
}

// write puts a head back into obj. What was read from a tree can be written to
// one.
func write(obj *unstructured.Unstructured, in *apiextensions.CustomResourceDefinition, schemas []any) {
	head, err := fromInternal(in)
	if err != nil {
		return
	}
	tree := whole(head, schemas)
	if obj.Object == nil {
		obj.Object = map[string]any{}
	}
	replace(obj.Object, tree)
}

// guarded makes a panic of the library's validation a refusal: there are
// schemas that it does not survive.
func guarded(validate func() field.ErrorList) (errs field.ErrorList) {
	defer func() {
		if v := recover(); v != nil {
			errs = field.ErrorList{field.Forbidden(field.NewPath("spec"), fmt.Sprintf("a defect of the validation keeps it from being checked: %v", v))}
		}
	}()
	return validate()
}

func unreadable(err error) crd.Verdict {
	return crd.Verdict{Errors: field.ErrorList{field.InternalError(nil, err)}}
}
