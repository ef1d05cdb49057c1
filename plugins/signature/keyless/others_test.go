package keyless_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/plugins/signature"
	"github.com/wasmgate/wasmgate/plugins/signature/keyless"
)

// What others made is believed by their roots: a statement of provenance in the public log
// of Sigstore, whose certificate is in a log, too, and a signature of a deployment of one's
// own, whose subject is of a form that Go does not read. Both are of sigstore-go's tests.
func TestBundlesOfOthers(t *testing.T) {
	for _, c := range []struct {
		bundle, root string
		id           keyless.Identity
		digest       string
	}{
		{"provenance.sigstore.json", "public-good.json", keyless.Identity{
			Issuer: "https://token.actions.githubusercontent.com", SubjectPattern: `https://github\.com/sigstore/sigstore-js/\.github/workflows/release\.yml@refs/heads/main`,
		}, ""},
		{"othername.sigstore.json", "scaffolding.json", keyless.Identity{IssuerPattern: "http.*", SubjectPattern: "foo!.*"}, "sha256:bc103b4a84971ef6459b294a2b98568a2bfb72cded09d4acd1e16366a401f95b"},
	} {
		read := func(name string) string {
			t.Helper()
			text, err := os.ReadFile(filepath.Join("testdata", name))
			if err != nil {
				t.Fatal(err)
			}
			return string(text)
		}
		roots, err := keyless.ReadTrustedRoot([]byte(read(c.root)))
		if err != nil {
			t.Fatal(c.root, err)
		}
		by, err := keyless.NewAuthority(roots, c.id)
		if err != nil {
			t.Fatal(err)
		}
		// The version is of no matter to what is in it, which is all that one of 0.2 has.
		s := signature.Signature{Bundle: strings.Replace(read(c.bundle), "+json;version=0.1", "+json;version=0.2", 1)}
		claim, err := by.Claim(s)
		if err != nil || claim.Digest != c.digest || (claim.Statement != nil) != (c.digest == "") || claim.By.Subject == "" {
			t.Errorf("%s: %+v, %v", c.bundle, claim, err)
		}
		if st := claim.Statement; st != nil && (st.PredicateType != signature.SLSA || !strings.HasPrefix(st.BuiltBy(), "https://github.com/actions/runner")) {
			t.Errorf("%s: %+v", c.bundle, st)
		}
		_, err = by.Claim(signature.Signature{Bundle: strings.Replace(s.Bundle, `"integratedTime": "1`, `"integratedTime": "2`, 1)})
		wantReason(t, c.bundle+" with another time", err, "SignatureUntrusted: ")
	}
}
