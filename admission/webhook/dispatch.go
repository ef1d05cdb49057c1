package webhook

import (
	"context"
	"encoding/json"

	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/crd/object"
)

// Dispatcher asks webhooks about requests. It is safe for concurrent use; all
// fields are required.
type Dispatcher struct {
	// Authorizer is what conditions may ask.
	Authorizer authorizer.UnconditionalAuthorizer
	// Ignored is told of a failed call that the webhook's failurePolicy ignores,
	// maybe from several goroutines.
	Ignored func(h *Hook, err error)
	// Called is told of every call of a webhook, maybe from several goroutines.
	Called func(a admission.Attributes, c Call)
	// Signers are who vouches for a digest that a webhook answered with, for who audits.
	Signers func(ctx context.Context, h *Hook, digest string) []string
}

// dispatch is a request that webhooks are asked about.
type dispatch struct {
	*Dispatcher
	admission.Attributes
	// user and options are what all reviews say of both, as JSON.
	user, options []byte
}

// prepare makes what all reviews have in common, before the first is sent.
func (r *dispatch) prepare() (err error) {
	if r.user != nil {
		return nil
	}
	if r.options, err = json.Marshal(r.GetOperationOptions()); err == nil {
		r.user, err = json.Marshal(r.GetUserInfo().Info())
	}
	return err
}

// tell hands on the warnings of a webhook's answer, and what it wants audited.
func (r *dispatch) tell(h *Hook, a *admissionv1.AdmissionResponse) {
	for key, value := range a.AuditAnnotations {
		r.Annotate(h.Name+"/"+key, value)
	}
	for _, w := range a.Warnings {
		r.Warn(w)
	}
}

// encode are the states at a version as JSON, nil for none.
func (r *dispatch) encode(ctx context.Context, version string) (now, old []byte, err error) {
	tree, err := r.GetObjectAt(ctx, version)
	if err == nil && tree != nil {
		now, err = object.Encode(tree)
	}
	if err != nil {
		return nil, nil, err
	}
	if tree, err = r.GetOldObjectAt(ctx, version); err == nil && tree != nil {
		old, err = object.Encode(tree)
	}
	if err == nil {
		err = r.prepare()
	}
	return now, old, err
}
