package e2e

import (
	"crypto/tls"
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
