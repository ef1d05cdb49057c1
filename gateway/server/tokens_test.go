package server

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"github.com/wasmgate/wasmgate/gateway/options"
	"github.com/wasmgate/wasmgate/gateway/pki"
)

// accountToken is a new token of the account "robot".
func (i *instance) accountToken() string {
	i.t.Helper()
	const accounts = "/api/v1/namespaces/default/serviceaccounts"
	if made := i.do("POST", accounts, `{"apiVersion":"v1","kind":"ServiceAccount","metadata":{"name":"robot"}}`); made.code != 201 && made.code != 409 {
		i.t.Fatalf("%d %s", made.code, made.body)
	}
	got := i.do("POST", accounts+"/robot/token", `{"apiVersion":"authentication.k8s.io/v1","kind":"TokenRequest"}`)
	var asked struct{ Status struct{ Token string } }
	if err := json.Unmarshal([]byte(got.body), &asked); err != nil || got.code != 201 {
		i.t.Fatalf("%d %s", got.code, got.body)
	}
	return asked.Status.Token
}

// counts reports whether a token shows who its holder is.
func (i *instance) counts(token string) bool {
	i.t.Helper()
	got := i.as(token, "POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", `{"apiVersion":"authentication.k8s.io/v1","kind":"SelfSubjectReview"}`)
	if got.code != 201 && got.code != 401 {
		i.t.Fatalf("%d %s", got.code, got.body)
	}
	return got.code == 201
}

// The key that signs tokens is replaced without an end of those that it signed.
func TestRun_TokensOutliveTheirKey(t *testing.T) {
	dir := t.TempDir()
	fresh, err := pki.TokenKey(filepath.Join(dir, "fresh"))
	if err != nil {
		t.Fatal(err)
	}
	o := servingIn(filepath.Join(dir, "data"))
	o.Profiling = false
	g := start(t, o)
	if got := g.do("GET", "/debug/pprof/heap", ""); got.code != 404 {
		t.Errorf("profiles that are switched off: %d %s", got.code, got.body)
	}
	token := g.accountToken()
	if err := g.end(); err != nil {
		t.Fatal(err)
	}
	o.ServiceAccountSigningKeyFile = write(t, filepath.Join(dir, "sa.key"), string(fresh))
	o.ServiceAccountKeyFiles = []string{o.ServiceAccountSigningKeyFile, filepath.Join(o.DataDir, "pki", "sa.key")}
	g = start(t, o)
	if !g.counts(token) || !g.counts(g.accountToken()) {
		t.Error("tokens do not count beside each other")
	}
	if err := g.end(); err != nil {
		t.Fatal(err)
	}
	o.ServiceAccountKeyFiles = nil
	g = start(t, o)
	if g.counts(token) {
		t.Error("a token counts whose key is gone")
	}
	if err := g.end(); err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{
		filepath.Join(dir, "none"):                 "--service-account-key-file: open ",
		write(t, filepath.Join(dir, "empty"), "x"): "it is no PEM",
	} {
		o.ServiceAccountKeyFiles = []string{file}
		if err := Run(t.Context(), o, zerolog.Nop(), func(options.Started) { t.Error("started") }); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", file, err, want)
		}
	}
}

// Others find the keys that verify tokens, unless nobody could ask the issuer.
func TestRun_KeysOfTokensArePublished(t *testing.T) {
	o := servingIn(t.TempDir())
	g := start(t, o)
	configuration, keys := g.do("GET", "/.well-known/openid-configuration", ""), g.do("GET", "/openid/v1/jwks", "")
	if configuration.code != 200 || !strings.Contains(configuration.body, `"issuer":"https://kubernetes.default.svc","jwks_uri":"`+g.url+`/openid/v1/jwks"`) {
		t.Errorf("%d %s", configuration.code, configuration.body)
	}
	if keys.code != 200 || !strings.Contains(keys.body, `{"keys":[{"use":"sig","kty":"EC"`) || keys.header.Get("Content-Type") != "application/jwk-set+json" || keys.header.Get("Cache-Control") != "public, max-age=3600" {
		t.Errorf("%d %v %s", keys.code, keys.header, keys.body)
	}
	if got := g.do("POST", "/openid/v1/jwks", ""); got.code != 405 {
		t.Errorf("%d %s", got.code, got.body)
	}
	if got := g.as("nobodys", "GET", "/openid/v1/jwks", ""); got.code != 401 {
		t.Errorf("shown to who is not known: %d %s", got.code, got.body)
	}
	for _, path := range []string{`"/.well-known/openid-configuration"`, `"/openid/v1/jwks"`} {
		if got := g.do("GET", "/", ""); !strings.Contains(got.body, path) {
			t.Errorf("%s is not in %s", path, got.body)
		}
	}
	if err := g.end(); err != nil {
		t.Fatal(err)
	}
	o.ServiceAccountIssuers = []string{"me"}
	g = start(t, o)
	if got := g.do("GET", "/openid/v1/jwks", ""); got.code != 404 {
		t.Errorf("%d %s", got.code, got.body)
	}
	if err := g.end(); err != nil {
		t.Fatal(err)
	}
}
