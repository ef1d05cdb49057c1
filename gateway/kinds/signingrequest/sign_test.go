package signingrequest

import (
	"context"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/util/cert"

	"github.com/wasmgate/wasmgate/crd/builtin/extend"
	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/pki"
)

// one has one request, and may fail.
type one struct {
	request                    *certificatesv1.CertificateSigningRequest
	reading, writing, deleting error
	written                    []certificatesv1.CertificateSigningRequestStatus
	deleted                    int
}

func (o *one) Get(_ context.Context, gr schema.GroupResource, _, name string) (*unstructured.Unstructured, error) {
	if o.reading != nil || o.request == nil {
		return nil, o.reading
	}
	tree, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o.request)
	return &unstructured.Unstructured{Object: tree}, err
}

func (o *one) Update(_ context.Context, _ schema.GroupResource, subresource string, obj *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	r, err := read(obj)
	if err == nil && subresource == "status" {
		o.written = append(o.written, r.Status)
	}
	return obj, errors.Join(err, o.writing)
}

func (o *one) Delete(_ context.Context, _ schema.GroupResource, _, _ string, opts metav1.DeleteOptions) error {
	if p := opts.Preconditions; p != nil && *p.UID == o.request.UID && *p.ResourceVersion == o.request.ResourceVersion {
		o.deleted++
	}
	return o.deleting
}

// approved is a request that is to be signed.
func approved(t *testing.T) *certificatesv1.CertificateSigningRequest {
	return &certificatesv1.CertificateSigningRequest{
		ObjectMeta: metav1.ObjectMeta{Name: "r", UID: "u", ResourceVersion: "7"},
		Spec: certificatesv1.CertificateSigningRequestSpec{
			Request: ask(t, x509.CertificateRequest{Subject: pkix.Name{CommonName: "r"}}), SignerName: certificatesv1.KubeAPIServerClientSignerName,
			Usages: []certificatesv1.KeyUsage{"client auth", "key encipherment"},
		},
		Status: certificatesv1.CertificateSigningRequestStatus{Conditions: []certificatesv1.CertificateSigningRequestCondition{{Type: "Approved", Status: "True"}}},
	}
}

