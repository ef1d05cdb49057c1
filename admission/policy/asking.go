package policy

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiserveradmission "k8s.io/apiserver/pkg/admission"

	"github.com/wasmgate/wasmgate/admission"
)

// request is what all policies of a stage share of one request: what was made
// for one of them is there for the next.
type request struct {
	*admission.Request
	params Params
	// observe is told of every decision.
	observe func(Decision)

	byVersion map[string]*apiserveradmission.VersionedAttributes
	changes   int // of the request, when byVersion was made
	namespace *corev1.Namespace
}

// see is what a policy sees that matched at a version.
func (r *request) see(ctx context.Context, version string) (asked, error) {
	if r.byVersion == nil || r.changes != r.Changes() {
		r.byVersion, r.changes = map[string]*apiserveradmission.VersionedAttributes{}, r.Changes()
	}
	a := asked{resource: metav1.GroupVersionResource(r.At(version)), namespace: r.namespace}
	if a.attributes = r.byVersion[version]; a.attributes != nil {
		return a, nil
	}
	var err error
	if a.attributes, err = r.Attributes(ctx, version); err != nil {
		return a, fmt.Errorf("failed to convert object version: %w", err)
	}
	r.byVersion[version] = a.attributes
	return a, nil
}

// place finds the namespace of the request, once; what is in none, and a
// namespace itself, has none.
func (r *request) place(ctx context.Context) (err error) {
	if r.namespace == nil && r.Namespace != "" && !r.IsNamespace() {
		r.namespace, err = r.Namespaces.Namespace(ctx, r.Namespace)
	}
	return err
}

// about is the request without its objects, for errors to speak of; only a
// request whose object has no name yet needs the object.
func (r *request) about(ctx context.Context) apiserveradmission.Attributes {
	if r.Name == "" {
		if a, err := r.see(ctx, r.Resource.Version); err == nil {
			return a.attributes
		}
	}
	return apiserveradmission.NewAttributesRecord(nil, nil, r.Kind, r.Namespace, r.Name, r.Resource, r.Subresource,
		apiserveradmission.Operation(r.Operation), r.Options, r.DryRun, r.User)
}
