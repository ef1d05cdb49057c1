package cli

import (
	"encoding/json"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// For programs the list is one of whole objects, without what only the server needs, or of
// names.
func TestModuleList_ForPrograms(t *testing.T) {
	g := withModules(t, "m")
	g.later(modulesPath+"/m", func(obj map[string]any) {
		obj["metadata"].(map[string]any)["managedFields"] = []any{map[string]any{"manager": "x"}}
	})
	list := func(format string) []byte {
		t.Helper()
		out, err := command(t, "module", "list", "-o", format, "--kubeconfig", g.kubeconfig)
		if err != nil {
			t.Error(err)
		}
		return []byte(out)
	}
	if out := string(list("name")); out != "wasmmodule.wasmgate.dev/m\n" {
		t.Errorf("%s", out)
	}
	inYAML, err := yaml.YAMLToJSONStrict(list("yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for format, text := range map[string][]byte{"json": list("json"), "yaml": inYAML} {
		var got struct {
			Kind  string
			Items []struct {
				Kind     string
				Metadata map[string]any
			}
		}
		if err := json.Unmarshal(text, &got); err != nil || got.Kind != "WasmModuleList" || len(got.Items) != 1 || got.Items[0].Metadata["name"] != "m" || got.Items[0].Metadata["managedFields"] != nil {
			t.Errorf("%s: %v\n%s", format, err, text)
		}
	}
	if _, err := command(t, "module", "list", "-o", "xml", "--kubeconfig", g.kubeconfig); err == nil || !strings.Contains(err.Error(), "want one of: json, yaml, name, wide") {
		t.Errorf("%v", err)
	}
}

// The wide table says what the other has no room for.
func TestModuleList_Wide(t *testing.T) {
	g := withModules(t, "up", "image", "inline")
	digest := digestOf([]byte("x"))
	g.later(modulesPath+"/image", func(obj map[string]any) {
		obj["spec"] = map[string]any{"source": map[string]any{"oci": map[string]any{"image": "example.com/m:1"}}}
		obj["status"] = map[string]any{"digest": digest, "size": 7, "hooks": []any{"wasmgate_convert", "wasmgate_admit"}, "candidate": map[string]any{"digest": "sha256:next"},
			"signedBy": []any{map[string]any{"authority": "a"}, map[string]any{"authority": "b"}}}
	})
	g.later(modulesPath+"/inline", func(obj map[string]any) {
		obj["spec"] = map[string]any{"source": map[string]any{"inline": "AA=="}}
	})
	for format, want := range map[string][]string{
		"wide": {"NAME READY SIZE HOOKS CONVERTS DIGEST AGE REASON SOURCE CANDIDATE SIGNER", "image Unknown 7 convert,admit " + digest, "example.com/m:1 sha256:next a,b", " inline", " upload"},
		"":     {"NAME READY SIZE HOOKS CONVERTS DIGEST AGE REASON", "image Unknown 7 convert,admit " + digest[len(digestPrefix):len(digestPrefix)+12] + " "},
	} {
		args := []string{"module", "list", "--kubeconfig", g.kubeconfig}
		if format != "" {
			args = append(args, "-o", format)
		}
		out, err := command(t, args...)
		var lines []string
		for line := range strings.Lines(out) {
			lines = append(lines, strings.Join(strings.Fields(line), " "))
		}
		text := strings.Join(lines, "\n")
		for _, w := range want {
			if err != nil || !strings.Contains(text, w) {
				t.Errorf("%s: missing %q: %v\n%s", format, w, err, text)
			}
		}
		if lines[0] != want[0] || strings.Contains(text, "a,b") != (format == "wide") {
			t.Errorf("%s:\n%s", format, text)
		}
	}
}
