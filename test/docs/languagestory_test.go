package docs

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/wasmgate/wasmgate/plugins/plugintest"
	"github.com/wasmgate/wasmgate/test/harness"
)

// TestStoryOfLanguages types the commands of docs/story-languages.md in an empty folder, for
// each language but Go, which has its own in docs/story.md: a module is begun and built, what
// it loses is found and mended, and an object is read and changed at both versions.
func TestStoryOfLanguages(t *testing.T) {
	harness.SkipExternal(t)
	for language, tools := range map[string]func(t *testing.T, folder, checkout string) []string{"rust": withCargo, "assemblyscript": withNode} {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			folder, checkout := t.TempDir(), t.TempDir()
			env := tools(t, folder, checkout)
			plugintest.Sources(t, checkout, "sdk")
			typeAt(t, harness.Start(t, harness.Options{}), folder, "story-languages.md", "none.wasm", []string{
				"5 operations, 0 to check", "converts Widget:v1", "golden/widget-v1-1.v1beta1.yaml",
				"lossless: False", "lossless: True", "wasmmodule/widgets ready",
				"customresourcedefinition.apiextensions.k8s.io/widgets.example.com created", "condition met", "widget created", "\n", "patched", "localhost:8080",
			}, append(env, "WASMGATE="+checkout, "LANGUAGE="+language)...)
		})
	}
}

func withCargo(t *testing.T, _, _ string) []string { return plugintest.Cargo(t) }

// withNode has npm install nothing: that is there already.
func withNode(t *testing.T, folder, checkout string) []string {
	t.Helper()
	plugintest.NodeModules(t, filepath.Join(folder, "widgets"), filepath.Join(checkout, "sdk", "assemblyscript"))
	npm, err := exec.LookPath("npm")
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, "npm"), []byte("#!/bin/sh\ntest \"$1\" = install || exec "+npm+" \"$@\"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	return []string{"PATH=" + bin + string(os.PathListSeparator) + os.Getenv("PATH")}
}
