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

// Each statement that is demanded has to be there, of the module and as the condition wants
// it, whatever else is; a signature alone is none, and beside them none is needed.
func TestWhatElseKeysState(t *testing.T) {
	key, digest := newKey(t), Digest(content)
	const scan, bom = "https://a.example/scan", "https://a.example/bom"
	by := func(key PrivateKey, kind, predicate, of string) Signature {
		return enveloped(t, key, statementType, fmt.Sprintf(`{"_type":"https://in-toto.io/Statement/v1","subject":[{"digest":{"sha256":%q}}],"predicateType":%q,"predicate":%s}`,
			strings.TrimPrefix(of, "sha256:"), kind, predicate))
	}
	states := func(kind, predicate string) Signature { return by(key, kind, predicate, digest) }
	plain, err := Sign(content, "", key)
	if err != nil {
		t.Fatal(err)
	}
	good := Stated{scan, func(predicate []byte) (bool, error) {
		if string(predicate) == "{}" {
			return false, errors.New("nothing was found")
		}
		return string(predicate) == `{"bad":0}`, nil
	}}
	clean, dirty := states(scan, `{"bad":0}`), states(scan, `{"bad":1}`)
	built := &Provenance{"", []string{"*"}}
	for _, c := range []struct {
		name     string
		demanded []Stated
		built    *Provenance
		all      []Signature
		want     string
	}{
		{"stated", []Stated{{scan, nil}}, nil, []Signature{dirty}, ""},
		{"as the condition wants it", []Stated{good}, nil, []Signature{clean}, ""},
		{"one of two", []Stated{good}, nil, []Signature{dirty, clean}, ""},
		{"not as the condition wants it", []Stated{good}, nil, []Signature{dirty}, `StatementMismatch: a "` + scan + `" that is stated of it does not meet`},
		{"nor beside another", []Stated{good}, nil, []Signature{dirty, plain, states(bom, "{}")}, "StatementMismatch: "},
		{"what the condition cannot read", []Stated{good}, nil, []Signature{states(scan, "{}")}, "StatementMismatch: whether a"},
		{"signed", []Stated{{scan, nil}}, nil, []Signature{plain}, `StatementMissing: it is signed, but nobody who is trusted states a "` + scan},
		{"another type", []Stated{{scan, nil}}, nil, []Signature{states(bom, "{}")}, `StatementMissing: what is stated of it is a "` + bom + `", not a "` + scan},
		{"of another", []Stated{{scan, nil}}, nil, []Signature{by(key, scan, "{}", "sha256:00")}, "SignatureOfOtherContent: "},
		{"by another", []Stated{{scan, nil}}, nil, []Signature{by(newKey(t), scan, "{}", digest)}, "SignatureUntrusted: "},
		{"nothing", []Stated{{scan, nil}}, nil, nil, "Unsigned: "},
		{"both", []Stated{good, {bom, nil}}, nil, []Signature{states(bom, `[]`), clean}, ""},
		{"the first of both", []Stated{good, {bom, nil}}, nil, []Signature{clean}, "StatementMissing: "},
		{"the second of both", []Stated{good, {bom, nil}}, nil, []Signature{states(bom, `{}`)}, "StatementMissing: "},
		{"and provenance", []Stated{good}, built, []Signature{clean, states(SLSA, `{"runDetails":{"builder":{"id":"a"}}}`)}, ""},
		{"and no provenance", []Stated{good}, built, []Signature{clean}, "ProvenanceMissing: "},
		{"provenance alone", []Stated{good}, built, []Signature{states(SLSA, `{"runDetails":{"builder":{"id":"a"}}}`)}, "StatementMissing: "},
		{"a predicate of another form", nil, built, []Signature{states(SLSA, `{"builder":7}`)}, `ProvenanceMismatch: it was made by ""`},
	} {
		who, err := Demand{Digest: digest, Provenance: c.built, Statements: c.demanded}.Met(c.all, key.Public())
		var e *Error
		if c.want == "" && (err != nil || who.Key != key.Public().ID()) || c.want != "" && (!errors.As(err, &e) || !strings.HasPrefix(e.Error(), c.want) || who != Signatory{}) {
			t.Errorf("%s: %v, %v", c.name, who, err)
		}
	}
}

// counting is an authority that counts how often it verifies.
type counting struct {
	PublicKey
	n *int
}

func (c counting) Claim(s Signature) (Claim, error) {
	*c.n++
	return c.PublicKey.Claim(s)
}

// However much is demanded, a signature is verified once.
func TestSignaturesAreVerifiedOnce(t *testing.T) {
	key, n := newKey(t), 0
	all := []Signature{bundleByKey(t, key, content, nil), bundleByKey(t, key, content, nil)}
	demand := Demand{Digest: Digest(content), Statements: slices.Repeat([]Stated{{PredicateType: "x"}}, 4)}
	if _, err := demand.Met(all, counting{key.Public(), &n}); err == nil || n != 2 {
		t.Errorf("%d times, %v", n, err)
	}
	one := enveloped(t, key, statementType, `{"_type":"https://in-toto.io/Statement/v1","subject":[{"digest":{"sha256":"`+strings.TrimPrefix(demand.Digest, "sha256:")+`"}}],"predicateType":"x"}`)
	n = 0
	if _, err := demand.Met(append(all, one), counting{key.Public(), &n}); err != nil || n != 3 {
		t.Errorf("%d times, %v", n, err)
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
