package encryption

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rs/zerolog"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/gateway/catalog"
)

// keys are those of a few kinds.
var keys = catalog.Keys{Prefix: "/registry/", Builtins: map[string]schema.GroupResource{
	"secrets": {Resource: "secrets"}, "configmaps": {Resource: "configmaps"}, "serviceaccounts": {Resource: "serviceaccounts"},
	"leases": {Group: "coordination.k8s.io", Resource: "leases"}, "events": {Resource: "events"}, "limitranges": {Resource: "limitranges"}, "services/specs": {Resource: "services"},
}}

// configFile writes a configuration into a file of its own.
func configFile(t testing.TB, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "encryption.yaml")
	write(t, path, text)
	return path
}

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func load(t testing.TB, path string) (*Encryption, error) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	return Load(ctx, Config{Path: path, Reload: true, Gateway: t.Name(), ResourceOf: keys.ResourceOf, Log: zerolog.Nop()})
}

func mustLoad(t testing.TB, path string) *Encryption {
	t.Helper()
	e, err := load(t, path)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

const header = "apiVersion: apiserver.config.k8s.io/v1\nkind: EncryptionConfiguration\nresources:\n"

// of is a configuration of what is given as pairs: resources, and their providers.
func of(pairs ...string) string {
	out := header
	for i := 0; i < len(pairs); i += 2 {
		out += "- resources: [" + pairs[i] + "]\n  providers: [" + pairs[i+1] + "]\n"
	}
	return out
}

const (
	key1 = "d2FzbWdhdGUtYWVzLWtleS1vZi0zMi1ieXRlcy0wMDA="
	key2 = "b3RoZXIta2V5LW9mLTMyLWJ5dGVzLTAwMDAwMDAwMDE="
)

// provider is one with a key.
func provider(kind, name, secret string) string {
	return "{" + kind + ": {keys: [{name: '" + name + "', secret: " + secret + "}]}}"
}

func fixture[T any](t *testing.T, name string) (out T) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err == nil {
		err = json.Unmarshal(data, &out)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestReadsKubeAPIServers reads what kube-apiserver 1.36.3 wrote into etcd under
// testdata/config.yaml, with each provider.
func TestReadsKubeAPIServers(t *testing.T) {
	e := mustLoad(t, "testdata/config.yaml")
	values := fixture[[]struct {
		Key, Shows string
		Stored     []byte
	}](t, "kube-apiserver.json")
	seen := map[string]bool{}
	for _, v := range values {
		plain, stale, err := e.FromStorage(t.Context(), v.Key, v.Stored)
		if err != nil || stale || !bytes.Contains(plain, []byte(v.Shows)) || bytes.Contains(v.Stored, []byte(v.Shows)) {
			t.Errorf("%s: %q, stale %t, %v", v.Key, plain, stale, err)
		}
		parts := bytes.SplitN(v.Stored, []byte(":"), 6)
		seen[string(parts[2])] = true
		again, err := e.ToStorage(t.Context(), v.Key, plain)
		if err != nil {
			t.Error(err)
		}
		if mine := bytes.SplitN(again, []byte(":"), 6); len(again) != len(v.Stored) || !bytes.Equal(bytes.Join(mine[:5], nil), bytes.Join(parts[:5], nil)) {
			t.Errorf("%s: it was kept as %.30q in %d bytes, and is as %.30q in %d", v.Key, v.Stored, len(v.Stored), again, len(again))
		}
	}
	if len(seen) != 3 {
		t.Errorf("recorded are %v", seen)
	}
}

// TestMistakes compares what is said of wrong files with kube-apiserver 1.36.3's words,
// but that no key is in them.
func TestMistakes(t *testing.T) {
	cases := fixture[[]struct{ Name, Config, Error string }](t, "mistakes.json")
	if len(cases) < 35 {
		t.Errorf("only %d cases", len(cases))
	}
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			path := configFile(t, c.Config)
			_, err := load(t, path)
			if err == nil {
				t.Fatal("it is accepted")
			}
			got, _, _ := strings.Cut(strings.ReplaceAll(err.Error(), path, "FILE"), "\n")
			if got != c.Error {
				t.Errorf("got  %s\nwant %s", got, c.Error)
			}
		})
	}
}

// TestFirstMatchWins: the first rule that names a resource counts, names before groups
// and groups before everything, and what no rule names stays as it is.
func TestFirstMatchWins(t *testing.T) {
	e := mustLoad(t, configFile(t, of(
		"secrets", provider("aesgcm", "named", key1),
		"'*.'", provider("aesgcm", "core", key1),
		"'*.coordination.k8s.io'", provider("aescbc", "group", key1),
		"widgets.example.com", provider("aesgcm", "widgets", key1),
		"'*.*'", provider("secretbox", "all", key1),
	)))
	for key, want := range map[string]string{
		"/registry/secrets/default/a":              "k8s:enc:aesgcm:v1:named:",
		"/registry/configmaps/default/a":           "k8s:enc:aesgcm:v1:core:",
		"/registry/services/specs/default/a":       "k8s:enc:aesgcm:v1:core:",
		"/registry/events/default/a":               "k8s:enc:aesgcm:v1:core:",
		"/registry/leases/default/a":               "k8s:enc:aescbc:v1:group:",
		"/registry/example.com/widgets/default/a":  "k8s:enc:aesgcm:v1:widgets:",
		"/registry/example.com/gadgets/default/a":  "k8s:enc:secretbox:v1:all:",
		"/registry/claims/a":                       "{}",
		"/wasmgate/registry/gone/a":                "{}",
		"compact_rev_key":                          "{}",
		"/registry/apiregistration.k8s.io/other/a": "k8s:enc:secretbox:v1:all:",
	} {
		got, err := e.ToStorage(t.Context(), key, []byte("{}"))
		if err != nil || !bytes.HasPrefix(got, []byte(want)) {
			t.Errorf("%s is kept as %q, %v; want %s", key, got, err, want)
		}
		if plain, stale, err := e.FromStorage(t.Context(), key, got); string(plain) != "{}" || stale || err != nil {
			t.Errorf("%s is read as %q, stale %t, %v", key, plain, stale, err)
		}
	}
	one := mustLoad(t, configFile(t, of("secrets", provider("aesgcm", "a", key1))))
	if got, err := one.ToStorage(t.Context(), "/registry/configmaps/default/a", []byte("{}")); err != nil || string(got) != "{}" {
		t.Errorf("what no rule names is kept as %q, %v", got, err)
	}
	if got, _, err := one.FromStorage(t.Context(), "/registry/configmaps/default/a", []byte("k8s:enc:aesgcm:v1:a:")); err == nil {
		t.Errorf("what no rule names is read as %q", got)
	}
}
