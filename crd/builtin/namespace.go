package builtin

import (
	"context"
	"errors"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/wasmgate/wasmgate/crd"
)

func namespace() *crd.Definition {
	main := rules[corev1.Namespace]{
		prepareCreate: prepareNamespace,
		prepareUpdate: func(obj, old map[string]any) {
			keepFinalizers(obj, old)
			keep(obj, old, "status")
		},
		canonicalize: labelNamespace,
		validate:     validateNamespace,
		validateUpdate: func(n, old *corev1.Namespace) field.ErrorList {
			return append(validateNamespace(n), validateMetaUpdate(&n.ObjectMeta, &old.ObjectMeta)...)
		},
		unconditional: true,
		resets:        resets("v1", "status"),
	}
	status, finalize := main, main
	status.resets = resets("v1", "spec")
	status.prepareUpdate = func(obj, old map[string]any) { keep(obj, old, "spec") }
	status.validateUpdate = validateNamespaceStatus
	finalize.prepareUpdate = func(obj, old map[string]any) { keep(obj, old, "status") }
	finalize.validateUpdate = validateNamespaceFinalize

	d := define(kind[corev1.Namespace]{
		version: "v1", name: "Namespace", plural: "namespaces", shortNames: []string{"ns"},
		verbs:    []string{"create", "delete", "get", "list", "patch", "update", "watch"},
		defaults: defaultNamespace,
		rules:    main,
		columns:  []metav1.TableColumnDefinition{nameColumn, column("Status", "The status of the namespace"), ageColumn},
		cells: func(n *corev1.Namespace) []any {
			return []any{n.Name, string(n.Status.Phase), since(n.CreationTimestamp)}
		},
		fieldNames: []string{"name", "status.phase"},
		fieldSet: func(obj map[string]any) fields.Set {
			return fields.Set{"name": text(obj, "metadata", "name"), "status.phase": text(obj, "status", "phase")}
		},
	})
	d.Hooks = namespaceHooks{}
	d.Versions[0].Subresources = map[string]*crd.Subresource{
		"status":   subresource("status", false, status, "get", "patch", "update"),
		"finalize": subresource("finalize", false, finalize, "update"),
	}
	return d
}

// labelNamespace makes a namespace selectable by its name.
func labelNamespace(obj map[string]any) {
	if name := text(obj, "metadata", "name"); name != "" {
		ensure(ensure(obj, "metadata"), "labels")[corev1.LabelMetadataName] = name
	}
}

func defaultNamespace(obj map[string]any) {
	labelNamespace(obj)
	if status := ensure(obj, "status"); text(status, "phase") == "" {
		status["phase"] = string(corev1.NamespaceActive)
	}
}

func prepareNamespace(obj map[string]any) {
	obj["status"] = map[string]any{"phase": string(corev1.NamespaceActive)}
	spec := ensure(obj, "spec")
	finalizers, _ := spec["finalizers"].([]any)
	if !slices.Contains(finalizers, any(string(corev1.FinalizerKubernetes))) {
		spec["finalizers"] = append(finalizers, string(corev1.FinalizerKubernetes))
	}
}

func keepFinalizers(obj, old map[string]any) {
	keep(ensure(obj, "spec"), child(old, "spec"), "finalizers")
}

func validateNamespace(n *corev1.Namespace) field.ErrorList {
	errs := validateMeta(&n.ObjectMeta, false, apivalidation.NameIsDNSLabel)
	for _, f := range n.Spec.Finalizers {
		errs = append(errs, validateSpecFinalizer(string(f), field.NewPath("spec", "finalizers"))...)
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
	name := text(obj, "metadata", "name")
	switch name {
	case metav1.NamespaceDefault, metav1.NamespaceSystem, metav1.NamespacePublic:
		return apierrors.NewForbidden(corev1.Resource("namespaces"), name, errors.New("this namespace may not be deleted"))
	}
	status := ensure(obj, "status")
	status["phase"] = string(corev1.NamespaceTerminating)
	return nil
}

// StillFinalizing implements [crd.Hooks].
func (namespaceHooks) StillFinalizing(obj map[string]any) bool {
	finalizers, _ := child(obj, "spec")["finalizers"].([]any)
	return len(finalizers) > 0
}
