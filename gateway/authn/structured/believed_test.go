package structured

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/golang-jwt/jwt/v5"
	authenticationv1 "k8s.io/api/authentication/v1"

	"github.com/wasmgate/wasmgate/gateway/authn"
)

// issuer issues tokens, and tells its keys over HTTPS unless it is silent.
type issuer struct {
	*httptest.Server
	key *rsa.PrivateKey
}

func newIssuer(t *testing.T, silent bool) *issuer {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	i := &issuer{key: key}
	i.Server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var say any = jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: &key.PublicKey, KeyID: "1", Algorithm: "RS256", Use: "sig"}}}
		switch {
		case silent:
			w.WriteHeader(http.StatusInternalServerError)
			return
		case r.URL.Path != "/keys":
			say = map[string]string{"issuer": i.URL, "jwks_uri": i.URL + "/keys"}
		}
		w.Header().Set("Content-Type", "application/json")
		if err := json.NewEncoder(w).Encode(say); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(i.Close)
	return i
}

// said is what a file says of it, without its authority if that is not to be believed.
func (i *issuer) said(trusted bool) string {
	authority := ""
	if trusted {
		authority = fmt.Sprintf(", certificateAuthority: %q", pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: i.Certificate().Raw}))
	}
	return fmt.Sprintf("{issuer: {url: %q, audiences: [gate]%s}, claimMappings: {username: {claim: sub, prefix: 'of:'}, groups: {claim: groups, prefix: ''}}}", i.URL, authority)
}

