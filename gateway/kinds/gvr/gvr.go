// Package gvr owns what the controllers share about the kinds they act on:
// their names, and how fields of their objects are read and written.
//
// It must not know how objects are stored, served or followed.
package gvr

import (
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/excerpt"
)

// The resources that controllers act on.
var (
	Namespaces        = schema.GroupResource{Resource: "namespaces"}
	Events            = schema.GroupResource{Resource: "events"}
	Pods              = schema.GroupResource{Resource: "pods"}
	Quotas            = schema.GroupResource{Resource: "resourcequotas"}
	Secrets           = schema.GroupResource{Resource: "secrets"}
	APIServices       = schema.GroupResource{Group: "apiregistration.k8s.io", Resource: "apiservices"}
	Definitions       = schema.GroupResource{Group: "apiextensions.k8s.io", Resource: "customresourcedefinitions"}
	Migrations        = schema.GroupResource{Group: "storagemigration.k8s.io", Resource: "storageversionmigrations"}
	Modules           = schema.GroupResource{Group: "wasmgate.dev", Resource: "wasmmodules"}
	Trusts            = schema.GroupResource{Group: "wasmgate.dev", Resource: "moduletrusts"}
	ConversionReviews = schema.GroupResource{Group: "wasmgate.dev", Resource: "conversionreviews"}
	Rules             = schema.GroupResource{Group: "wasmgate.dev", Resource: "conversionrules"}
	Priorities        = schema.GroupResource{Group: "wasmgate.dev", Resource: "versionpriorities"}

	ClusterRoles        = schema.GroupResource{Group: "rbac.authorization.k8s.io", Resource: "clusterroles"}
	ClusterRoleBindings = schema.GroupResource{Group: "rbac.authorization.k8s.io", Resource: "clusterrolebindings"}
	Roles               = schema.GroupResource{Group: "rbac.authorization.k8s.io", Resource: "roles"}
	RoleBindings        = schema.GroupResource{Group: "rbac.authorization.k8s.io", Resource: "rolebindings"}

	FlowSchemas    = schema.GroupResource{Group: "flowcontrol.apiserver.k8s.io", Resource: "flowschemas"}
	PriorityLevels = schema.GroupResource{Group: "flowcontrol.apiserver.k8s.io", Resource: "prioritylevelconfigurations"}

	PriorityClasses = schema.GroupResource{Group: "scheduling.k8s.io", Resource: "priorityclasses"}

	ValidatingWebhooks = schema.GroupResource{Group: "admissionregistration.k8s.io", Resource: "validatingwebhookconfigurations"}
	MutatingWebhooks   = schema.GroupResource{Group: "admissionregistration.k8s.io", Resource: "mutatingwebhookconfigurations"}
	ValidatingPolicies = schema.GroupResource{Group: "admissionregistration.k8s.io", Resource: "validatingadmissionpolicies"}
	MutatingPolicies   = schema.GroupResource{Group: "admissionregistration.k8s.io", Resource: "mutatingadmissionpolicies"}

	ValidatingPolicyBindings = schema.GroupResource{Group: "admissionregistration.k8s.io", Resource: "validatingadmissionpolicybindings"}
	MutatingPolicyBindings   = schema.GroupResource{Group: "admissionregistration.k8s.io", Resource: "mutatingadmissionpolicybindings"}
)

// Decode reads obj into a typed Go object.
func Decode(obj *unstructured.Unstructured, into any) error {
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(obj.Object, into); err != nil {
		return fmt.Errorf("read %s %q: %w", obj.GetKind(), obj.GetName(), err)
	}
	return nil
}

// SetStatus replaces obj's status with a typed one; status is a pointer.
func SetStatus(obj *unstructured.Unstructured, status any) error {
	tree, err := runtime.DefaultUnstructuredConverter.ToUnstructured(status)
	if err != nil {
		return fmt.Errorf("write status of %s %q: %w", obj.GetKind(), obj.GetName(), err)
	}
	obj.Object["status"] = tree
	return nil
}

// Section returns the map at obj[name], or an empty one that obj does not hold.
func Section(obj *unstructured.Unstructured, name string) map[string]any {
	m, _ := obj.Object[name].(map[string]any)
	if m == nil {
		m = map[string]any{}
	}
	return m
}

// maxMessage bounds condition messages; the API allows 32 KiB.
const maxMessage = 4096

// Shorten cuts a message that is too long for a condition, and leaves out of it what URLs
// tell of credentials.
func Shorten(s string) string { return excerpt.Of(excerpt.Redacted(s), maxMessage) }

// IgnoreNotFound returns err, or nil for one that says that an object is gone.
func IgnoreNotFound(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}
