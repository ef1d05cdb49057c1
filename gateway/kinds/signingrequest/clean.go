package signingrequest

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"time"

	certificatesv1 "k8s.io/api/certificates/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/controller/client"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
)

// Cleans is what the cleaner reads and deletes.
type Cleans interface {
	client.Getter
	client.Deleter
}

// Cleaner is the controller that deletes old requests, of all signers. It runs in one
// gateway.
type Cleaner struct {
	Objects Cleans
	// Now is the time; nil means [time.Now].
	Now func() time.Time
}

// How long requests are kept, as by kube-controller-manager.
const (
	decided = time.Hour
	waiting = 24 * time.Hour
)

// Name implements [controller.Controller].
func (c *Cleaner) Name() string { return "certificate-cleaner" }

// Watches implements [controller.Controller].
func (c *Cleaner) Watches() []schema.GroupResource { return []schema.GroupResource{requests} }

// Reconcile implements [controller.Controller].
func (c *Cleaner) Reconcile(ctx context.Context, q controller.Queue, key controller.Key) error {
	_, r, err := get(ctx, c.Objects, key.Name)
	if err != nil || r == nil {
		return err
	}
	end := ends(r)
	if end.IsZero() {
		return nil
	}
	now := time.Now
	if c.Now != nil {
		now = c.Now
	}
	if left := end.Sub(now()); left >= 0 {
		q.AddAfter(key, left+time.Second)
		return nil
	}
	return gvr.IgnoreNotFound(c.Objects.Delete(ctx, requests, "", r.Name, metav1.DeleteOptions{
		Preconditions: &metav1.Preconditions{UID: &r.UID, ResourceVersion: &r.ResourceVersion},
	}))
}

// ends is when a request has been kept long enough, the zero time for never.
func ends(r *certificatesv1.CertificateSigningRequest) (end time.Time) {
	earliest := func(t time.Time, after time.Duration) {
		if t = t.Add(after); end.IsZero() || t.Before(end) {
			end = t
		}
	}
	if len(r.Status.Conditions) == 0 {
		earliest(r.CreationTimestamp.Time, waiting)
	}
	issued := len(r.Status.Certificate) > 0
	for _, c := range r.Status.Conditions {
		at := c.LastUpdateTime
		switch {
		case at.IsZero():
		case c.Type == certificatesv1.CertificateDenied, c.Type == certificatesv1.CertificateFailed, c.Type == certificatesv1.CertificateApproved && issued:
			earliest(at.Time, decided)
		case c.Type == certificatesv1.CertificateApproved:
			earliest(at.Time, waiting)
		}
	}
	if block, _ := pem.Decode(r.Status.Certificate); block != nil && condition(r, certificatesv1.CertificateApproved) != nil {
		if cert, err := x509.ParseCertificate(block.Bytes); err == nil {
			earliest(cert.NotAfter, 0)
		}
	}
	return end
}
