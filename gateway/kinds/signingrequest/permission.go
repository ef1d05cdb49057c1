package signingrequest

import (
	"context"
	"fmt"
	"slices"
	"strings"

	certificatesv1 "k8s.io/api/certificates/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/admission/order"
	"github.com/wasmgate/wasmgate/crd/builtin/extend"
	"github.com/wasmgate/wasmgate/crd/object"
	"github.com/wasmgate/wasmgate/gateway/authn"
	"github.com/wasmgate/wasmgate/gateway/authz"
)

// Approval is the admission plugin by which who approves or denies a request needs the
// verb approve on its signer.
type Approval struct{ May authz.Authorizer }

// Name implements [admission.Plugin].
func (Approval) Name() string { return order.CertificateApproval }

// Validate implements [admission.Validator].
func (p Approval) Validate(ctx context.Context, a admission.Attributes) error {
	if !updates(a, "approval") {
		return nil
	}
	old, err := a.GetOldObject(ctx)
	if err != nil {
		return err
	}
	signer := signerOf(old)
	if mayDo(ctx, p.May, a, "approve", signer) {
		return nil
	}
	return refuse(a, fmt.Errorf("user not permitted to approve requests with signerName %q", signer))
}

// Signing is the admission plugin by which who writes the certificate or the conditions of
// a request needs the verb sign on its signer.
type Signing struct{ May authz.Authorizer }

// Name implements [admission.Plugin].
func (Signing) Name() string { return order.CertificateSigning }

// Validate implements [admission.Validator].
func (p Signing) Validate(ctx context.Context, a admission.Attributes) error {
	if !updates(a, "status") || a.IsOwn() {
		return nil
	}
	old, err := a.GetOldObject(ctx)
	if err != nil {
		return err
	}
	said := func(obj *unstructured.Unstructured) [2]any {
		status := object.Child(obj.Object, "status")
		return [2]any{status["certificate"], status["conditions"]}
	}
	signer := signerOf(old)
	if equality.Semantic.DeepEqual(said(old), said(a.GetObject())) || mayDo(ctx, p.May, a, "sign", signer) {
		return nil
	}
	return refuse(a, fmt.Errorf("user not permitted to sign requests with signerName %q", signer))
}

// Subject is the admission plugin that lets nobody ask the gateway's own signer for a
// certificate of an administrator.
type Subject struct{}

// Name implements [admission.Plugin].
func (Subject) Name() string { return order.CertificateSubjectRestriction }

// Validate implements [admission.Validator].
func (Subject) Validate(_ context.Context, a admission.Attributes) error {
	if a.GetResource().GroupResource() != requests || a.GetOperation() != admission.Create || a.GetSubresource() != "" {
		return nil
	}
	r, err := read(a.GetObject())
	if err != nil {
		return refuse(a, err)
	}
	if r.Spec.SignerName != certificatesv1.KubeAPIServerClientSignerName {
		return nil
	}
	asked, err := extend.ParseSigningRequest(r.Spec.Request)
	if err != nil {
		return refuse(a, fmt.Errorf("failed to parse CSR: %w", err))
	}
	if slices.Contains(asked.Subject.Organization, authn.Masters) {
		return refuse(a, fmt.Errorf("use of %s signer with %s group is not allowed", r.Spec.SignerName, authn.Masters))
	}
	return nil
}

// updates reports whether a request changes a signing request through a subresource.
func updates(a admission.Attributes, subresource string) bool {
	return a.GetResource().GroupResource() == requests && a.GetOperation() == admission.Update && a.GetSubresource() == subresource
}

func signerOf(obj *unstructured.Unstructured) string {
	return object.TextAt(object.Child(obj.Object, "spec"), "signerName")
}

// mayDo reports whether whoever writes may do something as a signer, or as all those of
// its domain.
func mayDo(ctx context.Context, may authz.Authorizer, a admission.Attributes, verb, signer string) bool {
	u := a.GetUserInfo()
	asked := authz.Attributes{
		User: &authn.User{Name: u.GetName(), UID: u.GetUID(), Groups: u.GetGroups(), Extra: u.GetExtra()},
		Verb: verb, Group: certificatesv1.GroupName, Version: "*", Resource: "signers", ResourceRequest: true,
	}
	domain, _, _ := strings.Cut(signer, "/")
	for _, asked.Name = range []string{signer, domain + "/*"} {
		if allowed, _, err := may.Authorize(ctx, asked); err == nil && allowed {
			return true
		}
	}
	return false
}

func refuse(a admission.Attributes, why error) error {
	return apierrors.NewForbidden(requests, admission.NameOf(a), why)
}
