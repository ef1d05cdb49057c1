package cli

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

const tabs = `# two of them
kind: Tab   # a tab
apiVersion: "v0" # old
---
kind:  Other
`

// folder is one with files in it.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// A command that waits for its standard input ends when it is interrupted.
func TestWaitingForInputIsInterrupted(t *testing.T) {
	in, out := io.Pipe()
	defer func() { _ = out.Close() }()
	ctx, cancel := context.WithCancel(t.Context())
	cmd := &cobra.Command{}
	cmd.SetContext(ctx)
	cmd.SetIn(in)
	go func() {
		_, _ = out.Write([]byte("apiVersion: v0\n")) // which has been read when it returns
		cancel()
	}()
	if _, err := readManifests([]string{standardInput}, standardIn(cmd)); err == nil || err.Error() != "-: interrupted while it was read" {
		t.Errorf("got %v", err)
	}
}

// Files and folders are converted, and what says the same stays as it was written.
func TestConvertOfFiles(t *testing.T) {
	wasm, b := written(t, "m.wasm", "wasm"), &bench{}
	one, bad := written(t, "o.yaml", "apiVersion: v0 # x\n"), written(t, "bad.yaml", "a: bad\n")
	lossy := written(t, "l.yaml", "# of it\n{apiVersion: v0} # y\n")
	convert := func(args ...string) (string, int, error) {
		return b.run(t, append([]string{"convert", "--to-version", "v1", "--module", wasm}, args...)...)
	}
	for _, c := range []struct {
		name string
		args []string
		exit int
		want string
	}{
		{"one object", []string{"-f", one}, 0, "apiVersion: v1 # x\n"},
		{"one object as JSON", []string{"-f", one, "-o", "json"}, 0, "{\"apiVersion\":\"v1\"}\n"},
		{"as JSON, with what stays and what is empty", []string{"-f", written(t, "r.yaml", tabs+"---\n# nothing\n"), "-o", "json"}, 0, "{\"apiVersion\":\"v1\",\"kind\":\"Tab\"}\n{\"kind\":\"Other\"}\n"},
		{"a check in a form", []string{"-f", one, "--check", "-o", "json"}, 2, ""},
		{"one that is JSON", []string{"-f", written(t, "o.json", `{"apiVersion":"v0"}`)}, 0, "{\n    \"apiVersion\": \"v1\"\n}\n"},
		{"some", []string{"-f", one, "-f", written(t, "p.yaml", tabs)}, 0, "apiVersion: v1 # x\n---\n" + strings.Replace(tabs, `"v0"`, "v1", 1)},
		{"one that cannot be converted", []string{"-f", bad}, 1, bad + ": document 1: it cannot\n"},
		{"comments that are lost", []string{"-f", lossy}, 0, lossy + ": document 1: comments are lost: # of it # y\napiVersion: v1\n"},
		{"no flags", nil, 2, ""},
		{"no such file", []string{"-f", "none.yaml"}, 2, ""},
		{"no YAML", []string{"-f", written(t, "p.yaml", "a: b: c")}, 2, ""},
		{"a check of one that changes", []string{"-f", one, "--check"}, 1, one + "\n"},
		{"a check of one that does not", []string{"-f", written(t, "q.yaml", "a: 1")}, 0, "a: 1\n"},
		{"in two ways", []string{"-f", one, "--check", "--write"}, 2, ""},
		{"to the standard input", []string{"-f", "-", "--write"}, 2, ""},
	} {
		if out, exit, err := convert(c.args...); exit != c.exit || out != c.want {
			t.Errorf("%s: status %d, %v\n%s\nwant %d\n%s", c.name, exit, err, out, c.exit, c.want)
		}
	}
	dir := folder(t, map[string]string{"a.yaml": tabs, "sub/b.yml": "apiVersion: v0", "sub/c.json": `{"apiVersion":"v0"}`, "d.txt": "v0", "e.yaml": "a: bad\n", "f.yaml": "# nothing\n"})
	out, exit, _ := convert("-f", dir, "--write")
	if want := filepath.Join(dir, "e.yaml") + ": document 1: it cannot\n"; exit != 1 || !strings.Contains(out, want) {
		t.Errorf("status %d\n%s\nwant\n%s", exit, out, want)
	}
	for name, want := range map[string]string{"a.yaml": strings.Replace(tabs, `"v0"`, "v1", 1), "sub/b.yml": "apiVersion: v1", "sub/c.json": "{\n    \"apiVersion\": \"v1\"\n}\n", "d.txt": "v0", "e.yaml": "a: bad\n", "f.yaml": "# nothing\n"} {
		if got, err := os.ReadFile(filepath.Join(dir, name)); string(got) != want {
			t.Errorf("%s: %v\n%s\nwant\n%s", name, err, got, want)
		}
	}
}
