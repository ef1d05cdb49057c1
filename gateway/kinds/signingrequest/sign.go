package signingrequest

import (
	"context"
	"crypto/x509"
	"fmt"
	"time"

	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/crd/builtin/extend"
	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/controller/client"
)

// Signs is what the signer reads and writes.
type Signs interface {
	client.Getter
	client.Updater
}

// Signer is the controller that signs what is approved of the requests to the signer
// kubernetes.io/kube-apiserver-client. It runs in one gateway.
type Signer struct {
	// Objects are the requests.
	Objects Signs
	// Authority signs; it is asked for each time, so that it can be replaced.
	Authority func() (*Authority, error)
	// Longest is how long a certificate lasts at most.
	Longest time.Duration
}

// Name implements [controller.Controller].
func (s *Signer) Name() string { return "certificate-signing" }

// Watches implements [controller.Controller].
func (s *Signer) Watches() []schema.GroupResource { return []schema.GroupResource{requests} }

// Reconcile implements [controller.Controller].
func (s *Signer) Reconcile(ctx context.Context, _ controller.Queue, key controller.Key) error {
	obj, r, err := get(ctx, s.Objects, key.Name)
	if err != nil || r == nil || !due(r) {
		return err
	}
	asked, err := extend.ParseSigningRequest(r.Spec.Request)
	if err == nil {
		err = ofClient(r.Spec.Usages)
	}
	if err != nil {
		r.Status.Conditions = append(r.Status.Conditions, certificatesv1.CertificateSigningRequestCondition{
			Type: certificatesv1.CertificateFailed, Status: corev1.ConditionTrue, Reason: "SignerValidationFailure", Message: err.Error(),
		})
		return s.write(ctx, obj, r)
	}
	authority, err := s.Authority()
	if err != nil {
		return fmt.Errorf("the authority of clients: %w", err)
	}
	if r.Status.Certificate, err = authority.sign(asked, usage(r.Spec.Usages), s.lasts(r.Spec.ExpirationSeconds), time.Now()); err != nil {
		return err
	}
	return s.write(ctx, obj, r)
}

// due reports whether a request is to be signed now.
func due(r *certificatesv1.CertificateSigningRequest) bool {
	return r.Spec.SignerName == certificatesv1.KubeAPIServerClientSignerName && len(r.Status.Certificate) == 0 && r.DeletionTimestamp == nil &&
		condition(r, certificatesv1.CertificateApproved) != nil && condition(r, certificatesv1.CertificateDenied) == nil && condition(r, certificatesv1.CertificateFailed) == nil
}

// write stores the status of a request that nobody changed meanwhile.
func (s *Signer) write(ctx context.Context, obj *unstructured.Unstructured, r *certificatesv1.CertificateSigningRequest) error {
	status, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&r.Status)
	if err != nil {
		return err
	}
	obj.Object["status"] = status
	_, err = s.Objects.Update(ctx, requests, "status", obj)
	return err
}

// ofClient tells why usages are not those of a client.
func ofClient(usages []certificatesv1.KeyUsage) error {
	client := false
	for _, u := range usages {
		switch u {
		case certificatesv1.UsageClientAuth:
			client = true
		case certificatesv1.UsageDigitalSignature, certificatesv1.UsageKeyEncipherment:
		default:
			return fmt.Errorf("invalid usage for client certificate: %s", u)
		}
	}
	if !client {
		return fmt.Errorf("missing required usage for client certificate: %s", certificatesv1.UsageClientAuth)
	}
	return nil
}

// usage is what a certificate of a client says of its key.
func usage(usages []certificatesv1.KeyUsage) (u x509.KeyUsage) {
	for _, name := range usages {
		switch name {
		case certificatesv1.UsageDigitalSignature:
			u |= x509.KeyUsageDigitalSignature
		case certificatesv1.UsageKeyEncipherment:
			u |= x509.KeyUsageKeyEncipherment
		}
	}
	return u
}

// leastLife is the shortest that a certificate lasts, whatever a request says.
const leastLife = 10 * time.Minute

// lasts is how long a certificate is to last.
func (s *Signer) lasts(seconds *int32) time.Duration {
	if seconds == nil {
		return s.Longest
	}
	return min(max(time.Duration(*seconds)*time.Second, leastLife), s.Longest)
}
