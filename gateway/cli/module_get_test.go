package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What arrives is written to a file or out, and only if it is what was asked for.
func TestModuleGet(t *testing.T) {
	first, second, third := []byte("first"), []byte("second"), []byte("third")
	g := withModules(t, "empty", "m")
	g.later(modulesPath+"/m", func(obj map[string]any) {
		obj["status"] = map[string]any{"digest": digestOf(second), "candidate": map[string]any{"revision": "r9", "digest": digestOf(third)},
			"revisions":  []any{map[string]any{"digest": digestOf(second)}, map[string]any{"digest": digestOf(first)}, map[string]any{"digest": "sha256:abc1"}, map[string]any{"digest": "sha256:abc2"}},
			"conditions": []any{cond(compiled, "False", awaitingPromotion, ""), cond(ready, "True", "PreviousRevision", "")}}
	})
	g.contents[modulesPath+"/m@"+digestOf(first)] = first
	g.contents[modulesPath+"/m@"+digestOf(second)] = second
	g.contents[modulesPath+"/m@"+digestOf(third)] = third
	g.contents[modulesPath+"/m@sha256:abc1"] = first // not what it says
	dir := t.TempDir()
	file := filepath.Join(dir, "m.wasm")
	for line, c := range map[string]struct{ says, fails, file string }{
		"m":                         {"second", "", ""},
		"m -":                       {"second", "", ""},
		"m FILE":                    {"wasmmodule/m written to " + file + ": " + digestOf(second) + ", 6 bytes\n", "", "second"},
		"m --digest F1":             {"first", "", ""},
		"m FILE --digest sha256:F1": {"wasmmodule/m written to " + file + ": " + digestOf(first) + ", 5 bytes\n", "", "first"},
		"m --digest F3":             {"third", "", ""},
		"m FILE --digest abc":       {"", `wasmmodule/m: the digests of 2 contents begin with "abc"`, ""},
		"m FILE --digest xyz":       {"", `wasmmodule/m: it has no content whose digest begins with "xyz"`, ""},
		"m FILE --digest abc1":      {"", "wasmmodule/m: 5 bytes with the digest " + digestOf(first) + " arrived, not sha256:abc1; try again", ""},
		"m FILE --digest abc2":      {"", "no: NotFound", ""},
		"empty FILE":                {"", "wasmmodule/empty: it has no content yet", ""},
		"none FILE":                 {"", `there is no module "none"; see: wasmgate module list`, ""},
		"m " + dir:                  {"", "open " + dir, ""},
	} {
		_ = os.Remove(file)
		args := strings.Fields(strings.NewReplacer("FILE", file, "F1", digestOf(first)[len(digestPrefix):], "F3", digestOf(third)[len(digestPrefix):len(digestPrefix)+12]).Replace(line))
		out, err := command(t, append(append([]string{"module", "get"}, args...), "--kubeconfig", g.kubeconfig)...)
		if out != c.says || (err == nil) != (c.fails == "") || err != nil && !strings.HasPrefix(err.Error(), c.fails) {
			t.Errorf("%s: %v\n%s", line, err, out)
		}
		if content, _ := os.ReadFile(file); string(content) != c.file {
			t.Errorf("%s: the file has %q", line, content)
		}
	}
}

// A module of which nothing serves yet has the content that is to.
func TestModuleGet_OfWhatIsToServe(t *testing.T) {
	g := withModules(t, "m")
	g.later(modulesPath+"/m", func(obj map[string]any) {
		obj["metadata"].(map[string]any)["annotations"] = map[string]any{contentAnnotation: digestOf([]byte("x"))}
	})
	g.contents[modulesPath+"/m@"+digestOf([]byte("x"))] = []byte("x")
	if out, err := command(t, "module", "get", "m", "--kubeconfig", g.kubeconfig); err != nil || out != "x" {
		t.Errorf("%v %q", err, out)
	}
}
