package definition

import (
	"context"
	"slices"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"k8s.io/apiextensions-apiserver/pkg/crdserverscheme"
	"k8s.io/apiextensions-apiserver/pkg/registry/customresourcedefinition"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/registry/rest"
)

// statusStrategy also keeps the storage version in storedVersions, which the
// library leaves to whoever writes it: without it, the definition could drop
// the version that everything is stored at.
//
// It does not read schemas, which a write of the status cannot change, and
// which are nearly all of a definition.
type statusStrategy struct{ updateStrategy }

func newStatusStrategy() rest.RESTUpdateStrategy {
	return &statusStrategy{updateStrategy{
		customresourcedefinition.NewStatusStrategy(scheme), crdserverscheme.NewUnstructuredObjectTyper(),
	}}
}

func (s *statusStrategy) PrepareForUpdate(ctx context.Context, obj, old runtime.Object) {
	u, ok := obj.(*unstructured.Unstructured)
	before, known := old.(*unstructured.Unstructured)
	if !ok || !known {
		return // ValidateUpdate reports it
	}
	in, oldIn, _, err := readHeads(obj, old)
	if err != nil {
		return // ValidateUpdate reports it
	}
	s.library.PrepareForUpdate(ctx, in, oldIn)
	write(obj, in, nil)
	delete(u.Object, "spec")
	if spec, ok := before.Object["spec"]; ok {
		u.Object["spec"] = runtime.DeepCopyJSONValue(spec)
	}
}

func (s *statusStrategy) ValidateUpdate(ctx context.Context, obj, old runtime.Object) field.ErrorList {
	in, oldIn, _, err := readHeads(obj, old)
	if err != nil {
		return unreadable(err)
	}
	errs := guarded(func() field.ErrorList { return s.library.ValidateUpdate(ctx, in, oldIn) })
	if slices.Equal(in.Status.StoredVersions, oldIn.Status.StoredVersions) {
		return errs // whatever it is, this write did not make it so
	}
	return append(errs, storageVersionKept(in)...)
}

// WarningsOnUpdate implements [rest.RESTUpdateStrategy]: nobody is warned of a
// status.
func (s *statusStrategy) WarningsOnUpdate(context.Context, runtime.Object, runtime.Object) []string {
	return nil
}

// storageVersionKept refuses storedVersions without the storage version, in the
// library's words.
func storageVersionKept(c *apiextensions.CustomResourceDefinition) field.ErrorList {
	path, stored := field.NewPath("status", "storedVersions"), c.Status.StoredVersions
	if len(stored) == 0 {
		return field.ErrorList{field.Invalid(path, stored, "must have at least one stored version")}
	}
	var errs field.ErrorList
	for _, v := range c.Spec.Versions {
		if v.Storage && !slices.Contains(stored, v.Name) {
			errs = append(errs, field.Invalid(path, stored, "must have the storage version "+v.Name))
		}
	}
	return errs
}
