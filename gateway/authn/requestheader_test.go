package authn

import (
	"crypto/x509"
	"crypto/x509/pkix"
	"net/http"
	"reflect"
	"testing"
)

// header is the head of a request.
type header http.Header

func (h header) Header() http.Header { return http.Header(h) }

// Headers say who asks where a certificate of the right authority and name is shown, and
// nowhere else.
func TestRequestHeader(t *testing.T) {
	ca, other := newIssuer(t, "front"), newIssuer(t, "other")
	by, err := NewClientCerts(ca.pem(), nil)
	if err != nil {
		t.Fatal(err)
	}
	a := &RequestHeader{By: by, AllowedNames: []string{"proxy"}, Username: []string{"X-Remote-User"}, UID: []string{"X-Remote-Uid"}, Group: []string{"X-Remote-Group"}, ExtraPrefix: []string{"X-Remote-Extra-"}}
	cert := func(i issuer, name string) []*x509.Certificate {
		return []*x509.Certificate{i.client(t, pkix.Name{CommonName: name}, x509.ExtKeyUsageClientAuth)}
	}
	said := header{"X-Remote-User": {"bob"}, "X-Remote-Uid": {"7"}, "X-Remote-Group": {"dev", "ops"}, "X-Remote-Extra-Example.com%2fscope": {"a", "b"}}
	got, ok, err := a.Authenticate(t.Context(), Request{ClientCerts: cert(ca, "proxy"), Head: said})
	want := &User{Name: "bob", UID: "7", Groups: []string{"dev", "ops", AllAuthenticated}, Extra: map[string][]string{"example.com/scope": {"a", "b"}}}
	if !ok || err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v %v %v", got, ok, err)
	}
	for name, r := range map[string]Request{
		"no certificate":  {Head: said},
		"no user":         {ClientCerts: cert(ca, "proxy"), Head: header{"X-Remote-Group": {Masters}}},
		"no head":         {ClientCerts: cert(ca, "proxy")},
		"other authority": {ClientCerts: cert(other, "proxy"), Head: said},
		"other name":      {ClientCerts: cert(ca, "bob"), Head: said},
	} {
		if u, ok, _ := a.Authenticate(t.Context(), r); ok {
			t.Errorf("%s: it is %+v", name, u)
		}
	}
	a.AllowedNames = nil // whoever the authority vouches for
	if u, ok, err := a.Authenticate(t.Context(), Request{ClientCerts: cert(ca, "bob"), Head: said}); !ok || err != nil || u.Name != "bob" {
		t.Errorf("any name: %+v %v %v", u, ok, err)
	}
	if u, ok, _ := a.Authenticate(t.Context(), Request{ClientCerts: cert(ca, "proxy"), Head: header{"X-Remote-User": {Anonymous}, "X-Remote-Group": {Unauthenticated}}}); !ok || u.In(AllAuthenticated) {
		t.Errorf("nobody is %+v", u)
	}
}
