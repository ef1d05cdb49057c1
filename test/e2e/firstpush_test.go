package e2e

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

// A module that comes as it should leaves no warning, from wherever it comes; and
// kubectl says in a word why one does not serve.
func TestWhatKubectlSaysOfModules(t *testing.T) {
	t.Parallel()
	harness.SkipExternal(t)
	g := harness.Start(t, harness.Options{})
	api, k := g.API(t), g.Kubectl(t)
	bytes := plugintest.Build(t, plugintest.Releases)
	file := filepath.Join(t.TempDir(), "module.wasm")
	if err := os.WriteFile(file, bytes, 0o600); err != nil {
		t.Fatal(err)
	}
	host := ocitest.Start(t, nil)
	ocitest.Push(t, host+"/team/tabs", "v1", auth.EmptyCredential, ocitest.Layer{MediaType: "application/wasm", Content: bytes})

	g.CLI(t, "module", "push", "pushed", file)
	api.Post(modulePath, fromImage("pulled", host+"/team/tabs:v1")).Want(201)
	awaitCondition(api, modulePath+"/pulled", "Ready", "True")
	for _, name := range []string{"pushed", "pulled"} {
		r := api.Eventually(namespacePath+"/default/events?fieldSelector=involvedObject.name="+name, func(r *harness.Reply) bool { return r.Contains(`"Serving"`) })
		if r.Contains(`"Warning"`) {
			t.Errorf("%s left a warning: %s", name, r.Body)
		}
	}

	api.Post(modulePath, fromImage("absent", host+"/team/tabs:v2")).Want(201)
	api.Merge(modulePath+"/pushed", object{"spec": object{"rollout": "Shadow"}}).Want(200)
	newer := filepath.Join(t.TempDir(), "newer.wasm")
	if err := os.WriteFile(newer, plugintest.Build(t, plugintest.Policy), 0o600); err != nil {
		t.Fatal(err)
	}
	g.CLI(t, "module", "push", "pushed", newer)
	c := awaitCondition(api, modulePath+"/absent", "Ready", "False")
	if c.Str("reason") != "ImageNotFound" || strings.Count(c.Str("message"), host+"/team/tabs:v2") != 1 {
		t.Errorf("of an image that there is not: %v", c)
	}
	for _, table := range []string{k.Must("get", "wasmmodules"), g.CLI(t, "module", "list")} {
		for name, words := range map[string]string{"pushed": "True AwaitingPromotion", "absent": "False ImageNotFound", "pulled": "True"} {
			row := ""
			for line := range strings.Lines(table) {
				if strings.HasPrefix(line, name+" ") {
					row = line
				}
			}
			for _, word := range strings.Fields(words) {
				if !strings.Contains(row, word) {
					t.Errorf("of %s this does not say %s:\n%s", name, word, table)
				}
			}
		}
	}
}
