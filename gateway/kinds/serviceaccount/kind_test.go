package serviceaccount

import (
	"cmp"
	"crypto/x509"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest/realengine"
	"github.com/wasmgate/wasmgate/gateway/kinds"
	"github.com/wasmgate/wasmgate/gateway/metrics"
	"github.com/wasmgate/wasmgate/gateway/options"
)

// What tokens are signed and verified with is what the options say, or a key of the
// gateway's own that stays. What cannot be used is told with its option and its file.
func TestKeysThatTheOptionsSay(t *testing.T) {
	dir := t.TempDir()
	put := func(name, text string) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	private := rsaKey(t).private
	der, err := x509.MarshalPKCS8PrivateKey(private)
	good, bad, none := put("good", pemOf(t, "PRIVATE KEY", der, err)), put("bad", "?"), filepath.Join(dir, "none")
	for what, c := range map[string]struct {
		change    func(o *options.Serve)
		verifiers int
		want      string
	}{
		"its own":                  {func(*options.Serve) {}, 0, ""},
		"the operator's":           {func(o *options.Serve) { o.ServiceAccountSigningKeyFile = good }, 0, ""},
		"one more that verifies":   {func(o *options.Serve) { o.ServiceAccountKeyFiles = []string{good} }, 1, ""},
		"no file":                  {func(o *options.Serve) { o.ServiceAccountSigningKeyFile = none }, 0, "--service-account-signing-key-file: open " + none},
		"no key":                   {func(o *options.Serve) { o.ServiceAccountSigningKeyFile = bad }, 0, "--service-account-signing-key-file: " + bad + ": "},
		"no file of what verifies": {func(o *options.Serve) { o.ServiceAccountKeyFiles = []string{good, none} }, 0, "--service-account-key-file: open " + none},
		"nothing that verifies":    {func(o *options.Serve) { o.ServiceAccountKeyFiles = []string{bad} }, 0, "--service-account-key-file: " + bad + ": "},
		"a folder that is none":    {func(o *options.Serve) { o.DataDir = good }, 0, "--service-account-signing-key-file: "},
	} {
		o := options.Default()
		o.DataDir, o.ServiceAccountIssuers = filepath.Join(dir, "data"), []string{"https://issuer.example"}
		c.change(&o)
		tokens, err := configured(o, nil)
		if c.want != "" {
			if err == nil || !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("%s: %v, want %s", what, err, c.want)
			}
			continue
		}
		if err != nil || len(tokens.Verifiers) != c.verifiers {
			t.Errorf("%s: %+v, %v", what, tokens, err)
			continue
		}
		again, err := configured(o, nil)
		if err != nil || again.Key.id != tokens.Key.id {
			t.Errorf("%s: another key after another start: %v", what, err)
		}
	}
}

// What is served follows from what there is, and an issuer whom nobody can ask publishes
// nothing.
func TestWhatServiceAccountsServe(t *testing.T) {
	e := realengine.Start(t)
	for what, c := range map[string]struct {
		definitions []*crd.Definition
		issuer      string
		controllers string
		documents   int
		want        string
	}{
		"everything":   {[]*crd.Definition{{Plural: "serviceaccounts"}, {Plural: "configmaps"}}, "https://issuer.example", options.ServiceAccounts + " " + options.RootCertificates + " -", 2, ""},
		"no accounts":  {[]*crd.Definition{{Plural: "configmaps"}}, "https://issuer.example", options.RootCertificates + " -", 2, ""},
		"no ConfigMap": {[]*crd.Definition{{Plural: "serviceaccounts"}}, "issuer", options.ServiceAccounts, 0, ""},
		"no key":       {nil, "https://issuer.example", "", 0, "--service-account-signing-key-file: "},
	} {
		o := options.Default()
		o.DataDir, o.ServiceAccountIssuers = t.TempDir(), []string{c.issuer}
		if c.want != "" {
			o.ServiceAccountSigningKeyFile = filepath.Join(o.DataDir, "none")
		}
		served, err := Kind(kinds.Config{Options: o, Definitions: c.definitions, URL: "https://here", Metrics: metrics.New()}).Serve(e.Verbs)
		if c.want != "" {
			if err == nil || !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("%s: %v", what, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", what, err)
			continue
		}
		var names []string
		for _, one := range served.Controllers() {
			names = append(names, cmp.Or(one.Switch, "-"))
		}
		if strings.Join(names, " ") != c.controllers || len(served.Documents) != c.documents {
			t.Errorf("%s: %q, %d documents", what, names, len(served.Documents))
		}
		if text := string(served.Documents[ConfigurationPath].Body); c.documents > 0 && !strings.Contains(text, `"jwks_uri":"https://here/openid/v1/jwks"`) {
			t.Errorf("%s: %s", what, text)
		}
	}
}

// Files that cannot be used are told by who looks at them, each by its flag.
func TestFilesOfKeys(t *testing.T) {
	dir := t.TempDir()
	der, err := x509.MarshalPKCS8PrivateKey(rsaKey(t).private)
	good, bad := filepath.Join(dir, "good"), filepath.Join(dir, "bad")
	for file, text := range map[string]string{good: pemOf(t, "PRIVATE KEY", der, err), bad: "?"} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		signs    string
		verifies []string
		want     []bool
	}{{good, nil, []bool{true}}, {bad, nil, []bool{false}}, {good, []string{good, bad}, []bool{true, true, false}}} {
		o := options.Default()
		o.DataDir, o.ServiceAccountSigningKeyFile, o.ServiceAccountKeyFiles = dir, c.signs, c.verifies
		all := Files(o)
		if len(all) != len(c.want) {
			t.Fatalf("%+v: %d files", c, len(all))
		}
		for i, f := range all {
			flag, path := "service-account-signing-key-file", c.signs
			if i > 0 {
				flag, path = "service-account-key-file", c.verifies[i-1]
			}
			if err := f.Look(); (err == nil) != c.want[i] || f.Flag != flag || f.Paths[0] != path {
				t.Errorf("--%s %q: %v", f.Flag, f.Paths, err)
			}
		}
	}
}
