package e2e

import (
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"flag"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/wasmgate/wasmgate/test/harness"
)

var recordPeer = flag.Bool("record.peer", false, "write what kube-apiserver does, whose program and etcd are in "+harness.PeerBinaries)

// besides is a table of what kube-apiserver did, by case.
type besides struct {
	t    *testing.T
	file string
	told map[string]string
}

// beside reads a table; or begins a new one, which is written at the end.
func beside(t *testing.T, name string) *besides {
	t.Helper()
	b := &besides{t: t, file: filepath.Join("testdata", "beside", name+".json"), told: map[string]string{}}
	if *recordPeer {
		t.Cleanup(func() {
			text, err := json.MarshalIndent(b.told, "", "  ")
			if err == nil {
				err = os.WriteFile(b.file, append(text, '\n'), 0o600)
			}
			if err != nil {
				t.Error(err)
			}
		})
		return b
	}
	text, err := os.ReadFile(b.file)
	if err == nil {
		err = json.Unmarshal(text, &b.told)
	}
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// start starts a gateway, or the kube-apiserver that is recorded.
func (b *besides) start(args ...string) *harness.Server {
	b.t.Helper()
	if *recordPeer {
		return &harness.StartPeer(b.t, append([]string{"--authorization-mode=RBAC"}, args...)...).Server
	}
	return &harness.Start(b.t, harness.Options{Args: args}).Server
}

// same compares what happened in a case.
func (b *besides) same(t *testing.T, name, got string) {
	t.Helper()
	if *recordPeer {
		b.told[name] = got
	} else if want, ok := b.told[name]; !ok || got != want {
		t.Errorf("%s:\n  got  %s\n  want %s", name, got, want)
	}
}

func configFile(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// authenticationConfig is a file that believes issuers: one by claims alone, one by
// expressions, whose document is elsewhere.
func authenticationConfig(plain, clever *harness.Issuer, more string) string {
	ca := func(i *harness.Issuer) string {
		text, _ := json.Marshal(string(i.CA))
		return string(text)
	}
	return fmt.Sprintf(`apiVersion: apiserver.config.k8s.io/v1
kind: AuthenticationConfiguration
jwt:
- issuer: {url: %q, audiences: [gate], certificateAuthority: %s}
  claimMappings:
    username: {claim: sub, prefix: "plain:"}
    groups: {claim: groups, prefix: "plain:"}
  claimValidationRules:
  - {claim: hd, requiredValue: example.com}
- issuer: {url: %q, discoveryURL: %q, audiences: [gate, other], audienceMatchPolicy: MatchAny, certificateAuthority: %s}
  claimMappings:
    username: {expression: 'claims.email.split("@")[0]'}
    groups: {expression: 'claims.roles'}
    uid: {claim: sub}
    extra:
    - {key: example.com/tenant, valueExpression: claims.tenant}
  claimValidationRules:
  - {expression: 'claims.?email_verified.orValue(true) == true', message: the address is not verified}
  - {expression: 'claims.exp - claims.iat <= 7200', message: it lasts too long}
  userValidationRules:
  - {expression: '!user.username.startsWith("system:")', message: the name is reserved}
%s`, plain.URL, ca(plain), clever.URL, clever.URL+"/elsewhere", ca(clever), more)
}

const cleverMore = "anonymous:\n  enabled: true\n  conditions: [{path: /livez}, {path: /version}]\n"

// who is whom a server takes the sender of a token for.
func who(t *testing.T, s *harness.Server, token string, issuers ...*harness.Issuer) string {
	t.Helper()
	api := s.API(t)
	api.Token = token
	r := api.Post("/apis/authentication.k8s.io/v1/selfsubjectreviews", `{"apiVersion":"authentication.k8s.io/v1","kind":"SelfSubjectReview"}`)
	out := fmt.Sprint(r.Code, " ", r.Str("message"), r.Str("status.userInfo"))
	for n, i := range issuers {
		out = strings.ReplaceAll(out, i.URL, fmt.Sprint("ISSUER", n))
	}
	return out
}

// TestTokensOfIssuers shows tokens that issuers signed which a file names, and compares
// who that is with kube-apiserver.
func TestTokensOfIssuers_RBAC(t *testing.T) {
	harness.SkipExternal(t)
	t.Parallel()
	b := beside(t, "authentication")
	plain, clever, stranger := harness.NewIssuer(t), harness.NewIssuer(t), harness.NewIssuer(t)
	s := b.start("--authentication-config", configFile(t, "authn.yaml", authenticationConfig(plain, clever, cleverMore)))
	good := map[string]any{"sub": "ann", "hd": "example.com", "groups": []string{"dev", "ops"}}
	harness.Eventually(t, "the keys of issuers", func() bool {
		return strings.HasPrefix(who(t, s, plain.Token(t, good)), "201") && strings.HasPrefix(who(t, s, clever.Token(t, cleverClaims(nil))), "201")
	})
	for name, token := range map[string]string{
		"plain": plain.Token(t, good), "plain, no groups": plain.Token(t, map[string]any{"sub": "ann", "hd": "example.com"}),
		"plain, a group alone":       plain.Token(t, map[string]any{"sub": "ann", "hd": "example.com", "groups": "dev"}),
		"plain, wrong claim":         plain.Token(t, map[string]any{"sub": "ann", "hd": "example.org"}),
		"plain, no such claim":       plain.Token(t, map[string]any{"sub": "ann"}),
		"plain, expired":             plain.Token(t, map[string]any{"sub": "ann", "hd": "example.com", "exp": 1000}),
		"plain, another audience":    plain.Token(t, map[string]any{"sub": "ann", "hd": "example.com", "aud": "other"}),
		"plain, not valid yet":       plain.Token(t, map[string]any{"sub": "ann", "hd": "example.com", "nbf": 1 << 40}),
		"plain, signed by another":   clever.Token(t, map[string]any{"iss": plain.URL, "sub": "ann", "hd": "example.com"}),
		"a stranger":                 stranger.Token(t, good),
		"clever":                     clever.Token(t, cleverClaims(nil)),
		"clever, another audience":   clever.Token(t, cleverClaims(map[string]any{"aud": "other"})),
		"clever, several audiences":  clever.Token(t, cleverClaims(map[string]any{"aud": []string{"x", "other"}})),
		"clever, no audience of its": clever.Token(t, cleverClaims(map[string]any{"aud": "x"})),
		"clever, not verified":       clever.Token(t, cleverClaims(map[string]any{"email_verified": false})),
		"clever, too long":           clever.Token(t, cleverClaims(map[string]any{"iat": 1000})),
		"clever, a reserved name":    clever.Token(t, cleverClaims(map[string]any{"email": "system:admin@example.com"})),
		"clever, no tenant":          clever.Token(t, cleverClaims(map[string]any{"tenant": nil})),
		"clever, several tenants":    clever.Token(t, cleverClaims(map[string]any{"tenant": []string{"a", "b"}})),
		"clever, no name":            clever.Token(t, cleverClaims(map[string]any{"email": "@example.com"})),
		"no token":                   "a.b.c",
	} {
		b.same(t, name, who(t, s, token, plain, clever, stranger))
	}
	nobody := s.API(t)
	nobody.Token = "-"
	for _, path := range []string{"/livez", "/livez/", "/livez/ping", "/readyz", "/version", "/version/", "/apis", "/api/v1/namespaces", "/livez?verbose"} {
		b.same(t, "nobody "+path, fmt.Sprint(nobody.Get(path).Code))
	}
}

func cleverClaims(changes map[string]any) map[string]any {
	out := map[string]any{"sub": "42", "email": "bob@example.com", "email_verified": true, "roles": []string{"dev", "ops"}, "tenant": "shop", "iat": time.Now().Unix()}
	maps.Copy(out, changes)
	return out
}

// reloads is how often a file came into force, or failed to, while the server runs.
func reloads(t *testing.T, s *harness.Server, of, status string) float64 {
	t.Helper()
	return metric(t, s.API(t), "apiserver_"+of+"_config_controller_automatic_reloads_total", `status="`+status+`"`)
}

// TestIssuersAreReplaced changes the file: what it says counts then, unless it cannot be
// used, or its issuers do not tell their keys.
func TestIssuersAreReplaced_RBAC(t *testing.T) {
	harness.SkipExternal(t)
	t.Parallel()
	first, second, third := harness.NewIssuer(t), harness.NewIssuer(t), harness.NewIssuer(t)
	ann := map[string]any{"sub": "ann", "hd": "example.com"}
	file := configFile(t, "authn.yaml", authenticationConfig(first, second, cleverMore))
	s := &harness.Start(t, harness.Options{Args: []string{"--authentication-config", file}}).Server
	known := func(i *harness.Issuer) bool { return strings.HasPrefix(who(t, s, i.Token(t, ann)), "201") }
	harness.Eventually(t, "the first issuer", func() bool { return known(first) })
	change := func(text, status string) {
		t.Helper()
		before := reloads(t, s, "authentication", status)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		harness.Eventually(t, "a reload: "+status, func() bool { return reloads(t, s, "authentication", status) > before })
	}
	for name, bad := range map[string]string{
		"no YAML": "{", "empty": "", "no https": strings.Replace(authenticationConfig(first, second, cleverMore), "https", "http", 1),
		"another anonymous": authenticationConfig(first, second, "anonymous: {enabled: false}\n"),
	} {
		change(bad, "failure")
		if !known(first) {
			t.Errorf("%s: the first issuer is not known any more", name)
		}
	}
	change(authenticationConfig(third, second, cleverMore), "success")
	if !known(third) {
		t.Error("the third issuer is not known")
	}
	harness.Eventually(t, "the end of the first issuer", func() bool { return !known(first) })
}

// TestOneIssuerByFlags believes an issuer that flags name.
func TestOneIssuerByFlags_RBAC(t *testing.T) {
	harness.SkipExternal(t)
	t.Parallel()
	b := beside(t, "oidcflags")
	i := harness.NewIssuer(t)
	s := b.start("--oidc-issuer-url", i.URL, "--oidc-client-id", "gate", "--oidc-ca-file", configFile(t, "ca.crt", string(i.CA)),
		"--oidc-groups-claim", "groups", "--oidc-groups-prefix", "oidc:", "--oidc-required-claim", "hd=example.com")
	good := map[string]any{"sub": "ann", "hd": "example.com", "groups": []string{"dev"}}
	harness.Eventually(t, "the keys", func() bool { return strings.HasPrefix(who(t, s, i.Token(t, good)), "201") })
	b.same(t, "good", who(t, s, i.Token(t, good), i))
	b.same(t, "wrong claim", who(t, s, i.Token(t, map[string]any{"sub": "ann", "hd": "x"}), i))
}

// TestTokensThatAWebhookKnows asks a server who sends a token.
func TestTokensThatAWebhookKnows_RBAC(t *testing.T) {
	harness.SkipExternal(t)
	t.Parallel()
	b := beside(t, "tokenwebhook")
	asked := make(chan string, 100)
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var review harness.Object
		_ = json.NewDecoder(r.Body).Decode(&review)
		spec, _ := json.Marshal(review["spec"])
		asked <- review.Str("apiVersion") + " " + string(spec)
		status := map[string]any{"authenticated": false}
		switch review.Str("spec.token") {
		case "known":
			status = map[string]any{"authenticated": true, "user": map[string]any{"username": "wanda", "uid": "7", "groups": []string{"g"}, "extra": map[string]any{"k": []string{"v"}}}}
		case "elsewhere":
			status = map[string]any{"authenticated": true, "user": map[string]any{"username": "wanda"}, "audiences": []string{"x"}}
		case "broken":
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		review["status"] = status
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(review)
	}))
	t.Cleanup(server.Close)
	for _, version := range []string{"v1", "v1beta1"} {
		s := b.start("--authentication-token-webhook-config-file", configFile(t, "kubeconfig", webhookKubeconfig(server)), "--authentication-token-webhook-version", version)
		for _, token := range []string{"known", "unknown", "elsewhere", "broken"} {
			b.same(t, version+" "+token, who(t, s, token)+" asked "+<-asked)
		}
		b.same(t, version+" known again", who(t, s, "known")+fmt.Sprint(" asked ", len(asked)))
	}
}

// webhookKubeconfig says where a server is.
func webhookKubeconfig(s *httptest.Server) string {
	ca := base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}))
	return fmt.Sprintf(`{apiVersion: v1, kind: Config, clusters: [{name: c, cluster: {server: %q, certificate-authority-data: %s}}], users: [{name: u, user: {}}], contexts: [{name: x, context: {cluster: c, user: u}}], current-context: x}`, s.URL, ca)
}
