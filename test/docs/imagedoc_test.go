package docs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"oras.land/oras-go/v2/registry/remote/auth"

	"github.com/wasmgate/wasmgate/gateway/kinds/module/oci/ocitest"
	"github.com/wasmgate/wasmgate/plugins/plugintest"
	"github.com/wasmgate/wasmgate/test/harness"
)

// TestModulesDocInspectsAnImage types the command of docs/modules.md that looks into an image
// of registry.example.com: what the registry's mirror has was signed, and then was not.
func TestModulesDocInspectsAnImage(t *testing.T) {
	harness.SkipExternal(t)
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(root, "docs", "modules.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "\n### Look into an image\n")
	_, shown, _ := strings.Cut(section, "```sh\n")
	command, _, ok := strings.Cut(shown, "```")
	if !ok {
		t.Fatal("docs/modules.md does not show how to look into an image")
	}
	dir, bin, module := t.TempDir(), t.TempDir(), plugintest.Build(t, plugintest.Policy)
	link(t, harness.Binary(t), filepath.Join(bin, "wasmgate"))
	host := ocitest.Start(t, ocitest.Locked("anna", "secret"))
	push := func(content []byte) string {
		return ocitest.Push(t, host+"/team/tabs", "v1", auth.Credential{Username: "anna", Password: "secret"}, ocitest.Layer{MediaType: "application/wasm", Content: content})
	}
	for name, text := range map[string]string{
		"registries.yaml": "apiVersion: wasmgate.dev/v1\nkind: ModuleRegistries\nregistries:\n- prefix: registry.example.com\n  blocked: true\n  mirrors:\n  - location: " + host + "\n",
		"config.json":     `{"auths":{"` + host + `":{"username":"anna","password":"secret"}}}`,
		"signed.wasm":     string(module),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	env := append(os.Environ(), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	harness.Shell(t, dir, env, `wasmgate module keygen release && wasmgate module sign signed.wasm --key release.key
{
  printf 'apiVersion: wasmgate.dev/v1\nkind: ModuleTrust\nmetadata: {name: production}\nspec:\n  modules: {names: [tabs]}\n  authorities:\n  - name: release\n    key: |\n'
  sed 's/^/      /' release.pub
} > trust.yaml`)
	signed, err := os.ReadFile(filepath.Join(dir, "signed.wasm"))
	if err != nil {
		t.Fatal(err)
	}
	image := push(signed)
	printed := harness.Shell(t, dir, env, command)
	for _, want := range []string{image, host, `by release, for ModuleTrust "production (file)"`, "wasmgate_admit"} {
		if !strings.Contains(printed, want) {
			t.Errorf("%q is not in\n%s", want, printed)
		}
	}
	push(module)
	printed = harness.Shell(t, dir, env, "test 1 = $("+strings.TrimSpace(command)+" > printed 2>&1; echo $?); cat printed")
	if !strings.Contains(printed, "Trusted:     no\n") || !strings.Contains(printed, `Error: Unsigned: ModuleTrust "production (file)" does not let it serve`) {
		t.Errorf("%s", printed)
	}
}
