package signingrequest

import (
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"strings"
	"testing"
	"time"

	certificatesv1 "k8s.io/api/certificates/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest"
)

// What is approved is signed once, and what was denied long ago goes.
func TestRequestsWhateverHappens(t *testing.T) {
	signs := authority(t)
	controllertest.Story{
		World: func(t *testing.T) *controllertest.Objects {
			o := controllertest.New(&crd.Definition{Group: requests.Group, Plural: requests.Resource, Kind: "CertificateSigningRequest", StorageVersion: "v1", KeyPrefix: requests.Resource})
			denied := approved(t)
			denied.Name = "denied"
			denied.Status.Conditions = []certificatesv1.CertificateSigningRequestCondition{{Type: "Denied", Status: "True", LastUpdateTime: metav1.NewTime(time.Now().Add(-2 * decided))}}
			for _, r := range []*certificatesv1.CertificateSigningRequest{approved(t), denied} {
				r.UID, r.ResourceVersion = "", ""
				tree, err := runtime.DefaultUnstructuredConverter.ToUnstructured(r)
				if err != nil {
					t.Fatal(err)
				}
				controllertest.MustCreate(t, o, requests, tree)
			}
			return o
		},
		Lead: func(s *controllertest.Seat) []controller.Controller {
			return []controller.Controller{&Cleaner{Objects: s}, &Signer{Objects: s, Authority: func() (*Authority, error) { return signs, nil }, Longest: time.Hour}}
		},
		Main: controller.Key{GroupResource: requests, Name: "r"},
		Outcome: func(t *testing.T, o *controllertest.Objects) string {
			all, err := o.List(t.Context(), requests, "")
			if err != nil {
				t.Error(err)
			}
			var said []string
			for _, obj := range all {
				r, err := read(obj)
				if err != nil {
					t.Fatal(err)
				}
				said = append(said, fmt.Sprint(r.Name, " for ", subjects(t, r.Status.Certificate)))
			}
			return strings.Join(said, ", ")
		},
		Want: "r for [r]",
	}.Tell(t)
}

// subjects are whom certificates are for.
func subjects(t *testing.T, chain []byte) (names []string) {
	t.Helper()
	for block, rest := pem.Decode(chain); block != nil; block, rest = pem.Decode(rest) {
		c, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, c.Subject.CommonName)
	}
	return names
}
