package serviceaccount

import (
	"context"
	"encoding/base64"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/rs/zerolog"

	"github.com/wasmgate/wasmgate/gateway/authn"
	"github.com/wasmgate/wasmgate/gateway/metrics"
)

// signed is a token as kube-controller-manager writes it, with changes.
func signed(t *testing.T, k *Key, changes jwt.MapClaims) string {
	t.Helper()
	says := jwt.MapClaims{
		"iss": "kubernetes/serviceaccount", "sub": "system:serviceaccount:default:robot",
		"kubernetes.io/serviceaccount/namespace": "default", "kubernetes.io/serviceaccount/secret.name": "s",
		"kubernetes.io/serviceaccount/service-account.name": "robot", "kubernetes.io/serviceaccount/service-account.uid": "u1",
	}
	for name, value := range changes {
		if says[name] = value; value == nil {
			delete(says, name)
		}
	}
	token := jwt.Token{Method: k.method, Header: map[string]any{"alg": k.method.Alg(), "kid": k.id}, Claims: says}
	out, err := token.SignedString(k.private)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// keep puts a token into the secret "s".
func keep(tokens *Tokens, token, metadata string) {
	tokens.Objects.(stored)["secrets s"] = "{metadata: {uid: u4" + metadata + "}, type: kubernetes.io/service-account-token, data: {token: " + base64.StdEncoding.EncodeToString([]byte(token)) + "}}"
}

// A token in a Secret counts as long as it is there, though it says neither for
// whom it is meant nor when it ends.
func TestTokensInSecretsAreBelieved(t *testing.T) {
	for name, k := range map[string]*Key{"ES256": ecKey(t), "RS256": rsaKey(t)} {
		tokens, _ := newTokens(t, k)
		token := signed(t, k, nil)
		keep(tokens, token, "")
		u, ok, err := tokens.Authenticate(context.Background(), authn.Request{BearerToken: token})
		want := &authn.User{Name: "system:serviceaccount:default:robot", UID: "u1", Groups: []string{"system:serviceaccounts", "system:serviceaccounts:default", "system:authenticated"}}
		if !ok || err != nil || !reflect.DeepEqual(u, want) {
			t.Errorf("%s: %+v %v %v", name, u, ok, err)
		}
		for audience, believed := range map[string]bool{"api": true, "vault": false} { // it names nobody, so it is for the API
			if _, ok, _ := tokens.Authenticate(context.Background(), authn.Request{BearerToken: token, Audiences: []string{audience}, ForAPI: audience == "api"}); ok != believed {
				t.Errorf("%s for %s: %t", name, audience, ok)
			}
		}
	}
}

func TestTokensInSecretsThatAreNotBelieved(t *testing.T) {
	k := ecKey(t)
	const of = "kubernetes.io/serviceaccount/"
	for name, c := range map[string]struct {
		says   jwt.MapClaims
		change func(tokens *Tokens, token string)
		why    string
	}{
		"no secret":      {nil, func(t2 *Tokens, _ string) { delete(t2.Objects.(stored), "secrets s") }, "secret that it was kept in is gone"},
		"another token":  {nil, func(t2 *Tokens, token string) { keep(t2, token+"x", "") }, "holds another"},
		"no token":       {nil, func(t2 *Tokens, _ string) { t2.Objects.(stored)["secrets s"] = "metadata: {uid: u4}" }, "holds another"},
		"secret deleted": {nil, func(t2 *Tokens, token string) { keep(t2, token, `, deletionTimestamp: "2026-11-22T12:00:00Z"`) }, "is gone"},
		"declared invalid": {nil, func(t2 *Tokens, token string) {
			keep(t2, token, `, labels: {kubernetes.io/legacy-token-invalid-since: "2026-11-22"}`)
		}, "legacy-token-invalid-since"},
		"no account":      {nil, func(t2 *Tokens, _ string) { delete(t2.Objects.(stored), "serviceaccounts robot") }, "account that it is for is gone"},
		"account anew":    {nil, func(t2 *Tokens, _ string) { t2.Objects.(stored)["serviceaccounts robot"] = "metadata: {uid: u9}" }, "account that it is for is gone"},
		"another key":     {nil, func(t2 *Tokens, _ string) { t2.Key = ecKey(t) }, "not signed by a key"},
		"another subject": {jwt.MapClaims{"sub": "system:serviceaccount:kube-system:robot"}, nil, "its subject is not the account"},
		"no namespace":    {jwt.MapClaims{of + "namespace": nil}, nil, "does not say in which secret"},
		"for others":      {jwt.MapClaims{"aud": "somebody"}, nil, "another audience"},
		"no name":         {jwt.MapClaims{of + "secret.name": nil}, nil, "another issuer"},
		"no uid":          {jwt.MapClaims{of + "service-account.uid": nil}, nil, "does not say in which secret"},
		"another issuer":  {jwt.MapClaims{"iss": "somebody"}, nil, "another issuer"},
		"issuer alone":    {jwt.MapClaims{"iss": "https://issuer"}, nil, "another audience"},
	} {
		tokens, _ := newTokens(t, k)
		token := signed(t, k, c.says)
		keep(tokens, token, "")
		if c.change != nil {
			c.change(tokens, token)
		}
		u, ok, err := tokens.Authenticate(context.Background(), authn.Request{BearerToken: token})
		if ok || u != nil || err == nil || !strings.Contains(err.Error(), c.why) {
			t.Errorf("%s: %v %v, want %s", name, ok, err, c.why)
		}
	}
}

// told are what a token says beside whom it shows.
type told struct {
	annotations map[string]string
	warned      []string
}

func (n *told) Annotate(key, value string) { n.annotations[key] = value }

func (n *told) Warn(text string) { n.warned = append(n.warned, text) }

// What is said of a token: to auditors, to the client, in metrics, and on its Secret.
func TestWhatIsToldOfTokensInSecrets(t *testing.T) {
	const key = "authentication.k8s.io/legacy-token"
	subject := "system:serviceaccount:default:robot"
	k := ecKey(t)
	for name, c := range map[string]struct {
		change      func(*Tokens, string)
		annotations map[string]string
		warned      []string
		metrics     string
		noted       int
	}{
		"made by somebody": {nil, map[string]string{key: subject, key + "-manual-secret": "s"}, nil, "1 1 0 0", 1},
		"made for the account": {func(t2 *Tokens, _ string) {
			t2.Objects.(stored)["serviceaccounts robot"] = "{metadata: {uid: u1}, secrets: [{name: r}, {name: s}]}"
		}, map[string]string{key: subject, key + "-autogenerated-secret": "s"}, []string{generated}, "1 0 1 0", 1},
		"declared invalid": {func(t2 *Tokens, token string) { keep(t2, token, `, labels: {`+invalidSince+`: "2026-11-22"}`) },
			map[string]string{key: subject, key + "-invalidated": "s/default"}, nil, "1 0 0 1", 1},
		"used today": {func(t2 *Tokens, token string) { keep(t2, token, `, labels: {`+lastUsed+`: "2026-11-22"}`) },
			map[string]string{key: subject, key + "-manual-secret": "s"}, nil, "1 1 0 0", 0},
		"not believed": {func(t2 *Tokens, _ string) { delete(t2.Objects.(stored), "serviceaccounts robot") }, map[string]string{key: subject}, nil, "1 0 0 0", 0},
	} {
		tokens, now := newTokens(t, k)
		m := metrics.New()
		tokens.Counts, tokens.Uses = m.Tokens, NewUses(nil, m.Tokens, zerolog.Nop())
		tokens.Uses.now = func() time.Time { return *now }
		token := signed(t, k, nil)
		keep(tokens, token, "")
		if c.change != nil {
			c.change(tokens, token)
		}
		said := &told{annotations: map[string]string{}}
		_, _, _ = tokens.Authenticate(t.Context(), authn.Request{BearerToken: token, Notes: said})
		if !reflect.DeepEqual(said.annotations, c.annotations) || !reflect.DeepEqual(said.warned, c.warned) || len(tokens.Uses.queue) != c.noted {
			t.Errorf("%s: annotated %v, warned %q, noted %d", name, said.annotations, said.warned, len(tokens.Uses.queue))
		}
		var counted []string
		for _, metric := range []string{"legacy_tokens_total", "legacy_manual_token_uses_total", "legacy_auto_token_uses_total", "invalid_legacy_auto_token_uses_total"} {
			counted = append(counted, rendered(t, m, "serviceaccount_"+metric))
		}
		if got := strings.Join(counted, " "); got != c.metrics {
			t.Errorf("%s: counted %s, want %s", name, got, c.metrics)
		}
	}
}

// Of tokens that should have been replaced it is told for how long.
func TestWhatIsToldOfStaleTokens(t *testing.T) {
	tokens, now := newTokens(t, ecKey(t))
	m := metrics.New()
	tokens.Counts = m.Tokens
	says := claims{About: about{Namespace: "default", Account: reference{Name: "robot", UID: "u1"}, WarnAfter: jwt.NewNumericDate(began)}}
	says.Issuer, says.Subject, says.Audience, says.ExpiresAt = "https://issuer", "system:serviceaccount:default:robot", jwt.ClaimStrings{"https://issuer"}, jwt.NewNumericDate(began.Add(time.Hour))
	token, err := tokens.Key.write(says)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		after        time.Duration
		said         map[string]string
		stale, valid string
	}{
		{0, map[string]string{}, "0", "1"},
		{90 * time.Second, map[string]string{"authentication.k8s.io/stale-token": "subject: system:serviceaccount:default:robot, seconds after warning threshold: 90"}, "1", "1"},
		{2 * time.Hour, map[string]string{}, "1", "1"}, // it has expired
	} {
		*now = began.Add(c.after)
		said := &told{annotations: map[string]string{}}
		_, _, _ = tokens.Authenticate(t.Context(), authn.Request{BearerToken: token, Notes: said})
		stale, valid := rendered(t, m, "serviceaccount_stale_tokens_total"), rendered(t, m, "serviceaccount_valid_tokens_total")
		if !reflect.DeepEqual(said.annotations, c.said) || stale != c.stale || valid != c.valid {
			t.Errorf("after %v: %v, %s stale and %s valid", c.after, said.annotations, stale, valid)
		}
	}
}
