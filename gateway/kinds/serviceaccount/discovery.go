package serviceaccount

import (
	"encoding/json"
	"net/url"
	"slices"

	"github.com/go-jose/go-jose/v4"
)

// The paths at which others find the keys that verify tokens.
const (
	// ConfigurationPath is that of OpenID Connect Discovery 1.0, section 4.
	ConfigurationPath = "/.well-known/openid-configuration"
	// KeySetPath is where kube-apiserver has its keys.
	KeySetPath = "/openid/v1/jwks"
)

// KeySet is the JSON Web Key Set (RFC 7517, section 5) of all keys that verify
// tokens, the one that signs first.
func (t *Tokens) KeySet() ([]byte, error) {
	var set jose.JSONWebKeySet
	for _, v := range t.verifiers() {
		set.Keys = append(set.Keys, jose.JSONWebKey{Key: v.public, KeyID: v.id, Algorithm: v.method.Alg(), Use: "sig"})
	}
	return json.Marshal(set)
}

// Configuration is what OpenID Connect Discovery 1.0, section 3, asks of an issuer,
// for whom to believe tokens is to read keys at keySet. ok is false where the issuer is
// no URL at which it could be asked for.
func (t *Tokens) Configuration(keySet string) (text []byte, ok bool, err error) {
	issuer, err := url.Parse(t.Issuers[0])
	if err != nil || issuer.Scheme != "https" || issuer.Host == "" || issuer.RawQuery != "" || issuer.Fragment != "" {
		return nil, false, nil
	}
	said := struct {
		Issuer     string   `json:"issuer"`
		KeySet     string   `json:"jwks_uri"`
		Responses  []string `json:"response_types_supported"`
		Subjects   []string `json:"subject_types_supported"`
		Algorithms []string `json:"id_token_signing_alg_values_supported"`
	}{t.Issuers[0], keySet, []string{"id_token"}, []string{"public"}, nil}
	for _, v := range t.verifiers() {
		said.Algorithms = append(said.Algorithms, v.method.Alg())
	}
	slices.Sort(said.Algorithms)
	said.Algorithms = slices.Compact(said.Algorithms)
	text, err = json.Marshal(said)
	return text, err == nil, err
}

// verifiers are the keys that verify, each once.
func (t *Tokens) verifiers() []Verifier {
	out := []Verifier{t.Key.Verifier}
	for _, v := range t.Verifiers {
		if !slices.ContainsFunc(out, func(o Verifier) bool { return o.id == v.id }) {
			out = append(out, v)
		}
	}
	return out
}
