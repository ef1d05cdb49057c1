package extend

import (
	"context"
	"errors"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/crd/object"
)

// labelNamespace makes a namespace selectable by its name.
func labelNamespace(obj map[string]any) {
	if name := object.TextAt(obj, "metadata", "name"); name != "" {
		object.Ensure(object.Ensure(obj, "metadata"), "labels")[corev1.LabelMetadataName] = name
	}
}

// finalizeNamespace has the server empty a namespace before it goes.
func finalizeNamespace(_ context.Context, obj map[string]any) {
	spec := object.Ensure(obj, "spec")
	finalizers, _ := spec["finalizers"].([]any)
	if !slices.Contains(finalizers, any(string(corev1.FinalizerKubernetes))) {
		spec["finalizers"] = append(finalizers, string(corev1.FinalizerKubernetes))
	}
}

// keepFinalizers leaves finalizers to the subresource of that name.
func keepFinalizers(subresource string, obj, old map[string]any) {
	if subresource == "" {
		object.Keep(object.Ensure(obj, "spec"), object.Child(old, "spec"), "finalizers")
	}
}

// validateNamespace tells of a change of the whole after what is wrong with the
// new state.
func validateNamespace(subresource string, n, old *corev1.Namespace) field.ErrorList {
	switch subresource {
	case "status":
		return validateNamespaceStatus(n, old)
	case "finalize":
		return validateNamespaceFinalize(n, old)
	}
	errs := ValidateMeta(&n.ObjectMeta, false, apivalidation.NameIsDNSLabel)
	for _, f := range n.Spec.Finalizers {
		errs = append(errs, validateSpecFinalizer(string(f), field.NewPath("spec", "finalizers"))...)
	}
	if old != nil {
		errs = append(errs, validateMetaUpdate(&n.ObjectMeta, &old.ObjectMeta)...)
	}
	return errs
}

func validateSpecFinalizer(name string, path *field.Path) field.ErrorList {
	return append(apivalidation.ValidateFinalizerName(name, path), validateFinalizerQualified(name, path)...)
}

func validateNamespaceStatus(n, old *corev1.Namespace) field.ErrorList {
	errs := validateMetaUpdate(&n.ObjectMeta, &old.ObjectMeta)
	path := field.NewPath("status", "Phase")
	switch deleting := !n.DeletionTimestamp.IsZero(); {
	case !deleting && n.Status.Phase != corev1.NamespaceActive:
		errs = append(errs, field.Invalid(path, n.Status.Phase, "may only be 'Active' if `deletionTimestamp` is empty"))
	case deleting && n.Status.Phase != corev1.NamespaceTerminating:
		errs = append(errs, field.Invalid(path, n.Status.Phase, "may only be 'Terminating' if `deletionTimestamp` is not empty"))
	}
	return errs
}

func validateNamespaceFinalize(n, old *corev1.Namespace) field.ErrorList {
	errs := validateMetaUpdate(&n.ObjectMeta, &old.ObjectMeta)
	for i, f := range n.Spec.Finalizers {
		errs = append(errs, validateSpecFinalizer(string(f), field.NewPath("spec", "finalizers").Index(i))...)
	}
	return errs
}

// namespaceHooks protects the namespaces that every cluster has, and marks the
// others as terminating.
type namespaceHooks struct{}

var _ crd.Hooks = namespaceHooks{}

// BeforeDelete implements [crd.Hooks].
func (namespaceHooks) BeforeDelete(_ context.Context, _ crd.Objects, obj map[string]any) error {
	name := object.TextAt(obj, "metadata", "name")
	switch name {
	case metav1.NamespaceDefault, metav1.NamespaceSystem, metav1.NamespacePublic:
		return apierrors.NewForbidden(corev1.Resource("namespaces"), name, errors.New("this namespace may not be deleted"))
	}
	status := object.Ensure(obj, "status")
	status["phase"] = string(corev1.NamespaceTerminating)
	return nil
}

// StillFinalizing implements [crd.Hooks].
func (namespaceHooks) StillFinalizing(obj map[string]any) bool {
	finalizers, _ := object.Child(obj, "spec")["finalizers"].([]any)
	return len(finalizers) > 0
}
