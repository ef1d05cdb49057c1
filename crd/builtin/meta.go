package builtin

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

var metadataPath = field.NewPath("metadata")

// validateMeta checks the metadata of a new object, or of the new state of an
// old one.
func validateMeta(m *metav1.ObjectMeta, namespaced bool, name validation.ValidateNameFunc) field.ErrorList {
	errs := validation.ValidateObjectMeta(m, namespaced, name, metadataPath)
	return append(errs, validateFinalizers(m)...)
}

// validateScaleMeta checks the metadata of a Scale. All that have one are
// namespaced.
func validateScaleMeta(m *metav1.ObjectMeta) field.ErrorList {
	return validateMeta(m, true, validation.NameIsDNSSubdomain)
}

// validateMetaUpdate checks what may change in metadata.
func validateMetaUpdate(m, old *metav1.ObjectMeta) field.ErrorList {
	errs := validation.ValidateObjectMetaUpdate(m, old, metadataPath)
	return append(errs, validateFinalizers(m)...)
}

func validateFinalizers(m *metav1.ObjectMeta) field.ErrorList {
	var errs field.ErrorList
	for i, f := range m.Finalizers {
		errs = append(errs, validateFinalizerQualified(f, metadataPath.Child("finalizers").Index(i))...)
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
		err := toTyped(obj, now)
		if err == nil && old != nil {
			was = new(T)
			err = toTyped(old, was)
		}
		if err != nil {
			return field.ErrorList{field.InternalError(nil, err)}
		}
		return check(subresource, now, was)
	}
}
