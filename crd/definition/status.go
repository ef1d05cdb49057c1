package definition

import (
	"context"
	"slices"

	"github.com/wasmgate/wasmgate/crd"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"k8s.io/apiextensions-apiserver/pkg/registry/customresourcedefinition"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// statusStrategy also keeps the storage version in storedVersions, which the
// library leaves to whoever writes it: without it, the definition could drop
// the version that everything is stored at.
//
// It does not read schemas, which a write of the status cannot change, and
// which are nearly all of a definition.
type statusStrategy struct{ strategy }

func newStatusStrategy() crd.Strategy {
	return &statusStrategy{strategy{update: customresourcedefinition.NewStatusStrategy(scheme)}}
}

// Prepare implements [crd.Strategy]. What cannot be read is refused by the validation.
func (s *statusStrategy) Prepare(ctx context.Context, obj, old *unstructured.Unstructured) {
	in, oldIn, _, err := readHeads(obj, old)
	if err != nil {
		return
	}
	s.update.PrepareForUpdate(ctx, in, oldIn)
	write(obj, in, nil)
	delete(obj.Object, "spec")
	if spec, ok := old.Object["spec"]; ok {
		obj.Object["spec"] = runtime.DeepCopyJSONValue(spec)
	}
}

// Validate implements [crd.Strategy]: nobody is warned of a status.
func (s *statusStrategy) Validate(ctx context.Context, obj, old *unstructured.Unstructured) crd.Verdict {
	in, oldIn, _, err := readHeads(obj, old)
	if err != nil {
		return unreadable(err)
	}
	errs := guarded(func() field.ErrorList { return s.update.ValidateUpdate(ctx, in, oldIn) })
	if slices.Equal(in.Status.StoredVersions, oldIn.Status.StoredVersions) {
		return crd.Verdict{Errors: errs} // whatever it is, this write did not make it so
	}
	return crd.Verdict{Errors: append(errs, storageVersionKept(in)...)}
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
