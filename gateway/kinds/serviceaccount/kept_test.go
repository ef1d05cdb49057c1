package serviceaccount

import (
	"context"
	"encoding/base64"
	"reflect"
	"strings"
	"testing"

	"github.com/golang-jwt/jwt/v5"

	"github.com/wasmgate/wasmgate/gateway/authn"
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
