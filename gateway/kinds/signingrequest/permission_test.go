package signingrequest

import (
	"context"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"errors"
	"slices"
	"testing"

	certificatesv1 "k8s.io/api/certificates/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/util/cert"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/gateway/authn"
	"github.com/wasmgate/wasmgate/gateway/authz"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest/realengine"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/gateway/resource"
	"github.com/wasmgate/wasmgate/gateway/resource/engine"
	"github.com/wasmgate/wasmgate/gateway/resource/local"
)

// allowed says who may do what with which signers: user, verb and name.
type allowed map[string]error

func (a allowed) Authorize(_ context.Context, at authz.Attributes) (bool, string, error) {
	if at.Group != certificatesv1.GroupName || at.Resource != "signers" || at.Version != "*" || !at.ResourceRequest {
		return false, "", errors.New("another question")
	}
	err, ok := a[at.User.Name+" "+at.Verb+" "+at.Name]
	return ok, "", err
}

// withPermission is an engine where who asks is refused unless he may.
func withPermission(t *testing.T, may allowed) *realengine.Engine {
	return realengine.With(t, func(*engine.Engine) admission.Chain {
		return admission.Chain{Validators: []admission.Validator{Approval{may}, Signing{may}, Subject{}}}
	})
}

// Who approves or signs needs the verb on the signer, or on all of its domain.
func TestWhoMayApproveAndSign(t *testing.T) {
	e := withPermission(t, allowed{
		"one approve example.com/s": nil, "all approve example.com/*": nil, "one sign example.com/s": nil, "all sign example.com/*": nil,
		"unsure approve example.com/s": errors.New("no answer"), "unsure sign example.com/s": errors.New("no answer"), "other approve example.com/t": nil,
	})
	stored(t, e, "r", map[string]any{"signerName": "example.com/s"})
	certificate, _, err := cert.GenerateSelfSignedCertKey("r", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	said := func(o *unstructured.Unstructured, kind string) {
		list, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
		list = append(list, map[string]any{"type": kind, "status": "True", "reason": "So", "message": "so"})
		o.Object["status"] = map[string]any{"conditions": list}
	}
	write := func(user, subresource string, change func(o *unstructured.Unstructured)) error {
		obj, err := e.Get(t.Context(), requests, "", "r")
		if err != nil {
			t.Fatal(err)
		}
		change(obj)
		_, err = local.New(e.Verbs, resource.Caller{User: &authn.User{Name: user}}).Update(t.Context(), requests, subresource, obj)
		if err == nil {
			err = e.Fresh(t.Context())
		}
		return err
	}
	nobody := []string{"unsure", "other", "nobody"}
	for _, user := range []string{"unsure", "other", "nobody", "one", "all"} {
		verb := map[string]string{"approval": "approve", "status": "sign"}
		for _, subresource := range []string{"approval", "status"} {
			err := write(user, subresource, func(o *unstructured.Unstructured) {
				if subresource == "status" {
					said(o, "Looked"+user)
				} else if len(gvr.Section(o, "status")) == 0 {
					said(o, "Approved")
				}
			})
			if !slices.Contains(nobody, user) {
				if err != nil {
					t.Errorf("%s may not %s: %v", user, verb[subresource], err)
				}
				continue
			}
			want := `certificatesigningrequests.certificates.k8s.io "r" is forbidden: user not permitted to ` + verb[subresource] + ` requests with signerName "example.com/s"`
			if !apierrors.IsForbidden(err) || err.Error() != want {
				t.Errorf("%s may %s: %v", user, verb[subresource], err)
			}
		}
	}
	for subresource, change := range map[string]func(o *unstructured.Unstructured){
		"":       func(o *unstructured.Unstructured) { o.SetLabels(map[string]string{"a": "b"}) },
		"status": func(*unstructured.Unstructured) {},
	} {
		if err := write("nobody", subresource, change); err != nil {
			t.Errorf("what needs no permission, %q: %v", subresource, err)
		}
	}
	if err := write("nobody", "status", func(o *unstructured.Unstructured) {
		gvr.Section(o, "status")["certificate"] = base64.StdEncoding.EncodeToString(certificate)
	}); !apierrors.IsForbidden(err) {
		t.Errorf("a certificate by nobody: %v", err)
	}
}

// The gateway's own signer is not asked for a certificate of administrators; others are.
func TestWhoseCertificatesAreNotAskedFor(t *testing.T) {
	e := withPermission(t, nil)
	create := func(name, signer string, organizations ...string) error {
		_, err := e.Create(t.Context(), requests, &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "certificates.k8s.io/v1", "kind": "CertificateSigningRequest", "metadata": map[string]any{"name": name}, "spec": map[string]any{
				"request":    base64.StdEncoding.EncodeToString(ask(t, x509.CertificateRequest{Subject: pkix.Name{CommonName: name, Organization: organizations}})),
				"signerName": signer, "usages": []any{"client auth"},
			},
		}})
		return err
	}
	const own = certificatesv1.KubeAPIServerClientSignerName
	err := create("a", own, "team", "system:masters")
	want := `certificatesigningrequests.certificates.k8s.io "a" is forbidden: use of kubernetes.io/kube-apiserver-client signer with system:masters group is not allowed`
	if !apierrors.IsForbidden(err) || err.Error() != want {
		t.Errorf("of administrators: %v", err)
	}
	for name, err := range map[string]error{"of a team": create("b", own, "team"), "of another signer": create("c", "example.com/s", "system:masters")} {
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
