package e2e

import (
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/wasmgate/wasmgate/test/harness"
)

// bootstrapSecret is a Secret with a token that authenticates, but for the changes: "" takes
// a key out.
func bootstrapSecret(id string, changes map[string]string) harness.Object {
	data := map[string]string{
		"token-id": id, "token-secret": "0123456789abcdef", "usage-bootstrap-authentication": "true",
		"expiration": time.Now().Add(time.Hour).UTC().Format(time.RFC3339), "type": "bootstrap.kubernetes.io/token",
	}
	maps.Copy(data, changes)
	maps.DeleteFunc(data, func(_, value string) bool { return value == "" })
	kind := data["type"]
	delete(data, "type")
	return harness.Object{"metadata": map[string]any{"name": "bootstrap-token-" + id}, "type": kind, "stringData": data}
}

// TestBootstrapTokens shows tokens of Secrets that count, and of such as do not. Nobody cleans:
// a token that has expired is to be refused while its Secret is there.
func TestBootstrapTokens_RBAC(t *testing.T) {
	harness.SkipExternal(t)
	t.Parallel()
	s := &harness.Start(t, harness.Options{Args: []string{"--enable-bootstrap-token-auth", "--controllers=*,-token-cleaner-controller"}}).Server
	api := s.API(t)
	joined := `201 {"groups":["system:bootstrappers","system:authenticated"],"username":"system:bootstrap:ID"}`
	for id, c := range map[string]struct {
		changes map[string]string
		want    string
	}{
		"aaaaa0": {nil, joined},
		"aaaaa1": {map[string]string{"expiration": ""}, joined},
		"aaaaa2": {map[string]string{"auth-extra-groups": "system:bootstrappers:workers,system:bootstrappers:a"},
			`201 {"groups":["system:bootstrappers","system:bootstrappers:a","system:bootstrappers:workers","system:authenticated"],"username":"system:bootstrap:ID"}`},
		"bbbbb0": {map[string]string{"auth-extra-groups": "system:masters"}, "401 Unauthorized"},
		"bbbbb1": {map[string]string{"expiration": time.Now().Add(-time.Minute).UTC().Format(time.RFC3339)}, "401 Unauthorized"},
		"bbbbb2": {map[string]string{"expiration": "tomorrow"}, "401 Unauthorized"},
		"bbbbb3": {map[string]string{"usage-bootstrap-authentication": ""}, "401 Unauthorized"},
		"bbbbb4": {map[string]string{"usage-bootstrap-authentication": "yes"}, "401 Unauthorized"},
		"bbbbb5": {map[string]string{"token-id": "aaaaa0"}, "401 Unauthorized"},
		"bbbbb6": {map[string]string{"token-secret": "0123456789abcdeg"}, "401 Unauthorized"},
		"bbbbb7": {map[string]string{"token-secret": ""}, "401 Unauthorized"},
		"bbbbb8": {map[string]string{"type": "Opaque"}, "401 Unauthorized"},
	} {
		api.Post("/api/v1/namespaces/kube-system/secrets", bootstrapSecret(id, c.changes)).Want(201)
		api.Get("/api/v1/namespaces/kube-system/secrets/bootstrap-token-" + id).Want(200) // so the cache has heard of it
		if got := strings.ReplaceAll(who(t, s, id+".0123456789abcdef"), "bootstrap:"+id, "bootstrap:ID"); got != c.want {
			t.Errorf("%s:\n  got  %s\n  want %s", id, got, c.want)
		}
	}
	api.Post("/api/v1/namespaces/default/secrets", bootstrapSecret("ccccc0", nil)).Want(201)
	for _, token := range []string{"ccccc0.0123456789abcdef", "ddddd0.0123456789abcdef", "aaaaa0.0123456789ABCDEF", "aaaaa0.", "aaaaa0.0123456789abcdef0"} {
		if got := who(t, s, token); got != "401 Unauthorized" {
			t.Errorf("%s: %s", token, got)
		}
	}
	api.Delete("/api/v1/namespaces/kube-system/secrets/bootstrap-token-aaaaa0").Want(200)
	api.Get("/api/v1/namespaces/kube-system/secrets/bootstrap-token-aaaaa0").Want(404)
	if got := who(t, s, "aaaaa0.0123456789abcdef"); got != "401 Unauthorized" {
		t.Errorf("a token that is gone: %s", got)
	}
}

// TestBootstrapTokensAreOff shows a token that counts to a gateway that was not told to
// believe it.
func TestBootstrapTokensAreOff_RBAC(t *testing.T) {
	harness.SkipExternal(t)
	t.Parallel()
	s := &harness.Start(t, harness.Options{}).Server
	s.API(t).Post("/api/v1/namespaces/kube-system/secrets", bootstrapSecret("aaaaa0", nil)).Want(201)
	if got := who(t, s, "aaaaa0.0123456789abcdef"); got != "401 Unauthorized" {
		t.Errorf("it is believed: %s", got)
	}
}
