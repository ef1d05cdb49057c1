package extend

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/wasmgate/wasmgate/crd/object"
)

// MetadataPath is where metadata is, for errors.
var MetadataPath = field.NewPath("metadata")

// ValidateMeta checks the metadata of a new object, or of the new state of an
// old one.
func ValidateMeta(m *metav1.ObjectMeta, namespaced bool, name validation.ValidateNameFunc) field.ErrorList {
	errs := validation.ValidateObjectMeta(m, namespaced, name, MetadataPath)
	return append(errs, ValidateFinalizers(m)...)
}

// validateMetaUpdate checks what may change in metadata.
func validateMetaUpdate(m, old *metav1.ObjectMeta) field.ErrorList {
	errs := validation.ValidateObjectMetaUpdate(m, old, MetadataPath)
	return append(errs, ValidateFinalizers(m)...)
}

// ValidateFinalizers refuses finalizers that are not qualified.
func ValidateFinalizers(m *metav1.ObjectMeta) field.ErrorList {
	var errs field.ErrorList
	for i, f := range m.Finalizers {
		errs = append(errs, validateFinalizerQualified(f, MetadataPath.Child("finalizers").Index(i))...)
	}
	return errs
}

// validateFinalizerQualified refuses names without a domain, except the three
// that Kubernetes itself uses.
func validateFinalizerQualified(name string, path *field.Path) field.ErrorList {
	switch name {
	case string(corev1.FinalizerKubernetes), metav1.FinalizerOrphanDependents, metav1.FinalizerDeleteDependents:
		return nil
	}
	if strings.Contains(name, "/") {
		return nil
	}
	return field.ErrorList{field.Invalid(path, name, "name is neither a standard finalizer name nor is it fully qualified")}
}

// checked is a check of objects of Go type T; old is nil for a new object.
func checked[T any](check func(subresource string, obj, old *T) field.ErrorList) func(string, map[string]any, map[string]any) field.ErrorList {
	return func(subresource string, obj, old map[string]any) field.ErrorList {
		now, was := new(T), (*T)(nil)
		err := object.ToTyped(obj, now)
		if err == nil && old != nil {
			was = new(T)
			err = object.ToTyped(old, was)
		}
		if err != nil {
			return field.ErrorList{field.InternalError(nil, err)}
		}
		return check(subresource, now, was)
	}
}
