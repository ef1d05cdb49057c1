package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const previewPath = "/m/prioritize"

func TestPreview_WP03(t *testing.T) {
	g := newFakeGateway(t)
	file := filepath.Join(t.TempDir(), "vp.yaml")
	manifest := "apiVersion: wasmgate.dev/v1\nkind: VersionPriority\nspec: {module: m, groups: [example.com, other.example.com]}\n"
	if err := os.WriteFile(file, []byte(manifest), 0o600); err != nil {
		t.Fatal(err)
	}
	want := "GROUP               KUBERNETES ORDER   ORDER OF m\nexample.com         v2, v1             v1, v2\nother.example.com   v2, v1             v1, v2\n"
	for _, args := range [][]string{{"--module", "m", "example.com", "other.example.com"}, {"-f", file}} {
		out, err := command(t, append([]string{"version-priority", "preview", "--kubeconfig", g.kubeconfig}, args...)...)
		if err != nil || out != want {
			t.Errorf("%q: %s, %v", args, out, err)
		}
	}
	out, err := command(t, "version-priority", "preview", "--kubeconfig", g.kubeconfig, "--module", "m", "broken", "example.com", "odd")
	if err == nil || !strings.Contains(err.Error(), "broken: no: InternalError") || !strings.Contains(err.Error(), "odd: the gateway's answer has no request or no response") || !strings.Contains(out, "example.com") {
		t.Errorf("%s, %v", out, err)
	}
	if _, err := command(t, "version-priority", "preview", "--kubeconfig", g.kubeconfig, "--module", "none", "example.com"); err == nil || !strings.Contains(err.Error(), `example.com: there is no module "none"; see: wasmgate module list`) {
		t.Errorf("no module: %v", err)
	}
}

func TestPreviewNeedsAModuleAndGroups(t *testing.T) {
	g := newFakeGateway(t)
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	good := write("good", "kind: VersionPriority\nspec: {module: m, groups: [example.com]}\n")
	for want, args := range map[string][]string{
		"a module and at least one group are needed": {"example.com"},
		"at least one group":                         {"--module", "m"},
		"give either --module and groups, or -f":     {"--module", "m", "-f", good},
		"either --module and groups, or -f":          {"-f", good, "example.com"},
		"no such file":                               {"-f", filepath.Join(dir, "none")},
		`holds a "Pod", not a VersionPriority`:       {"-f", write("pod", "kind: Pod\n")},
		"a module and at least one group":            {"-f", write("empty", "kind: VersionPriority\n")},
		write("bad", "kind: [") + ": ":               {"-f", filepath.Join(dir, "bad")},
	} {
		if out, err := command(t, append([]string{"version-priority", "preview", "--kubeconfig", g.kubeconfig}, args...)...); err == nil || !strings.Contains(err.Error(), want) || out != "" {
			t.Errorf("%q: %s, %v", args, out, err)
		}
	}
	if out, err := command(t, "version-priority"); err != nil || !strings.Contains(out, "preview") {
		t.Errorf("%s, %v", out, err)
	}
}
