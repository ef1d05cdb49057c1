package oci_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"oras.land/oras-go/v2/registry/remote/auth"

	"github.com/wasmgate/wasmgate/gateway/kinds/module/oci"
	"github.com/wasmgate/wasmgate/gateway/kinds/module/oci/ocitest"
)

// Bundles that refer to an image come with it, as they are: by the list that the registry
// keeps, and by the tag for registries that keep none. What is too large, or too much, does not.
func TestBundlesComeWithTheImage(t *testing.T) {
	for name, host := range map[string]string{"list": ocitest.StartReferrers(t), "tag": ocitest.Start(t, nil)} {
		digest := push(t, host, "v1", [2]string{wasmLayer, "the module"})
		other := push(t, host, "v2", [2]string{wasmLayer, "another"})
		pull := func() []oci.Signature {
			t.Helper()
			got, err := client.Pull(t.Context(), host+"/team/tabs:v1", oci.Login{})
			if err != nil {
				t.Fatal(name, err)
			}
			return got.Signatures
		}
		refer := func(digest, bundle string) {
			t.Helper()
			ocitest.Refer(t, host+"/team/tabs", digest, []byte(bundle))
		}
		refer(other, `{"of":"another"}`)
		refer(digest, strings.Repeat("x", 32<<10+1))
		if got := pull(); len(got) != 0 {
			t.Errorf("%s: %.100q", name, got)
		}
		refer(digest, `{"of":"it"}`)
		if got := pull(); len(got) != 1 || got[0].Bundle != `{"of":"it"}` || got[0].Payload != nil {
			t.Errorf("%s: %.100q", name, got)
		}
		for i := range 6 {
			refer(digest, fmt.Sprint(i))
		}
		if got := pull(); len(got) == 0 || len(got) > 4 {
			t.Errorf("%s: %d came", name, len(got))
		}
	}
}

// A signature with a certificate and an entry of a log counts by its key as well: cosign
// writes them beside one that was made with a key.
func TestSignaturesWithACertificateCountByKeyToo(t *testing.T) {
	host := ocitest.Start(t, nil)
	digest := push(t, host, "v1", [2]string{wasmLayer, "the module"})
	var all []ocitest.Layer
	for i := range 3 {
		one := ocitest.Signed([]byte(fmt.Sprint("payload", i)), []byte("signature"))
		one.Annotations["dev.sigstore.cosign/certificate"] = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"
		one.Annotations["dev.sigstore.cosign/bundle"] = `{"SignedEntryTimestamp":"AAAA","Payload":{"body":"AAAA","logID":"00"}}`
		all = append(all, one)
	}
	ocitest.Push(t, host+"/team/tabs", ocitest.SignatureTag(digest), auth.Credential{}, all...)
	got, err := client.Pull(t.Context(), host+"/team/tabs:v1", oci.Login{})
	if err != nil || len(got.Signatures) != 4 {
		t.Fatalf("%d came, %v", len(got.Signatures), err)
	}
	for i, s := range got.Signatures {
		if string(s.Payload) != fmt.Sprint("payload", i/2) || (string(s.Signature) == "signature") != (i%2 == 0) || strings.Contains(s.Bundle, "AAAA") != (i%2 == 1) {
			t.Errorf("%d: %q", i, s)
		}
	}
}

// What is kept of all bundles of an image has a bound.
func TestBundlesHaveABoundTogether(t *testing.T) {
	host := ocitest.StartReferrers(t)
	digest := push(t, host, "v1", [2]string{wasmLayer, "the module"})
	for i := range 4 {
		ocitest.Refer(t, host+"/team/tabs", digest, []byte(fmt.Sprint(i)+strings.Repeat(" ", 30<<10)))
	}
	got, err := client.Pull(t.Context(), host+"/team/tabs:v1", oci.Login{})
	if err != nil || len(got.Signatures) != 2 {
		t.Errorf("%d came, %v", len(got.Signatures), err)
	}
}

// A registry that fails to tell what refers to an image gives the image all the same, and so
// does one whose list has no end.
func TestAnImageComesWithoutBundles(t *testing.T) {
	pages := 0
	for name, list := range map[string]http.HandlerFunc{
		"fails": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) },
		"no list": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/vnd.oci.image.index.v1+json")
			fmt.Fprint(w, "{")
		},
		"no end": func(w http.ResponseWriter, r *http.Request) {
			pages++
			w.Header().Set("Content-Type", "application/vnd.oci.image.index.v1+json")
			w.Header().Set("Link", "<"+r.URL.Path+`?n=1>; rel="next"`)
			fmt.Fprint(w, `{"schemaVersion":2,"manifests":[]}`)
		},
	} {
		host := ocitest.Start(t, func(honest http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if strings.Contains(r.URL.Path, "/referrers/") {
					list(w, r)
					return
				}
				honest.ServeHTTP(w, r)
			})
		})
		push(t, host, "v1", [2]string{wasmLayer, "the module"})
		got, err := client.Pull(t.Context(), host+"/team/tabs:v1", oci.Login{})
		if err != nil || string(got.Module) != "the module" || len(got.Signatures) != 0 {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	if pages != 4 {
		t.Errorf("%d pages of a list were read", pages)
	}
}
