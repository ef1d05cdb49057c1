package offline_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"oras.land/oras-go/v2/registry/remote/auth"

	"github.com/wasmgate/wasmgate/gateway/kinds/module/oci/ocitest"
	"github.com/wasmgate/wasmgate/gateway/options/workbench"
	"github.com/wasmgate/wasmgate/gateway/server/offline"
	"github.com/wasmgate/wasmgate/plugins/plugintest"
	"github.com/wasmgate/wasmgate/plugins/signature"
)

func file(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// trusts is a file with a ModuleTrust that demands a signature of the module tabs.
func trusts(t *testing.T, public []byte, images bool) string {
	t.Helper()
	return file(t, "trust.yaml", fmt.Sprintf(`{"apiVersion":"wasmgate.dev/v1","kind":"ModuleTrust","metadata":{"name":"production"},"spec":{"modules":{"names":["tabs"]},"authorities":[{"name":"release","images":%t,"key":%q}]}}`, images, public))
}

// An image is pulled by the authorities, the credentials and the mirrors that are named, and
// what cosign signed of it counts for the ModuleTrusts that say so.
func TestAnImageIsPulledAndJudged(t *testing.T) {
	private, public, err := signature.Generate()
	if err != nil {
		t.Fatal(err)
	}
	key, err := signature.ParsePrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	anna := auth.Credential{Username: "anna", Password: "secret"}
	plain, content := ocitest.Start(t, ocitest.Locked(anna.Username, anna.Password)), plugintest.Echo("").Bytes()
	digest := ocitest.Push(t, plain+"/cache/tabs", "v1", anna, ocitest.Layer{MediaType: "application/wasm", Content: content})
	payload := []byte(`{"critical":{"identity":{"docker-reference":""},"image":{"docker-manifest-digest":"` + digest + `"},"type":"cosign container image signature"},"optional":null}`)
	made, err := key.Sign(payload)
	if err != nil {
		t.Fatal(err)
	}
	ocitest.Push(t, plain+"/cache/tabs", ocitest.SignatureTag(digest), anna, ocitest.Signed(payload, made))
	host, authority := ocitest.Encrypt(t, plain, nil)
	image := workbench.Image{
		Name: "registry.example/team/tabs:v1", Login: []byte(`{"auths":{"` + host + `":{"username":"anna","password":"secret"}}}`),
		Registries: file(t, "registries.yaml", fmt.Sprintf("apiVersion: wasmgate.dev/v1\nkind: ModuleRegistries\nregistries:\n- {prefix: registry.example/team, blocked: true, mirrors: [{location: %s/cache, caFile: %s}]}\n", host, file(t, "ca.pem", string(authority)))),
	}
	pulled, err := offline.Tools{}.Pull(t.Context(), image)
	if err != nil || string(pulled.Content) != string(content) || pulled.Manifest != digest || pulled.Mirror != host+"/cache" || len(pulled.Signatures) != 1 {
		t.Fatalf("%v, %.300s", err, fmt.Sprintf("%+v", pulled))
	}
	for _, c := range []struct {
		name     string
		images   bool
		image    *workbench.Pulled
		signedBy []workbench.Signer
		problem  string
	}{
		{"tabs", true, &pulled, []workbench.Signer{{Trust: "production (file)", Authority: "release", Key: key.Public().ID()}}, ""},
		{"other", true, &pulled, nil, ""},
		{"tabs", false, &pulled, nil, `Unsigned: ModuleTrust "production (file)" does not let it serve: `},
		{"tabs", true, nil, nil, "Unsigned: "},
	} {
		is, err := offline.Tools{}.Judge(t.Context(), workbench.Judged{Trusts: trusts(t, public, c.images), Name: c.name, Content: pulled.Content, Image: c.image})
		if err != nil || is.Policies != 1 || !slices.Equal(is.SignedBy, c.signedBy) || !strings.HasPrefix(is.Problem, c.problem) || (is.Problem == "") != (c.problem == "") {
			t.Errorf("%+v: %+v, %v", c, is, err)
		}
	}
	image.Login = nil
	var failed workbench.PullError
	if _, err := (offline.Tools{}).Pull(t.Context(), image); !errors.As(err, &failed) || !strings.Contains(err.Error(), "AccessDenied") {
		t.Errorf("without credentials: %v", err)
	}
}

// What was given wrongly is no failure of a registry.
func TestMistakesAboutImages(t *testing.T) {
	bad := file(t, "bad", "a: b")
	for want, image := range map[string]workbench.Image{
		"ImageInvalid: ":             {Name: "tabs"},
		"--module-registries-file: ": {Name: "a.example/b:v1", Registries: bad},
		"--pull-config: ":            {Name: "a.example/b:v1", Login: []byte("x")},
	} {
		if _, err := (offline.Tools{}).Pull(t.Context(), image); err == nil || errors.As(err, new(workbench.PullError)) || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	if _, err := (offline.Tools{}).Judge(t.Context(), workbench.Judged{Trusts: bad, Name: "a"}); err == nil || !strings.HasPrefix(err.Error(), "--module-trust-file: ") {
		t.Error(err)
	}
}