func authority(t *testing.T) *Authority {
	t.Helper()
	certFile, keyFile, err := pki.ClientAuthority(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	a, err := ReadAuthority(certFile, keyFile)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// What is written of a request, how often, and which failures are told.
func TestWhatTheSignerWritesAndTells(t *testing.T) {
	signs, broken := authority(t), errors.New("no store")
	expired := &Authority{&x509.Certificate{NotAfter: time.Now().Add(-time.Second)}, signs.key}
	add := func(kind certificatesv1.RequestConditionType, status corev1.ConditionStatus) func(r *certificatesv1.CertificateSigningRequest) {
		return func(r *certificatesv1.CertificateSigningRequest) {
			r.Status.Conditions = append(r.Status.Conditions, certificatesv1.CertificateSigningRequestCondition{Type: kind, Status: status})
		}
	}
	for what, c := range map[string]struct {
		change        func(r *certificatesv1.CertificateSigningRequest)
		o             one
		authority     *Authority
		signed, fails bool
		want          string
	}{
		"approved":   {authority: signs, signed: true},
		"not denied": {change: add("Denied", "False"), authority: signs, signed: true},
		"denied":     {change: add("Denied", "True"), authority: signs},
		"failed":     {change: add("Failed", "True"), authority: signs},
		"signed":     {change: func(r *certificatesv1.CertificateSigningRequest) { r.Status.Certificate = []byte("-") }, authority: signs},
		"going": {change: func(r *certificatesv1.CertificateSigningRequest) {
			r.DeletionTimestamp = &metav1.Time{Time: time.Now()}
		}, authority: signs},
		"not approved": {change: func(r *certificatesv1.CertificateSigningRequest) { r.Status.Conditions[0].Status = "False" }, authority: signs},
		"no request":   {change: func(r *certificatesv1.CertificateSigningRequest) { r.Spec.Request = []byte("-") }, authority: signs, fails: true},
		"of a server": {change: func(r *certificatesv1.CertificateSigningRequest) {
			r.Spec.Usages = []certificatesv1.KeyUsage{"server auth"}
		}, authority: signs, fails: true},
		"not read":        {o: one{reading: broken}, authority: signs, want: "no store"},
		"gone":            {o: one{reading: apierrors.NewNotFound(requests, "r")}, authority: signs},
		"not written":     {o: one{writing: broken}, authority: signs, signed: true, want: "no store"},
		"no authority":    {want: "the authority of clients: no file"},
		"expired already": {authority: expired, want: "the authority of clients has expired: NotAfter="},
	} {
		c.o.request = approved(t)
		if c.change != nil {
			c.change(c.o.request)
		}
		err := (&Signer{Objects: &c.o, Longest: time.Hour, Authority: func() (*Authority, error) {
			if c.authority == nil {
				return nil, errors.New("no file")
			}
			return c.authority, nil
		}}).Reconcile(t.Context(), nil, controller.Key{GroupResource: requests, Name: "r"})
		if (err != nil) != (c.want != "") || err != nil && !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", what, err, c.want)
		}
		if wrote := len(c.o.written) == 1; wrote != (c.signed || c.fails) || wrote && (len(c.o.written[0].Certificate) > 0) != c.signed {
			t.Errorf("%s: written %+v", what, c.o.written)
		}
	}
}

// A certificate ends no later than its authority's, and one that lasts long a little
// earlier than asked for.
func TestWhenCertificatesEnd(t *testing.T) {
	a := authority(t)
	asked, err := extend.ParseSigningRequest(approved(t).Spec.Request)
	if err != nil {
		t.Fatal(err)
	}
	end := a.certificate.NotAfter
	for what, c := range map[string]struct {
		lasts     time.Duration
		now, want time.Time
	}{
		"short":                    {8*time.Hour - time.Second, end.Add(-9 * time.Hour), end.Add(-time.Hour - time.Second)},
		"long":                     {8 * time.Hour, end.Add(-9 * time.Hour), end.Add(-time.Hour - 5*time.Minute)},
		"longer than its signer's": {2 * time.Hour, end.Add(-time.Hour), end},
	} {
		text, err := a.sign(asked, x509.KeyUsageKeyEncipherment, c.lasts, c.now)
		if err != nil {
			t.Fatal(err)
		}
		block, _ := pem.Decode(text)
		made, err := x509.ParseCertificate(block.Bytes)
		if err != nil || !made.NotAfter.Equal(c.want) || !made.NotBefore.Equal(c.now.Add(-5*time.Minute)) || !made.BasicConstraintsValid || made.KeyUsage != x509.KeyUsageKeyEncipherment {
			t.Errorf("%s: from %s until %s, want %s: %v", what, made.NotBefore, made.NotAfter, c.want, err)
		}
	}
	if _, err := a.sign(asked, 0, time.Hour, end); err == nil {
		t.Error("signed when the authority ends")
	}
}

// Files that are no authority are refused, with the reason.
func TestFilesOfAnAuthority(t *testing.T) {
	certFile, keyFile, err := pki.ClientAuthority(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(certFile)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	put := func(name string, text []byte) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	served, servedKey, err := cert.GenerateSelfSignedCertKey("server", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	block, _ := pem.Decode(served)
	server, two := put("server", pem.EncodeToMemory(block)), put("two", append(append([]byte{}, text...), text...))
	for _, c := range []struct{ cert, key, want string }{
		{two, keyFile, two + " has 2 certificates and not one"},
		{server, put("server.key", servedKey), server + " is not the certificate of an authority"},
		{filepath.Join(dir, "none"), keyFile, "open " + filepath.Join(dir, "none") + ": no such file or directory"},
	} {
		if _, err := ReadAuthority(c.cert, c.key); err == nil || err.Error() != c.want {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}

// later is a queue that remembers how long it is to wait.
type later struct{ after []time.Duration }

func (*later) Add(controller.Key)                             {}
func (l *later) AddAfter(_ controller.Key, d time.Duration)   { l.after = append(l.after, d) }
func (*later) Follow(_ controller.Key, _ ...controller.Scope) {}

// The cleaner comes back once a request is due, and tells its failures.
func TestWhatTheCleanerWaitsForAndTells(t *testing.T) {
	broken, gone := errors.New("no store"), apierrors.NewNotFound(requests, "r")
	made := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for what, c := range map[string]struct {
		o       one
		after   time.Duration
		deleted int
		waits   time.Duration
		want    error
	}{
		"waiting":       {after: 23 * time.Hour, waits: time.Hour + time.Second},
		"to the second": {after: 24 * time.Hour, waits: time.Second},
		"over":          {after: 24*time.Hour + 1, deleted: 1},
		"gone already":  {o: one{deleting: gone}, after: 25 * time.Hour, deleted: 1},
		"not deleted":   {o: one{deleting: broken}, after: 25 * time.Hour, deleted: 1, want: broken},
		"not read":      {o: one{reading: broken}, after: 25 * time.Hour, want: broken},
		"no request":    {o: one{reading: gone}, after: 25 * time.Hour},
	} {
		c.o.request = approved(t)
		c.o.request.Status.Conditions, c.o.request.CreationTimestamp = nil, metav1.NewTime(made)
		q := &later{}
		err := (&Cleaner{Objects: &c.o, Now: func() time.Time { return made.Add(c.after) }}).Reconcile(t.Context(), q, controller.Key{GroupResource: requests, Name: "r"})
		if !errors.Is(err, c.want) || c.o.deleted != c.deleted {
			t.Errorf("%s: %v, deleted %d times", what, err, c.o.deleted)
		}
		if c.waits == 0 && len(q.after) != 0 || c.waits != 0 && (len(q.after) != 1 || q.after[0] != c.waits) {
			t.Errorf("%s: waits %v, want %s", what, q.after, c.waits)
		}
	}
}

// Of several times the earliest counts, and conditions without a time do not.
func TestWhichTimeOfARequestCounts(t *testing.T) {
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	r := approved(t)
	if end := ends(r); !end.IsZero() {
		t.Errorf("approved at no time, and kept until %s", end)
	}
	r.Status.Conditions[0].LastUpdateTime = metav1.NewTime(at)
	r.Status.Conditions = append(r.Status.Conditions, certificatesv1.CertificateSigningRequestCondition{Type: "Failed", LastUpdateTime: metav1.NewTime(at.Add(2 * time.Hour))})
	if end := ends(r); !end.Equal(at.Add(3 * time.Hour)) {
		t.Errorf("failed: until %s", end)
	}
	r.Status.Conditions[1].LastUpdateTime = metav1.NewTime(at.Add(48 * time.Hour))
	if end := ends(r); !end.Equal(at.Add(24 * time.Hour)) {
		t.Errorf("approved long before: until %s", end)
	}
	r.Status.Certificate = []byte("-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----\n")
	if end := ends(r); !end.Equal(at.Add(time.Hour)) {
		t.Errorf("with a certificate that cannot be read: until %s", end)
	}
}
