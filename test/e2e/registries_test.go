package e2e

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"oras.land/oras-go/v2/registry/remote/auth"

	"github.com/wasmgate/wasmgate/gateway/kinds/module/oci/ocitest"
	"github.com/wasmgate/wasmgate/plugins/plugintest"
	"github.com/wasmgate/wasmgate/test/harness"
)

// The file that docs/modules.md shows has a module come from a mirror with an authority of
// its own, and nobody asks the registry that its image names; a changed file counts.
func TestAModuleFromAMirror(t *testing.T) {
	harness.SkipExternal(t)
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(root, "docs", "modules.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, found := strings.Cut(string(text), "### Authorities and mirrors")
	_, file, _ := strings.Cut(section, "```yaml\n")
	if file, _, _ = strings.Cut(file, "```"); !found || !strings.Contains(file, "mirror.example.com/cache") {
		t.Fatal("docs/modules.md shows no mirror")
	}
	var asked atomic.Int64
	origin := ocitest.Start(t, func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			asked.Add(1)
			h.ServeHTTP(w, r)
		})
	})
	plain := ocitest.Start(t, nil)
	ocitest.Push(t, plain+"/cache/team/tabs", "v1", auth.Credential{}, ocitest.Layer{MediaType: "application/wasm", Content: plugintest.Build(t, plugintest.Releases)})
	mirror, authority := ocitest.Encrypt(t, plain, nil)
	folder := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("mirror-ca.pem", string(authority))
	file = strings.ReplaceAll(strings.ReplaceAll(file, "registry.example.com", origin), "mirror.example.com", mirror)
	write("registries.yaml", strings.ReplaceAll(file, "  - location: "+mirror+"/cache\n", "  - location: "+mirror+"/none\n"))

	api := harness.Start(t, harness.Options{Args: []string{"--module-registries-file", filepath.Join(folder, "registries.yaml")}}).API(t)
	path := modulePath + "/tabs"
	api.Post(modulePath, `{"apiVersion":"wasmgate.dev/v1","kind":"WasmModule","metadata":{"name":"tabs"},"spec":{"source":{"oci":{"image":"`+origin+`/team/tabs:v1"}}}}`).Want(201)
	pulled := func(want ...string) {
		t.Helper()
		api.Eventually(path, func(r *harness.Reply) bool {
			c := condition(r.Object(), "Pulled")
			said := c.Str("status") + " " + c.Str("reason") + " " + c.Str("message")
			for _, w := range want {
				if !strings.Contains(said, w) {
					return false
				}
			}
			return true
		})
	}
	pulled("False ImageNotFound "+origin+"/team/tabs:v1: ", mirror+"/none/team/tabs", "tried again")
	write("registries.yaml", file)
	pulled("True Pulled "+origin+"/team/tabs:v1 is sha256:", ", from the mirror "+mirror+"/cache")
	api.Eventually(path, func(r *harness.Reply) bool { return condition(r.Object(), "Ready").Str("status") == "True" }).Equal("status.pulled.mirror", mirror+"/cache")
	if n := asked.Load(); n != 0 {
		t.Errorf("the registry that is blocked was asked %d times", n)
	}
}
