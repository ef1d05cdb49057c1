package offline_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/gateway/options/workbench"
	"github.com/wasmgate/wasmgate/gateway/server/offline"
	"github.com/wasmgate/wasmgate/plugins/plugintest"
	"github.com/wasmgate/wasmgate/plugins/signature"
	"github.com/wasmgate/wasmgate/plugins/signature/keyless/keylesstest"
)

// newKey makes a pair of keys.
func newKey(t *testing.T) (private, public []byte) {
	t.Helper()
	private, public, err := offline.Tools{}.NewKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	return private, public
}

// sign signs, and must not fail.
func sign(t *testing.T, what workbench.Signed) []byte {
	t.Helper()
	signed, err := offline.Tools{}.Sign(what)
	if err != nil {
		t.Fatal(err)
	}
	return signed
}

// A key signs a module once: whoever signs again takes the place of what it signed, and
// nothing of what others did.
func TestKeysSign(t *testing.T) {
	content := plugintest.Echo("").Bytes()
	mine, public := newKey(t)
	others, _ := newKey(t)
	_, unknown := newKey(t)
	once := sign(t, workbench.Signed{Content: content, Key: mine, For: "tabs"})
	again := sign(t, workbench.Signed{Content: once, Key: mine, For: "tabs"})
	both := sign(t, workbench.Signed{Content: again, Key: others})
	for _, c := range []struct {
		name    string
		what    workbench.Signed
		n       int
		problem string
	}{
		{"once", workbench.Signed{Content: once, Key: public, For: "tabs"}, 1, ""},
		{"twice", workbench.Signed{Content: again, Key: public, For: "tabs"}, 1, ""},
		{"by two", workbench.Signed{Content: both, Key: public, For: "tabs"}, 2, ""},
		{"for another name", workbench.Signed{Content: once, Key: public, For: "other"}, 1, string(signature.ForOtherModule)},
		{"by somebody else", workbench.Signed{Content: both, Key: unknown}, 2, string(signature.Untrusted)},
		{"unsigned", workbench.Signed{Content: content, Key: public}, 0, string(signature.Unsigned)},
		{"no module", workbench.Signed{Content: []byte("x"), Key: public}, 0, string(signature.SectionMalformed) + ": it is no WebAssembly module"},
	} {
		got, err := offline.Tools{}.Verify(c.what)
		if err != nil || got.Signatures != c.n || !strings.HasPrefix(got.Problem, c.problem) || (got.Problem == "") != (c.problem == "") {
			t.Errorf("%s: %+v, %v", c.name, got, err)
		}
		if want := signature.Digest(content); c.name != "no module" && got.Signed != want || got.Key == "" {
			t.Errorf("%s: %+v is not of %s", c.name, got, want)
		}
	}
	if _, err := (offline.Tools{}).Sign(workbench.Signed{Content: []byte("x"), Key: mine}); err == nil || errors.As(err, new(workbench.KeyError)) {
		t.Errorf("what is no module is signed: %v", err)
	}
}

