package e2e

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/plugins/plugintest"
	"github.com/wasmgate/wasmgate/test/harness"
)

// annotate sets an annotation of a module.
func annotate(api *harness.API, module, name, value string) {
	api.Do("PATCH", modulePath+"/"+module, object{"metadata": map[string]any{"annotations": map[string]any{name: value}}},
		"Content-Type", "application/merge-patch+json").Want(200)
}

// TestCrashWhileLoading kills the gateway while it compiles a module, which
// then is held back, and nothing else; and starts it in safe mode.
func TestCrashWhileLoading(t *testing.T) {
	harness.SkipExternal(t)
	whole, dir := t, t.TempDir()
	g := harness.Start(t, harness.Options{DataDir: dir})
	api := g.API(t)
	good, slow := "good-"+unique(), "slow-"+unique()
	pushModule(t, api, good, harness.Module(t, crontabModule))
	c := newWasmCronTabs(t, &g.Server, good)
	o := c.object("v1", "tab", `{}`)
	o["host"], o["port"] = "h", "1"
	c.api.Post(c.list("v1"), o).Want(201)

	upload(t, api, slow, plugintest.Slow(2))
	awaitMark(t, filepath.Join(dir, "wasm-cache", "loading"))
	g.Kill(t)
	g.Restart(t)
	t.Run("WP-01 what a gateway ended with is not loaded again, and says so", func(t *testing.T) {
		refused := awaitCondition(api, modulePath+"/"+slow, "Compiled", "False")
		if refused.Str("reason") != "Quarantined" || !strings.Contains(refused.Str("message"), "wasmgate.dev/retry") {
			t.Errorf("refused %v", refused)
		}
		awaitCondition(api, modulePath+"/"+good, "Ready", "True")
		c.api.Get(c.path("v1", "tab")).Want(200).Equal("host", "h")
	})
	t.Run("WP-01 another attempt loads it", func(t *testing.T) {
		annotate(api, slow, "wasmgate.dev/retry", "1")
		awaitCondition(api, modulePath+"/"+slow, "Ready", "True")
	})
	t.Run("WP-01 an orderly end while a module is loaded is held against nobody", func(t *testing.T) {
		other := "other-" + unique()
		upload(whole, api, other, plugintest.Slow(3))
		awaitMark(t, filepath.Join(dir, "wasm-cache", "loading"))
		g.Terminate(t)
		g.Restart(t)
		awaitCondition(api, modulePath+"/"+other, "Ready", "True")
	})
	g.Terminate(t)

	safe := harness.Start(t, harness.Options{DataDir: dir, Args: []string{"--safe-mode"}})
	api = safe.API(t)
	t.Run("WP-01 safe mode loads no modules and serves everything else", func(t *testing.T) {
		for _, name := range []string{good, slow} {
			if refused := awaitCondition(api, modulePath+"/"+name, "Ready", "False"); refused.Str("reason") != "SafeMode" {
				t.Errorf("%s: %v", name, refused)
			}
		}
		api.Get(c.path("v1", "tab")).WantStatus(500, "", "SafeMode")
		api.Get(c.path("v1beta1", "tab")).Want(200).Equal("hostPort", "h:1")
		api.Get("/readyz").Want(200)
	})
	safe.Terminate(t)
	g.Restart(t)
	api = g.API(t)
	t.Run("WP-01 after safe mode the modules are back", func(t *testing.T) {
		awaitCondition(api, modulePath+"/"+good, "Ready", "True")
		awaitCondition(api, modulePath+"/"+slow, "Ready", "True")
		api.Get(c.path("v1", "tab")).Want(200).Equal("host", "h")
	})
}

// awaitMark waits until something is marked as being loaded, and the mark is whole: before
// that nothing was begun.
func awaitMark(t *testing.T, dir string) {
	t.Helper()
	harness.Eventually(t, "a mark in "+dir, func() bool {
		files, err := os.ReadDir(dir)
		return err == nil && slices.ContainsFunc(files, func(f os.DirEntry) bool { return !strings.HasPrefix(f.Name(), ".") })
	})
}
