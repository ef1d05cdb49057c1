package serviceaccount

import (
	"errors"
	"strings"

	"github.com/golang-jwt/jwt/v5"
)

// claims are what a token says; they have the names that kube-apiserver gives
// them.
type claims struct {
	jwt.RegisteredClaims
	About about `json:"kubernetes.io"`
	// kept is said instead by tokens that are kept in Secrets.
	kept
}

// about is whose the token is, and what it is bound to.
type about struct {
	Namespace string     `json:"namespace"`
	Node      *reference `json:"node,omitempty"`
	Pod       *reference `json:"pod,omitempty"`
	Secret    *reference `json:"secret,omitempty"`
	Account   reference  `json:"serviceaccount"`
}

type reference struct {
	Name string `json:"name"`
	UID  string `json:"uid"`
}

var (
	errForm      = errors.New("it has not the form of a token")
	errSignature = errors.New("the token is not signed by the key of this server")
)

// keyID is the name of the key in the head of a token.
const keyID = "kid"

// write signs claims. The head has what kube-apiserver writes, and no more.
func (k *Key) write(c claims) (string, error) {
	token := jwt.Token{Method: k.method, Header: map[string]any{"alg": k.method.Alg(), keyID: k.id}, Claims: c}
	return token.SignedString(k.private)
}

// maybe tells whether a credential has the form of a token.
func maybe(token string) bool { return strings.Count(token, ".") == 2 }

// read verifies the signature of a token, and returns what it says. What it says
// is not judged. The key decides about the algorithm, not the token.
func (k *Key) read(token string) (claims, error) {
	parser := jwt.NewParser(jwt.WithValidMethods([]string{k.method.Alg()}), jwt.WithStrictDecoding(), jwt.WithoutClaimsValidation())
	var c claims
	_, err := parser.ParseWithClaims(token, &c, k.named)
	switch {
	case errors.Is(err, jwt.ErrTokenMalformed):
		return claims{}, errForm
	case err != nil:
		return claims{}, errSignature
	}
	return c, nil
}

// named is the key for a token that names it.
func (k *Key) named(token *jwt.Token) (any, error) {
	if token.Header[keyID] != k.id {
		return nil, errSignature
	}
	return k.private.Public(), nil
}
