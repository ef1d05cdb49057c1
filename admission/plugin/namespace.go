package plugin

import (
	"context"
	"fmt"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/admission/order"
)

var namespaces = schema.GroupResource{Resource: "namespaces"}

// NamespaceLifecycle refuses to create anything in a namespace that is not there, or
// that is being deleted.
type NamespaceLifecycle struct{}

// Name implements [admission.Plugin].
func (NamespaceLifecycle) Name() string { return order.NamespaceLifecycle }

// Mutate implements [admission.Mutator].
func (NamespaceLifecycle) Mutate(ctx context.Context, a admission.Attributes) error {
	namespace := createdIn(a)
	if namespace == "" {
		return nil
	}
	going, err := a.IsNamespaceTerminating(ctx, namespace)
	if err != nil || !going {
		return err
	}
	forbidden := apierrors.NewForbidden(a.GetResource().GroupResource(), admission.NameOf(a), fmt.Errorf("unable to create new content in namespace %s because it is being terminated", namespace))
	forbidden.ErrStatus.Details.Causes = append(forbidden.ErrStatus.Details.Causes, metav1.StatusCause{
		Type: corev1.NamespaceTerminatingCause, Message: fmt.Sprintf("namespace %s is being terminated", namespace), Field: "metadata.namespace",
	})
	return forbidden
}

// questions are the only ones about a namespace, which need not be there.
var questions = schema.GroupResource{Group: authorizationv1.GroupName, Resource: "localsubjectaccessreviews"}

// createdIn is the namespace in which a request creates something, "" for none.
func createdIn(a admission.Attributes) string {
	at := a.GetResource()
	if a.GetOperation() != admission.Create || admission.IsNamespace(a) || at.GroupResource() == questions {
		return ""
	}
	return a.GetNamespace()
}

// Creator creates objects.
type Creator interface {
	// Create creates obj, like a client's POST.
	Create(ctx context.Context, gr schema.GroupResource, obj *unstructured.Unstructured) (*unstructured.Unstructured, error)
}

// NamespaceAutoProvision makes the namespace in which something is created, unless it
// exists. A dry run makes none.
type NamespaceAutoProvision struct{ Objects Creator }

// Name implements [admission.Plugin].
func (NamespaceAutoProvision) Name() string { return order.NamespaceAutoProvision }

// Mutate implements [admission.Mutator].
func (p NamespaceAutoProvision) Mutate(ctx context.Context, a admission.Attributes) error {
	namespace := createdIn(a)
	if namespace == "" || a.IsDryRun() {
		return nil
	}
	if _, err := a.IsNamespaceTerminating(ctx, namespace); !apierrors.IsNotFound(err) {
		return err
	}
	_, err := p.Objects.Create(ctx, namespaces, &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": namespace},
	}})
	if err == nil || apierrors.IsAlreadyExists(err) { // somebody else was faster
		return nil
	}
	return apierrors.NewForbidden(a.GetResource().GroupResource(), admission.NameOf(a), err)
}

// NamespaceExists refuses requests about anything in a namespace that is not there, also
// changes and deletions. Parts of the gateway clear away what is left in one.
type NamespaceExists struct{}

// Name implements [admission.Plugin].
func (NamespaceExists) Name() string { return order.NamespaceExists }

// Validate implements [admission.Validator].
func (NamespaceExists) Validate(ctx context.Context, a admission.Attributes) error {
	if a.GetNamespace() == "" || admission.IsNamespace(a) || a.GetOperation() == admission.Connect || a.IsOwn() {
		return nil
	}
	_, err := a.IsNamespaceTerminating(ctx, a.GetNamespace())
	return err
}

// AlwaysAdmit has nothing against any request. There are command lines that name it.
type AlwaysAdmit struct{}

// Name implements [admission.Plugin].
func (AlwaysAdmit) Name() string { return order.AlwaysAdmit }

// Validate implements [admission.Validator].
func (AlwaysAdmit) Validate(context.Context, admission.Attributes) error { return nil }
