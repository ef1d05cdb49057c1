package policy

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiserveradmission "k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"github.com/wasmgate/wasmgate/admission"
)

// Dispatcher asks policies about requests. It is safe for concurrent use; all fields
// are required.
type Dispatcher struct {
	Params Params
	// Authorizer is what expressions may ask.
	Authorizer authorizer.UnconditionalAuthorizer
	// Observe is told of every decision.
	Observe func(Decision)
}

// request is what all policies of a stage share of one request: what was made
// for one of them is there for the next.
type request struct {
	*Dispatcher
	admission.Attributes
	// round is the request where policies may change it, else nil.
	round *admission.Reinvocation

	byVersion map[string]*apiserveradmission.VersionedAttributes
	changes   int // of the request, when byVersion was made
	namespace *corev1.Namespace
	audited   audited
}

// see is what a policy sees that matched at a version.
func (r *request) see(ctx context.Context, version string) (asked, error) {
	changes := 0
	if r.round != nil {
		changes = r.round.Changes()
	}
	if r.byVersion == nil || r.changes != changes {
		r.byVersion, r.changes = map[string]*apiserveradmission.VersionedAttributes{}, changes
	}
	a := asked{resource: metav1.GroupVersionResource(admission.ResourceAt(r, version)), namespace: r.namespace}
	if a.attributes = r.byVersion[version]; a.attributes != nil {
		return a, nil
	}
	var err error
	if a.attributes, err = admission.Versioned(ctx, r, version); err != nil {
		return a, fmt.Errorf("failed to convert object version: %w", err)
	}
	r.byVersion[version] = a.attributes
	return a, nil
}

// place finds the namespace of the request, once; what is in none, and a
// namespace itself, has none.
func (r *request) place(ctx context.Context) (err error) {
	if name := r.GetNamespace(); r.namespace == nil && name != "" && !admission.IsNamespace(r) {
		r.namespace, err = r.GetNamespaceObject(ctx, name)
	}
	return err
}

// about is the request without its objects, for errors to speak of; only a
// request whose object has no name yet needs the object.
func (r *request) about(ctx context.Context) apiserveradmission.Attributes {
	if r.GetName() == "" {
		if a, err := r.see(ctx, r.GetResource().Version); err == nil {
			return a.attributes
		}
	}
	return admission.Record(r, nil, nil)
}
