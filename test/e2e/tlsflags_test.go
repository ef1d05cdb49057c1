package e2e

import (
	"crypto/tls"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/test/harness"
)

// What the flags of TLS ask for is what clients meet.
func TestFlagsOfTLS(t *testing.T) {
	t.Parallel()
	g := harness.Start(t, harness.Options{Args: []string{"--tls-min-version=VersionTLS13", "--strict-transport-security-directives=max-age=7,preload"}})
	for _, path := range []string{"/version", "/api/v1/nothing"} {
		if got := g.API(t).Get(path).Header.Get("Strict-Transport-Security"); got != "max-age=7; preload" {
			t.Errorf("%s: %q", path, got)
		}
	}
	conn, err := tls.Dial("tcp", strings.TrimPrefix(g.URL, "https://"), &tls.Config{InsecureSkipVerify: true, MaxVersion: tls.VersionTLS12})
	if err == nil {
		_ = conn.Close()
		t.Error("TLS 1.2 is spoken")
	}
}

// A client meets the certificate of the name that it asks for, exchanges keys as the
// flags leave it, and is sent to another connection now and then; browsers are told which
// pages may ask.
func TestFlagsAboutClients(t *testing.T) {
	t.Parallel()
	harness.SkipExternal(t)
	other := filepath.Join(t.TempDir(), "data") // of a gateway that makes a certificate
	harness.Start(t, harness.Options{DataDir: other})
	pair := filepath.Join(other, "pki", "serving.crt") + "," + filepath.Join(other, "pki", "serving.key")
	g := harness.Start(t, harness.Options{Args: []string{"--tls-sni-cert-key=" + pair + ":*.named.example", "--tls-curve-preferences=23,24", `--cors-allowed-origins=//a\.example(:|$)`, "--goaway-chance=0.02"}})
	meets := func(c *tls.Config) (tls.ConnectionState, error) {
		c.InsecureSkipVerify = true
		conn, err := tls.Dial("tcp", strings.TrimPrefix(g.URL, "https://"), c)
		if err != nil {
			return tls.ConnectionState{}, err
		}
		defer func() { _ = conn.Close() }()
		return conn.ConnectionState(), nil
	}
	usual, err := meets(&tls.Config{})
	if err != nil || usual.CurveID != tls.CurveP256 && usual.CurveID != tls.CurveP384 {
		t.Errorf("%v, %v", usual.CurveID, err)
	}
	named, err := meets(&tls.Config{ServerName: "a.named.example"})
	if err != nil || named.PeerCertificates[0].Equal(usual.PeerCertificates[0]) {
		t.Errorf("the certificate of a name is that of all, %v", err)
	}
	if _, err := meets(&tls.Config{CurvePreferences: []tls.CurveID{tls.X25519}}); err == nil {
		t.Error("keys are exchanged by X25519")
	}

	ahead := g.API(t).Do("OPTIONS", "/api/v1/namespaces", nil, "Origin", "https://a.example", "Authorization", "").Want(204)
	if got := ahead.Header.Get("Access-Control-Allow-Origin"); got != "https://a.example" {
		t.Errorf("what is asked ahead is told %q", got)
	}
	if got := g.API(t).Get("/version", "Origin", "https://evil.example").Header.Get("Access-Control-Allow-Origin"); got != "" {
		t.Errorf("any page may ask: %q", got)
	}

	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	for range 3000 { // of which 60 are
		resp, err := client.Get(g.URL + "/livez")
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
		if resp.Close {
			return
		}
	}
	t.Error("no connection is ever closed")
}
