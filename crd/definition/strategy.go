package definition

import (
	"context"
	"fmt"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"k8s.io/apiextensions-apiserver/pkg/crdserverscheme"
	"k8s.io/apiextensions-apiserver/pkg/registry/customresourcedefinition"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/storage/names"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/wasmgate/wasmgate/crd"
)

// updater is the library's strategy for a write, over its own types.
type updater interface {
	rest.RESTUpdateStrategy
	rest.ResetFieldsStrategy
}

// updateStrategy is a library's update strategy over unstructured objects. The
// embedded one answers what does not depend on an object.
type updateStrategy struct {
	library updater
	*crdserverscheme.UnstructuredObjectTyper
}

// strategy adds creation.
type strategy struct {
	updateStrategy
	names.NameGenerator
	create rest.RESTCreateStrategy
}

func newStrategy() crd.Strategy {
	library := customresourcedefinition.NewStrategy(scheme)
	return &strategy{
		updateStrategy{library, crdserverscheme.NewUnstructuredObjectTyper()}, names.SimpleNameGenerator, library,
	}
}

func (s *updateStrategy) NamespaceScoped() bool                         { return false }
func (s *updateStrategy) AllowCreateOnUpdate(ctx context.Context) bool  { return false }
func (s *updateStrategy) AllowUnconditionalUpdate(context.Context) bool { return false }
func (s *updateStrategy) Canonicalize(runtime.Object)                   {}

// GetResetFields returns the fields that a write through this strategy cannot
// change.
func (s *updateStrategy) GetResetFields() map[fieldpath.APIVersion]*fieldpath.Set {
	return s.library.GetResetFields()
}

func (s *strategy) PrepareForCreate(ctx context.Context, obj runtime.Object) {
	var h heads
	in, schemas, err := h.read(obj)
	if err != nil {
		return // Validate reports it
	}
	s.create.PrepareForCreate(ctx, in)
	write(obj, in, schemas)
}

func (s *strategy) Validate(ctx context.Context, obj runtime.Object) field.ErrorList {
	in, _, err := judged(ctx, obj, nil)
	if err != nil {
		return unreadable(err)
	}
	errs := append(foreign(in), replaceModuleURL(in)...)
	return append(errs, guarded(func() field.ErrorList { return s.create.Validate(ctx, in) })...)
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

func (s *strategy) WarningsOnCreate(ctx context.Context, obj runtime.Object) []string {
	in, _, err := judged(ctx, obj, nil)
	if err != nil {
		return nil
	}
	return s.create.WarningsOnCreate(ctx, in)
}

func (s *updateStrategy) PrepareForUpdate(ctx context.Context, obj, old runtime.Object) {
	in, oldIn, schemas, err := readHeads(obj, old)
	if err != nil {
		return // ValidateUpdate reports it
	}
	s.library.PrepareForUpdate(ctx, in, oldIn)
	write(obj, in, schemas)
}

func (s *updateStrategy) ValidateUpdate(ctx context.Context, obj, old runtime.Object) field.ErrorList {
	in, oldIn, err := judged(ctx, obj, old)
	if err != nil {
		return unreadable(err)
	}
	errs := replaceModuleURL(in)
	return append(errs, guarded(func() field.ErrorList { return s.library.ValidateUpdate(ctx, in, oldIn) })...)
}

func (s *updateStrategy) WarningsOnUpdate(ctx context.Context, obj, old runtime.Object) []string {
	in, oldIn, err := judged(ctx, obj, old)
	if err != nil {
		return nil
	}
	return s.library.WarningsOnUpdate(ctx, in, oldIn)
}

// states are those of a write, read as a whole.
type states struct {
	obj, old  runtime.Object
	in, oldIn *apiextensions.CustomResourceDefinition
}

// judged reads the states of a write as a whole, once for all that judge them.
// old is nil for a creation.
func judged(ctx context.Context, obj, old runtime.Object) (in, oldIn *apiextensions.CustomResourceDefinition, err error) {
	notes := crd.NotesOf(ctx)
	if known, ok := notes.Kept().(states); ok && known.obj == obj && known.old == old {
		return known.in, known.oldIn, nil
	}
	if in, err = read(obj); err != nil {
		return nil, nil, err
	}
	if old != nil {
		if oldIn, err = read(old); err != nil {
			return nil, nil, err
		}
	}
	notes.Keep(states{obj, old, in, oldIn})
	return in, oldIn, nil
}

func read(obj runtime.Object) (*apiextensions.CustomResourceDefinition, error) {
	u, ok := obj.(*unstructured.Unstructured)
	if !ok {
		return nil, fmt.Errorf("custom resource definition: it is a %T", obj)
	}
	return internal(u.Object)
}

// read reads the head of an object, and takes its schemas out.
func (h *heads) read(obj runtime.Object) (in *apiextensions.CustomResourceDefinition, schemas []any, err error) {
	u, ok := obj.(*unstructured.Unstructured)
	if !ok {
		return nil, nil, fmt.Errorf("custom resource definition: it is a %T", obj)
	}
	head, schemas := h.of(u.Object)
	in, err = internal(head)
	return in, schemas, err
}

// readHeads reads the heads of a new and of an old state, and takes the schemas
// out of the new one.
func readHeads(obj, old runtime.Object) (in, oldIn *apiextensions.CustomResourceDefinition, schemas []any, err error) {
	var h heads
	if in, schemas, err = h.read(obj); err != nil {
		return nil, nil, nil, err
	}
	if oldIn, _, err = h.read(old); err != nil {
		return nil, nil, nil, err
	}
	return in, oldIn, schemas, nil
}

// write puts a head back into obj. What was read from a tree can be written to
// one.
func write(obj runtime.Object, in *apiextensions.CustomResourceDefinition, schemas []any) {
	head, err := fromInternal(in)
	if err != nil {
		return
	}
	tree := whole(head, schemas)
	u := obj.(*unstructured.Unstructured)
	if u.Object == nil {
		u.Object = map[string]any{}
	}
	replace(u.Object, tree)
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

func unreadable(err error) field.ErrorList {
	return field.ErrorList{field.InternalError(nil, err)}
}
