package keyless_test

import (
	"errors"
	"testing"

	"github.com/wasmgate/wasmgate/plugins/signature"
	"github.com/wasmgate/wasmgate/plugins/signature/keyless"
	"github.com/wasmgate/wasmgate/plugins/signature/keyless/keylesstest"
)

// FuzzClaim: whatever a bundle is, it is refused with a reason that is told, unless it is the
// one that was signed.
func FuzzClaim(f *testing.F) {
	s := keylesstest.New(f)
	roots, err := keyless.ReadPEM([]byte(s.Certificates()), []byte(s.Logs()))
	if err != nil {
		f.Fatal(err)
	}
	by, err := keyless.NewAuthority(roots, keyless.Identity{IssuerPattern: ".*", SubjectPattern: ".*"})
	if err != nil {
		f.Fatal(err)
	}
	content := []byte("content")
	for _, c := range keylesstest.Tamperings() {
		f.Add(c.Do(s, content))
	}
	of := signature.Demand{Digest: signature.Digest([]byte("of nothing that was signed"))}
	f.Fuzz(func(t *testing.T, text string) {
		var e *signature.Error
		for _, a := range []signature.Authority{by, keyless.Unverified{}} {
			if _, err := of.Met([]signature.Signature{{Bundle: text}}, a); !errors.As(err, &e) || e.Reason == "" || e.Detail == "" {
				t.Errorf("%v", err)
			}
		}
	})
}