// A bundle is put into the module that it is of, once, beside what is there.
func TestBundlesAreCarried(t *testing.T) {
	s := keylesstest.New(t)
	content := plugintest.Echo("").Bytes()
	bundle := []byte(s.JSON(s.Blob(content)))
	key, _ := newKey(t)
	signed := sign(t, workbench.Signed{Content: content, Key: key})
	once := sign(t, workbench.Signed{Content: signed, Bundle: bundle})
	again := sign(t, workbench.Signed{Content: once, Bundle: bundle})
	who := workbench.Identity{Issuer: keylesstest.Issuer, Subject: keylesstest.Subject, TrustedRoot: []byte(s.TrustedRoot())}
	byPEM := who
	byPEM.TrustedRoot, byPEM.Certificates, byPEM.Logs = nil, []byte(s.Certificates()), []byte(s.Logs())
	another := who
	another.Subject = "https://example.com/another"
	for name, c := range map[string]struct {
		content []byte
		who     workbench.Identity
		n       int
		problem signature.Reason
	}{
		"beside a key's": {once, who, 2, ""}, "twice": {again, who, 2, ""}, "by PEM": {once, byPEM, 2, ""},
		"by another": {once, another, 2, signature.OfOtherIdentity}, "not carried": {signed, who, 1, signature.Untrusted},
	} {
		got, err := offline.Tools{}.Verify(workbench.Signed{Content: c.content, Identity: &c.who})
		if err != nil || got.Signatures != c.n || got.Issuer != c.who.Issuer || got.Subject != c.who.Subject || got.Key != "" ||
			!strings.HasPrefix(got.Problem, string(c.problem)) || (got.Problem == "") != (c.problem == "") {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	for name, what := range map[string]workbench.Signed{
		"of another module": {Content: plugintest.Echo("more").Bytes(), Bundle: bundle},
		"no bundle":         {Content: content, Bundle: []byte("{}")},
		"no module":         {Content: []byte("x"), Bundle: bundle},
	} {
		if got, err := (offline.Tools{}).Sign(what); err == nil || got != nil {
			t.Errorf("%s: %d bytes, %v", name, len(got), err)
		}
	}
	who.TrustedRoot = []byte("{")
	if _, err := (offline.Tools{}).Verify(workbench.Signed{Content: once, Identity: &who}); !errors.As(err, new(workbench.KeyError)) {
		t.Errorf("by roots that cannot be read: %v", err)
	}
}

// A bundle that a key made is carried like any other, and that key verifies it.
func TestBundlesByKeysAreCarried(t *testing.T) {
	content := plugintest.Echo("").Bytes()
	private, public := newKey(t)
	_, unknown := newKey(t)
	key, err := signature.ParsePrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	bundle := func(of []byte) []byte {
		t.Helper()
		made, err := key.Sign(of)
		if err != nil {
			t.Fatal(err)
		}
		return []byte(keylesstest.New(t).JSON(keylesstest.ByKey(of, made)))
	}
	carried := sign(t, workbench.Signed{Content: content, Bundle: bundle(content)})
	if beside := sign(t, workbench.Signed{Content: carried, Key: private}); len(beside) <= len(carried) {
		t.Error("a signature by the same key takes the place of the bundle")
	}
	if got, err := (offline.Tools{}).Verify(workbench.Signed{Content: carried, Key: public}); err != nil || got.Problem != "" || got.Signatures != 1 || got.Key == "" {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err := (offline.Tools{}).Verify(workbench.Signed{Content: carried, Key: unknown}); err != nil || !strings.HasPrefix(got.Problem, string(signature.Untrusted)) {
		t.Errorf("by another key: %+v, %v", got, err)
	}
	s := keylesstest.New(t)
	scan := func(of []byte) []byte {
		return []byte(s.JSON(s.Envelope(s.Statement("https://a.example/scan", signature.Digest(of), nil))))
	}
	sign(t, workbench.Signed{Content: content, Bundle: scan(content)})
	if _, err := (offline.Tools{}).Sign(workbench.Signed{Content: content, Bundle: scan([]byte("other"))}); err == nil || !strings.HasPrefix(err.Error(), string(signature.OfOtherContent)) {
		t.Errorf("a statement of another module: %v", err)
	}
	if _, err := (offline.Tools{}).Sign(workbench.Signed{Content: content, Bundle: bundle([]byte("other"))}); err == nil || !strings.HasPrefix(err.Error(), string(signature.OfOtherContent)) {
		t.Errorf("of another module: %v", err)
	}
}

// Modules that cannot be loaded are told by name, and those that can are not.
func TestModulesAreChecked(t *testing.T) {
	refused, err := offline.Check(t.Context(), map[string][]byte{"good": plugintest.Echo("").Bytes(), "bad": []byte("text")})
	if err != nil || len(refused) != 1 || refused["bad"] == nil {
		t.Errorf("%v, %v", refused, err)
	}
}
