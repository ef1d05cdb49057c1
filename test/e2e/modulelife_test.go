package e2e

import (
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/plugins/plugintest"
	"github.com/wasmgate/wasmgate/storage/blob"
	"github.com/wasmgate/wasmgate/test/harness"
)

// The life of a module as an operator has it: contents that served can be gone
// back to, a configuration that is refused changes nothing, and what a module
// wrote can be read.
func TestAModulesLife(t *testing.T) {
	t.Parallel()
	harness.SkipExternal(t)
	g := harness.Start(t, harness.Options{})
	api := g.API(t)
	first, second := plugintest.Build(t, plugintest.Releases), plugintest.Build(t, plugintest.Policy)
	path := modulePath + "/life"
	pushModule(t, api, "life", first)
	content(api, "life", second).Want(200)
	served := func(digest, compiled string) func(*harness.Reply) bool {
		return func(r *harness.Reply) bool {
			return r.Str("status.digest") == digest && r.Str("status.conditions.0.reason") == compiled
		}
	}
	api.Eventually(path, served(blob.Digest(second), "Compiled")).
		Equal("status.revisions.0.digest", blob.Digest(second)).Equal("status.revisions.1.digest", blob.Digest(first)).Equal("status.hooks.0", "wasmgate_admit")
	if out := g.CLI(t, "module", "history", "life"); !strings.Contains(out, blob.Digest(first)) || !strings.Contains(out, "yes") {
		t.Errorf("history\n%s", out)
	}
	if out := g.CLI(t, "module", "rollback", "life"); out != "wasmmodule/life rolled back: "+blob.Digest(first)+"\n" {
		t.Errorf("rollback\n%s", out)
	}
	api.Get(path).Equal("status.digest", blob.Digest(first)).Equal("status.hooks.0", "wasmgate_prioritize")

	api.Merge(path, object{"spec": object{"config": object{"region": "north"}}}).Want(200)
	r := api.Eventually(path, served(blob.Digest(first), "ConfigRefused"))
	if !r.Contains("it refuses its configuration: this module takes no configuration") {
		t.Errorf("refused with %s", r.Body)
	}
	api.Merge(path, object{"spec": object{"config": nil, "source": object{"upload": object{"digest": blob.Digest(second)}}}}).Want(200)
	api.Eventually(path, served(blob.Digest(second), "Compiled"))
	content(api, "life", first).WantStatus(409, "Conflict", "its spec.source.upload.digest is "+blob.Digest(second))

	if log := api.Get(path + "/log").Want(200); !strings.HasPrefix(log.Header.Get("Content-Type"), "text/plain") {
		t.Errorf("the log is %s", log.Header.Get("Content-Type"))
	}
	g.CLI(t, "module", "logs", "life")
	api.Get(modulePath+"/none/log").WantStatus(404, "NotFound")
}
