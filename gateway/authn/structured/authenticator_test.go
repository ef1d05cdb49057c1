package structured

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const head = "apiVersion: apiserver.config.k8s.io/v1\nkind: AuthenticationConfiguration\n"

// A file that is wrong stops the start, wherever it is wrong.
func TestFilesThatStopTheStart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "authentication.yaml")
	for text, want := range map[string]string{
		"":          "failed to load authentication configuration from file",
		head + "a:": `unknown field "a"`,
		head + "jwt: [{issuer: {url: 'http://a.example', audiences: [x]}, claimMappings: {username: {claim: sub, prefix: ''}}}]": "URL scheme must be https",
		head + "jwt: [{issuer: {url: 'https://a.example', audiences: [x]}}]":                                                     "claimMappings.username",
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		a, err := New(t.Context(), Config{Path: path, Gateway: "one"})
		if !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
		if err == nil {
			a.Close()
		}
	}
}

// A changed file that is wrong, or that says something else of who shows nothing, is
// refused, and what was in force stays.
func TestChangedFilesThatAreRefused(t *testing.T) {
	const anonymous = "anonymous: {enabled: true, conditions: [{path: /livez}]}\n"
	path := filepath.Join(t.TempDir(), "authentication.yaml")
	if err := os.WriteFile(path, []byte(head+anonymous), 0o600); err != nil {
		t.Fatal(err)
	}
	a, err := New(t.Context(), Config{Path: path, Gateway: "one"})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	if c := a.Anonymous(); c == nil || !c.Enabled || len(c.Conditions) != 1 {
		t.Errorf("who shows nothing: %v", c)
	}
	first := a.issuers.Load()
	for text, want := range map[string]string{
		"":          "the file is empty",
		"nonsense":  "couldn't get version/kind",
		head + "a:": `unknown field "a"`,
		head + "anonymous: {enabled: true, conditions: [{path: /readyz}]}": "anonymous: Forbidden: changed from initial configuration file",
		head: "anonymous: Forbidden: changed from initial configuration file",
		head + anonymous + "jwt: [{issuer: {url: 'http://a.example', audiences: [x]}}]":                                   "invalid authentication configuration",
		strings.Replace(head, "Authentication", "Authorization", 1) + "authorizers: [{type: AlwaysAllow, name: allowed}]": "expected AuthenticationConfiguration",
	} {
		if err := a.use(t.Context(), []byte(text)); !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
		if a.issuers.Load() != first {
			t.Fatalf("%q is in force", text)
		}
	}
	if err := a.use(t.Context(), []byte(head+anonymous+"jwt: []")); err != nil || a.issuers.Load() == first {
		t.Errorf("a good file: %v", err)
	}
}
