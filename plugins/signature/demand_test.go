package signature

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// enveloped is a bundle of a statement of a type that a key signed.
func enveloped(t *testing.T, key PrivateKey, kind, statement string) Signature {
	t.Helper()
	e := envelope{PayloadType: kind, Payload: []byte(statement)}
	made, err := key.Sign(e.signed())
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(map[string]any{"dsseEnvelope": map[string]any{
		"payloadType": kind, "payload": e.Payload, "signatures": []any{map[string]any{"sig": made}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	return Signature{Bundle: string(text)}
}

// What a key states of a module counts as its signature if it vouches for it, and as
// provenance if that is of the type and by the builder that is demanded.
func TestWhatKeysState(t *testing.T) {
	key, digest := newKey(t), Digest(content)
	states := func(kind, predicate, of string) Signature {
		return enveloped(t, key, statementType, fmt.Sprintf(`{"_type":"https://in-toto.io/Statement/v1","subject":[{"digest":{"sha512":"x"}},{"digest":{"sha256":%q}}],"predicateType":%q,"predicate":%s}`,
			strings.TrimPrefix(of, "sha256:"), kind, predicate))
	}
	const newer, older = `{"runDetails":{"builder":{"id":"https://a.example/x/y"}}}`, `{"builder":{"id":"https://a.example/x/y"}}`
	by := func(kind string, builders ...string) *Provenance { return &Provenance{kind, builders} }
	plain, err := Sign(content, "", key)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name     string
		demanded *Provenance
		all      []Signature
		reason   Reason
	}{
		{"signed", nil, []Signature{states(signPredicate, "{}", digest)}, ""},
		{"SLSA", nil, []Signature{states(SLSA, newer, digest)}, ""},
		{"older SLSA", nil, []Signature{states(oldSLSA, older, digest)}, ""},
		{"something else", nil, []Signature{states("https://a.example/bad", "{}", digest)}, PayloadMalformed},
		{"of another", nil, []Signature{states(SLSA, newer, "sha256:00")}, OfOtherContent},
		{"another type of content", nil, []Signature{enveloped(t, key, "text/plain", "{}")}, PayloadMalformed},
		{"no statement", nil, []Signature{enveloped(t, key, statementType, "x")}, PayloadMalformed},
		{"another form", nil, []Signature{enveloped(t, key, statementType, `{"_type":"x"}`)}, PayloadMalformed},
		{"by another", nil, []Signature{enveloped(t, newKey(t), statementType, "{}")}, Untrusted},
		{"no bundle", nil, []Signature{{Bundle: "x"}}, BundleMalformed},
		{"too large", nil, []Signature{{Bundle: "{}" + strings.Repeat(" ", MaxBundle)}}, BundleMalformed},
		{"no envelope", nil, []Signature{{Bundle: "{}"}}, Untrusted},
		{"built", by("", "https://a.example/x/y"), []Signature{plain, states(SLSA, newer, digest)}, ""},
		{"built by one of those", by("", "https://b.example/*", "https://a.example/*"), []Signature{states(SLSA, newer, digest)}, ""},
		{"built, older", by(oldSLSA, "*"), []Signature{states(oldSLSA, older, digest)}, ""},
		{"only signed", by("", "*"), []Signature{plain}, NoProvenance},
		{"only stated to be signed", by("", "*"), []Signature{states(signPredicate, newer, digest)}, NoProvenance},
		{"another type", by(oldSLSA, "*"), []Signature{states(SLSA, newer, digest)}, NoProvenance},
		{"built by another", by("", "https://a.example/x"), []Signature{states(SLSA, newer, digest)}, OtherProvenance},
		{"a dot is a dot", by("", "https://a.exampleX*"), []Signature{states(SLSA, newer, digest)}, OtherProvenance},
		{"built by nobody", by("", "*"), []Signature{states(SLSA, "{}", digest)}, OtherProvenance},
		{"built, of another", by("", "*"), []Signature{states(SLSA, newer, "sha256:00")}, OfOtherContent},
	} {
		who, err := Demand{Digest: digest, Provenance: c.demanded}.Met(c.all, key.Public())
		var e *Error
		if c.reason == "" && (err != nil || who.Key != key.Public().ID()) || c.reason != "" && (!errors.As(err, &e) || e.Reason != c.reason || e.Detail == "") {
			t.Errorf("%s: %v, %v", c.name, who, err)
		}
	}
	old := states(SLSA, newer, digest)
	old.Bundle = strings.Replace(old.Bundle, base64.StdEncoding.EncodeToString([]byte(`{"_type"`))[:8], "AAAAAAAA", 1)
	if _, err := (Demand{Digest: digest}).Met([]Signature{old}, key.Public()); !errors.As(err, new(*Error)) || !strings.HasPrefix(err.Error(), string(Untrusted)) {
		t.Errorf("an envelope that was altered: %v", err)
	}
	two := states(SLSA, newer, digest)
	two.Bundle = strings.Replace(two.Bundle, `}]`, `},{"sig":"AAAA"}]`, 1)
	if _, err := (Demand{Digest: digest}).Met([]Signature{two}, key.Public()); err == nil {
		t.Error("an envelope with two signatures")
	}
}

// A module carries a few bundles, none of which is large.
func TestBundlesHaveBounds(t *testing.T) {
	of := func(n, size int) []Signature {
		return slices.Repeat([]Signature{{Bundle: strings.Repeat(" ", size)}}, n)
	}
	for _, c := range []struct {
		all  []Signature
		good bool
	}{{of(1, MaxBundle), true}, {of(1, MaxBundle+1), false}, {of(MaxBundles, 9), true}, {of(MaxBundles+1, 9), false}} {
		if _, err := Join(content, c.all); (err == nil) != c.good {
			t.Errorf("%d of %d bytes: %v", len(c.all), len(c.all[0].Bundle), err)
		}
		section, err := json.Marshal(c.all)
		if err != nil {
			t.Fatal(err)
		}
		if all, err := read(section); (err == nil) != c.good || c.good != (len(all) > 0) {
			t.Errorf("%d of %d bytes: %v", len(c.all), len(c.all[0].Bundle), err)
		}
	}
}
