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
	// WarnAfter is when its holder should have asked for another one.
	WarnAfter *jwt.NumericDate `json:"warnafter,omitempty"`
}

type reference struct {
	Name string `json:"name"`
	UID  string `json:"uid,omitempty"`
}

var (
	errForm      = errors.New("it has not the form of a token")
	errSignature = errors.New("the token is not signed by a key of this server")
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
// is not judged.
func (t *Tokens) read(token string) (claims, error) {
	parser := jwt.NewParser(jwt.WithStrictDecoding(), jwt.WithoutClaimsValidation())
	var c claims
	_, err := parser.ParseWithClaims(token, &c, t.named)
	switch {
	case errors.Is(err, jwt.ErrTokenMalformed):
		return claims{}, errForm
	case err != nil:
		return claims{}, errSignature
	}
	return c, nil
}

// named are the keys that may have signed a token: the one that it names, or all.
// The keys decide about the algorithm, not the token.
func (t *Tokens) named(token *jwt.Token) (any, error) {
	var id string
	if said, ok := token.Header[keyID]; ok {
		if id, ok = said.(string); !ok {
			return nil, errSignature
		}
	}
	var set jwt.VerificationKeySet
	add := func(v *Verifier) {
		if (id == "" || id == v.id) && v.method.Alg() == token.Method.Alg() {
			set.Keys = append(set.Keys, v.public)
		}
	}
	add(&t.Key.Verifier)
	for i := range t.Verifiers {
		add(&t.Verifiers[i])
	}
	if len(set.Keys) == 0 {
		return nil, errSignature
	}
	return set, nil
}
