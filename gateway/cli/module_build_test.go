package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/gateway/options/workbench"
)

// tool puts a program of that name, and no other, on the path.
func tool(t *testing.T, name, script string) {
	t.Helper()
	dir := t.TempDir()
	if name != "" {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir)
}

func TestBuildRunsTheToolsOfALanguage(t *testing.T) {
	is := workbench.Inspection{Size: 4, Hooks: []string{"wasmgate_convert"}, Conversions: []string{"v1->v2"}}
	for _, c := range []struct {
		name, sign, tool, script string
		args                     []string
		b                        bench
		exit                     int
		want                     string
	}{
		{"go", "go.mod", "go", `[ "$GOOS$GOARCH" = wasip1wasm ] && echo "$@" > "$4"`, nil, bench{is: is}, 0, "p.wasm: 4 bytes, wasmgate_convert; converts v1->v2"},
		{"TinyGo", "go.mod", "tinygo", `echo "$@" > "$6"`, []string{"--language", "tinygo"}, bench{is: is}, 0, "p.wasm: 4 bytes"},
		{"Rust", "Cargo.toml", "cargo", `echo x > target/wasm32-unknown-unknown/release/some.wasm`, nil, bench{is: is}, 0, "p.wasm: 4 bytes"},
		{"AssemblyScript, for programs", "package.json", "npm", `echo x > p.wasm`, []string{"-o", "json"}, bench{is: is}, 0, `"size": 4`},
		{"TypeScript, once more, under another name", "package.json", "npm", `/bin/mkdir build; echo x > build/q.wasm; echo old > p.wasm; echo old > o.wasm`, []string{"--language", "typescript"}, bench{is: is}, 0, "p.wasm: 4 bytes"},
		{"a tool is missing", "Cargo.toml", "", "", nil, bench{is: is}, 2, "cargo is needed for a module in rust, and is not installed: install Rust"},
		{"it does not compile", "go.mod", "go", "exit 3", nil, bench{is: is}, 1, "go build -buildmode=c-shared -o"},
		{"nothing came of it", "Cargo.toml", "cargo", "", nil, bench{is: is}, 1, "left 0 files"},
		{"a gateway would not take it", "go.mod", "go", `echo x > "$4"`, nil, bench{is: workbench.Inspection{Problem: "it lacks exports"}}, 1, "a gateway would not take it: it lacks exports"},
		{"nothing came of it, and the tool says nothing", "go.mod", "go", "", nil, bench{is: is}, 2, "p.wasm: no such file"},
		{"a folder came of it", "package.json", "npm", "/bin/mkdir -p build/q.wasm", nil, bench{is: is}, 2, "q.wasm: is a directory"},
		{"rules", "rules.yaml", "", "", nil, bench{}, 2, "has rules, of which nothing is built"},
		{"no project", "x", "", "", nil, bench{}, 2, "it has none of go.mod, Cargo.toml, package.json; begin one with: wasmgate module init"},
		{"no such language", "go.mod", "", "", []string{"--language", "c"}, bench{}, 2, "--language c is not known"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "p")
			if err := os.MkdirAll(filepath.Join(dir, "target", "wasm32-unknown-unknown", "release"), 0o777); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, c.sign), nil, 0o666); err != nil {
				t.Fatal(err)
			}
			tool(t, c.tool, c.script)
			out, exit, err := c.b.run(t, append([]string{"module", "build", dir}, c.args...)...)
			if err != nil {
				out += err.Error()
			}
			if exit != c.exit || !strings.Contains(out, c.want) {
				t.Errorf("status %d\n%s\nwant %d, %s", exit, out, c.exit, c.want)
			}
			if _, err := os.Stat(filepath.Join(dir, "p.wasm")); (err == nil) != (c.exit == 0 || strings.HasPrefix(c.name, "a gateway")) {
				t.Errorf("the module: %v", err)
			}
		})
	}
}

// The name of a project's folder may have any letters, and a tool that cannot be started is
// told.
func TestBuildInFoldersWithOddNames(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a[b*")
	if err := os.MkdirAll(filepath.Join(dir, "build"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "package.json"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	tool(t, "npm", "echo x > build/q.wasm")
	b := bench{is: workbench.Inspection{Size: 4}}
	if out, exit, err := b.run(t, "module", "build", dir); exit != 0 || !strings.Contains(out, "a[b*.wasm: 4 bytes") {
		t.Errorf("%d, %v\n%s", exit, err, out)
	}
	if err := os.WriteFile(filepath.Join(os.Getenv("PATH"), "npm"), []byte("#!/none/there\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if out, exit, err := b.run(t, "module", "build", dir); exit == 0 || err == nil || !strings.Contains(err.Error(), "npm: no such file") || out != "" {
		t.Errorf("%d, %v\n%s", exit, err, out)
	}
}
