package harness

import (
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"encoding/pem"
	"maps"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/golang-jwt/jwt/v5"
)

// Issuer is an issuer of tokens in the test process, which tells its keys over HTTPS as
// OpenID Connect says.
type Issuer struct {
	// URL is what its tokens say signed them.
	URL string
	// CA is the PEM certificate of its authority.
	CA []byte

	key    *rsa.PrivateKey
	broken atomic.Bool
}

// NewIssuer starts an issuer; it is stopped when the test ends.
func NewIssuer(t testing.TB) *Issuer {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	i := &Issuer{key: key}
	server := httptest.NewTLSServer(i)
	t.Cleanup(server.Close)
	i.URL = server.URL
	i.CA = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	return i
}

// Break makes it answer nobody any more, or again.
func (i *Issuer) Break(broken bool) { i.broken.Store(broken) }

// ServeHTTP tells the keys and where they are. What is below /elsewhere is for those
// that have another URL of discovery.
func (i *Issuer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	switch {
	case i.broken.Load():
		w.WriteHeader(http.StatusInternalServerError)
	case r.URL.Path == "/keys":
		_ = json.NewEncoder(w).Encode(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: &i.key.PublicKey, KeyID: "1", Algorithm: "RS256", Use: "sig"}}})
	case r.URL.Path == "/.well-known/openid-configuration", r.URL.Path == "/elsewhere":
		_ = json.NewEncoder(w).Encode(map[string]string{"issuer": i.URL, "jwks_uri": i.URL + "/keys"})
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}

// Token is a token for an hour, for the audience "gate", with more claims, which may
// replace these.
func (i *Issuer) Token(t testing.TB, claims map[string]any) string {
	t.Helper()
	all := jwt.MapClaims{"iss": i.URL, "aud": "gate", "exp": time.Now().Add(time.Hour).Unix()}
	maps.Copy(all, claims)
	token := jwt.NewWithClaims(jwt.SigningMethodRS256, all)
	token.Header["kid"] = "1"
	text, err := token.SignedString(i.key)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