func (i *issuer) token(t *testing.T, audience string) string {
	t.Helper()
	token := jwt.NewWithClaims(jwt.SigningMethodRS256, jwt.MapClaims{"iss": i.URL, "aud": audience, "sub": "ann", "groups": []string{"g"}, "exp": time.Now().Add(time.Hour).Unix()})
	token.Header["kid"] = "1"
	text, err := token.SignedString(i.key)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func saved(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// started is an authenticator whose issuers have told their keys, if they will.
func started(t *testing.T, c Config, healthy bool) *Authenticator {
	t.Helper()
	c.Audiences = []string{"https://gateway.example"}
	a, err := New(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.Close)
	for end := time.Now().Add(20 * time.Second); healthy && a.issuers.Load().healthy() != nil; {
		if time.Now().After(end) {
			t.Fatal(a.issuers.Load().healthy())
		}
		<-time.After(5 * time.Millisecond)
	}
	return a
}

// believes tells as whom a token is believed.
func believes(t *testing.T, a *Authenticator, token string) string {
	t.Helper()
	u, ok, err := a.Authenticate(t.Context(), authn.Request{BearerToken: token})
	switch {
	case ok != (u != nil) || err != nil && ok:
		t.Errorf("%v, %t, %v", u, ok, err)
	case err != nil:
		return "an error"
	case !ok:
		return "nobody"
	}
	return u.Name + " of " + strings.Join(u.Groups, " ")
}

// A token of an issuer that the file names counts, for its audience; when the file
// changes so does who is believed, once the new issuers have told their keys.
func TestTokensOfIssuers(t *testing.T) {
	first, second, silent := newIssuer(t, false), newIssuer(t, false), newIssuer(t, true)
	a := started(t, Config{Path: saved(t, head+"jwt: ["+first.said(true)+"]")}, true)
	const ann = "of:ann of g system:authenticated"
	expect := func(what, token, want string) {
		t.Helper()
		if got := believes(t, a, token); got != want {
			t.Errorf("%s: %s, want %s", what, got, want)
		}
	}
	expect("the first issuer's", first.token(t, "gate"), ann)
	expect("for somebody else", first.token(t, "other"), "an error")
	expect("of another issuer", second.token(t, "gate"), "nobody")
	expect("no JWT", "abc", "nobody")
	expect("none", "", "nobody")
	ctx, end := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer end()
	for name, text := range map[string]string{"silent": silent.said(true), "not to be trusted": second.said(false)} {
		if err := a.use(ctx, []byte(head+"jwt: ["+text+"]")); !errors.Is(err, authn.ErrLater) {
			t.Errorf("an issuer that is %s: %v", name, err)
		}
	}
	expect("the first issuer's still", first.token(t, "gate"), ann)
	if err := a.use(t.Context(), []byte(head+"jwt: ["+second.said(true)+"]")); err != nil {
		t.Fatal(err)
	}
	expect("the second issuer's", second.token(t, "gate"), ann)
}

// Which issuers are late is told once, and once that none is any more; without a file
// nothing else is.
func TestLateIssuersAreTold(t *testing.T) {
	silent := newIssuer(t, true)
	c, err := decode([]byte(head + "jwt: [" + silent.said(true) + "]"))
	if err != nil {
		t.Fatal(err)
	}
	a := started(t, Config{Flags: c}, false)
	late, ended := make(chan error), make(chan struct{})
	ctx, end := context.WithCancel(t.Context())
	go func() {
		a.Run(ctx, func(err error) { t.Error(err) }, func(err error) {
			select {
			case late <- err:
			case <-ctx.Done():
			}
		})
		close(ended)
	}()
	if err := <-late; err == nil {
		t.Error("nobody is late")
	}
	if err := a.use(ctx, []byte(head)); err != nil {
		t.Fatal(err)
	}
	if err := <-late; err != nil {
		t.Error(err)
	}
	select {
	case err := <-late:
		t.Errorf("it is told again: %v", err)
	case <-ended:
		t.Error("it does not run")
	case <-time.After(1200 * time.Millisecond): // more than one look
	}
	end()
	<-ended
}

// Tokens that a webhook knows count, and are remembered; nobody else is believed.
func TestTokensOfAWebhook(t *testing.T) {
	var asked atomic.Int32
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		var review authenticationv1.TokenReview
		if err := json.NewDecoder(r.Body).Decode(&review); err != nil || !slices.Equal(review.Spec.Audiences, []string{"https://gateway.example"}) {
			t.Error(err, review.Spec.Audiences)
		}
		if review.Status.Authenticated = review.Spec.Token == "good"; review.Status.Authenticated {
			review.Status.User = authenticationv1.UserInfo{Username: "bob", Groups: []string{"h"}}
			review.Status.Audiences = review.Spec.Audiences
		}
		w.Header().Set("Content-Type", "application/json")
		if err := json.NewEncoder(w).Encode(review); err != nil {
			t.Error(err)
		}
	}))
	defer s.Close()
	kubeconfig := saved(t, `{"apiVersion":"v1","kind":"Config","clusters":[{"name":"c","cluster":{"server":"`+s.URL+`"}}],"contexts":[{"name":"c","context":{"cluster":"c"}}],"current-context":"c"}`)
	a := started(t, Config{Webhook: Webhook{Path: kubeconfig, Version: "v1", CacheTTL: time.Hour}}, true)
	for i, c := range []struct {
		token, want string
		asked       int32
	}{{"good", "bob of h system:authenticated", 1}, {"good", "bob of h system:authenticated", 1}, {"bad", "nobody", 2}, {"bad", "nobody", 2}, {"", "nobody", 2}} {
		if got := believes(t, a, c.token); got != c.want || asked.Load() != c.asked {
			t.Errorf("%d: %s, asked %d times", i, got, asked.Load())
		}
	}
	if a.Anonymous() != nil {
		t.Error("without a file something is said of who shows nothing")
	}
	none := started(t, Config{}, true)
	if got := believes(t, none, "good"); got != "nobody" {
		t.Error(got)
	}
	for _, w := range []Webhook{{Path: kubeconfig + "-gone", Version: "v1"}, {Path: kubeconfig, Version: "v7"}} {
		if _, err := New(t.Context(), Config{Webhook: w}); err == nil || !strings.HasPrefix(err.Error(), "--authentication-token-webhook-config-file: ") {
			t.Errorf("%+v: %v", w, err)
		}
	}
}

// A file that is changed is used, and one that cannot be is told.
func TestFileIsFollowed(t *testing.T) {
	path := saved(t, head)
	synctest.Test(t, func(t *testing.T) {
		a := started(t, Config{Path: path}, true)
		first := a.issuers.Load()
		told := make(chan error, 10)
		if err := os.WriteFile(path, []byte(head+"jwt: []\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		go a.Run(t.Context(), func(err error) { told <- err }, func(err error) { t.Error(err) })
		if err := <-told; err != nil || a.issuers.Load() == first {
			t.Error(err)
		}
		if err := os.WriteFile(path, []byte(head+"odd: 1\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := <-told; err == nil || !strings.Contains(err.Error(), `unknown field "odd"`) {
			t.Error(err)
		}
	})
}
