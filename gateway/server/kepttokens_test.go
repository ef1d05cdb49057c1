package server

import (
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// keptToken is a token of an account as kube-controller-manager keeps it in the Secret
// "kept", signed with the key in a file.
func keptToken(t *testing.T, file, account, uid string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	block, _ := pem.Decode(text)
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	const of = "kubernetes.io/serviceaccount/"
	claims, err := json.Marshal(map[string]string{
		"iss": "kubernetes/serviceaccount", "sub": "system:serviceaccount:default:" + account, of + "namespace": "default",
		of + "secret.name": "kept", of + "service-account.name": account, of + "service-account.uid": uid,
	})
	if err != nil {
		t.Fatal(err)
	}
	token := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"ES256"}`)) + "." + base64.RawURLEncoding.EncodeToString(claims)
	sum := sha256.Sum256([]byte(token))
	r, s, err := ecdsa.Sign(rand.Reader, key.(*ecdsa.PrivateKey), sum[:])
	if err != nil {
		t.Fatal(err)
	}
	return token + "." + base64.RawURLEncoding.EncodeToString(append(r.FillBytes(make([]byte, 32)), s.FillBytes(make([]byte, 32))...))
}

// label waits in a watch for an object with a label, and returns its value.
func (i *instance) label(watch, name string) string {
	i.t.Helper()
	req, err := http.NewRequest("GET", i.url+watch+name, nil)
	if err != nil {
		i.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+i.token)
	resp, err := i.http.Do(req)
	if err != nil {
		i.t.Fatal(err)
	}
	defer resp.Body.Close()
	var event struct {
		Object struct {
			Metadata struct{ Labels map[string]string }
		}
	}
	if err := json.NewDecoder(resp.Body).Decode(&event); err != nil {
		i.t.Fatal(err)
	}
	return event.Object.Metadata.Labels[name]
}

// Of a token that is kept in a Secret it is noted there that it was used, and since when
// that is noted; who declares it invalid refuses it.
func TestRun_UsesOfKeptTokensAreNoted(t *testing.T) {
	o := servingIn(filepath.Join(t.TempDir(), "data"))
	g := start(t, o)
	g.accountToken() // so there is the account
	var account struct{ Metadata struct{ UID string } }
	if err := json.Unmarshal([]byte(g.do("GET", "/api/v1/namespaces/default/serviceaccounts/robot", "").body), &account); err != nil {
		t.Fatal(err)
	}
	token := keptToken(t, filepath.Join(o.DataDir, "pki", "sa.key"), "robot", account.Metadata.UID)
	const secrets = "/api/v1/namespaces/default/secrets"
	made := g.do("POST", secrets, fmt.Sprintf(`{"apiVersion":"v1","kind":"Secret","metadata":{"name":"kept","annotations":{"kubernetes.io/service-account.name":"robot"}},
		"type":"kubernetes.io/service-account-token","data":{"token":%q}}`, base64.StdEncoding.EncodeToString([]byte(token))))
	if made.code != 201 {
		t.Fatalf("%d %s", made.code, made.body)
	}
	if !g.counts(token) {
		t.Fatal("the token does not count")
	}
	if on, today := g.label(secrets+"?watch=true&timeoutSeconds=20&fieldSelector=metadata.name=kept&labelSelector=", "kubernetes.io/legacy-token-last-used"), time.Now().UTC().Format(time.DateOnly); on != today {
		t.Errorf("used on %q, today is %s", on, today)
	}
	if got := g.do("PATCH", secrets+"/kept", `{"metadata":{"labels":{"kubernetes.io/legacy-token-invalid-since":"2026-01-01"}}}`, "Content-Type: application/merge-patch+json"); got.code != 200 {
		t.Fatalf("%d %s", got.code, got.body)
	}
	g.do("GET", secrets+"/kept", "") // since when the cache has it
	if g.counts(token) {
		t.Error("a token counts that was declared invalid")
	}
	if err := g.end(); err != nil {
		t.Fatal(err)
	}
}
