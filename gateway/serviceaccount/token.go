package serviceaccount

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"
)

// claims are what a token says; they have the names that kube-apiserver gives
// them.
type claims struct {
	Audiences []string `json:"aud"`
	Expires   int64    `json:"exp"`
	Issued    int64    `json:"iat"`
	Issuer    string   `json:"iss"`
	ID        string   `json:"jti"`
	About     about    `json:"kubernetes.io"`
	NotBefore int64    `json:"nbf"`
	Subject   string   `json:"sub"`
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

type header struct {
	Algorithm string `json:"alg"`
	Key       string `json:"kid"`
}

var (
	errForm      = errors.New("it has not the form of a token")
	errSignature = errors.New("the token is not signed by the key of this server")
)

var base64url = base64.RawURLEncoding.Strict()

// write signs claims.
func (k *Key) write(c claims) (string, error) {
	head, err := json.Marshal(header{k.alg, k.id})
	if err != nil {
		return "", err
	}
	body, err := json.Marshal(c)
	if err != nil {
		return "", err
	}
	text := base64url.EncodeToString(head) + "." + base64url.EncodeToString(body)
	signature, err := k.sign(text)
	if err != nil {
		return "", err
	}
	return text + "." + base64url.EncodeToString(signature), nil
}

// maybe tells whether a credential has the form of a token.
func maybe(token string) bool { return strings.Count(token, ".") == 2 }

// read verifies the signature of a token, and returns what it says. What it says
// is not judged. The key decides about the algorithm, not the token.
func (k *Key) read(token string) (c claims, err error) {
	if !maybe(token) {
		return c, errForm
	}
	end := strings.LastIndexByte(token, '.')
	text := token[:end]
	head, body, _ := strings.Cut(text, ".")
	var h header
	if err := decode(head, &h); err != nil {
		return c, err
	}
	signature, err := base64url.DecodeString(token[end+1:])
	if err != nil || h.Algorithm != k.alg || h.Key != k.id || !k.signed(text, signature) {
		return c, errSignature
	}
	return c, decode(body, &c)
}

func decode(part string, into any) error {
	data, err := base64url.DecodeString(part)
	if err != nil || json.Unmarshal(data, into) != nil {
		return errForm
	}
	return nil
}
