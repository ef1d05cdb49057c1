package apiservice

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	certutil "k8s.io/client-go/util/cert"

	"github.com/wasmgate/wasmgate/gateway/options"
	"github.com/wasmgate/wasmgate/gateway/pki"
)

// Each gateway adds its own authority to those that are there, once.
func TestAuthoritiesOfAllGatewaysAreTrusted(t *testing.T) {
	made := func(name string) []byte {
		cert, _, err := certutil.GenerateSelfSignedCertKey(name, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		return cert
	}
	one, two := made("one"), made("two")
	dir := t.TempDir()
	var had map[string]string
	var err error
	for _, own := range [][]byte{one, two, one} {
		file := filepath.Join(dir, "ca.crt")
		if err := os.WriteFile(file, own, 0o600); err != nil {
			t.Fatal(err)
		}
		if had, err = NewAuthentication(nil, options.Default(), own, []string{file}).data(had); err != nil {
			t.Fatal(err)
		}
	}
	if had["client-ca-file"] != string(pki.Bundle(one, two)) {
		t.Errorf("%s", had["client-ca-file"])
	}
	if had["requestheader-client-ca-file"] != string(pki.Bundle(one, two)) || strings.Count(had["requestheader-client-ca-file"], "BEGIN CERTIFICATE") < 2 {
		t.Errorf("%s", had["requestheader-client-ca-file"])
	}
	for key, want := range map[string]string{
		"requestheader-allowed-names": `["front-proxy-client"]`, "requestheader-username-headers": `["X-Remote-User"]`, "requestheader-uid-headers": `["X-Remote-Uid"]`,
		"requestheader-group-headers": `["X-Remote-Group"]`, "requestheader-extra-headers-prefix": `["X-Remote-Extra-"]`,
	} {
		if had[key] != want {
			t.Errorf("%s is %s", key, had[key])
		}
	}
}
