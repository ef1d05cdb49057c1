package plugintest

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// Cargo returns an environment in which cargo builds for WebAssembly, and without network
// where Debian's packages are. Without one it ends the test: it fails in CI, and is skipped
// elsewhere.
func Cargo(t testing.TB) []string {
	t.Helper()
	for _, path := range []string{os.Getenv("PATH"), "/usr/bin" + string(os.PathListSeparator) + os.Getenv("PATH")} {
		cmd := exec.Command("sh", "-c", `command -v cargo >/dev/null && rustc --print target-libdir --target wasm32-unknown-unknown`)
		cmd.Env = append(os.Environ(), "PATH="+path)
		out, err := cmd.Output()
		if found, _ := filepath.Glob(filepath.Join(strings.TrimSpace(string(out)), "libcore-*")); err != nil || len(found) == 0 {
			continue
		}
		env := append(os.Environ(), "PATH="+path)
		const debian = "/usr/share/cargo/registry"
		if crates, _ := filepath.Glob(debian + "/serde_json-1.*"); len(crates) > 0 {
			home := t.TempDir()
			config := "[source.crates-io]\nreplace-with = \"debian\"\n[source.debian]\ndirectory = \"" + debian + "\"\n"
			if err := os.WriteFile(filepath.Join(home, "config.toml"), []byte(config), 0o600); err != nil {
				t.Fatal(err)
			}
			env = append(env, "CARGO_HOME="+home)
		}
		return env
	}
	Absent(t, "Rust for WebAssembly", "apt-get install cargo libstd-rust-dev-wasm32 lld librust-serde-json-dev")
	return nil
}

// Absent ends the test of a language whose compiler is not installed.
func Absent(t testing.TB, what, install string) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatalf("%s is absent, and CI must have it; install it with: %s", what, install)
	}
	t.Skipf("%s is absent; install it with: %s", what, install)
}

// Sources copies folders of this repository, named from its root, to the same places
// below another folder, without what building leaves behind: a lock file or objects of
// another version of the tools would be taken for the tests' own.
func Sources(t testing.TB, to string, folders ...string) {
	t.Helper()
	_, file, _, _ := runtime.Caller(0)
	root := filepath.Join(filepath.Dir(file), "..", "..")
	for _, folder := range folders {
		err := filepath.WalkDir(filepath.Join(root, folder), func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && slices.Contains([]string{"target", "node_modules"}, d.Name()):
				return fs.SkipDir
			case d.IsDir() || d.Name() == "Cargo.lock":
				return nil
			}
			name, err := filepath.Rel(root, path)
			if err != nil {
				return err
			}
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			if err := os.MkdirAll(filepath.Dir(filepath.Join(to, name)), 0o700); err != nil {
				return err
			}
			return os.WriteFile(filepath.Join(to, name), data, 0o600)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// BuildRust builds the module in a folder of this repository, named from its root, with the
// SDK of this repository, and returns its bytes.
func BuildRust(t testing.TB, folder string) []byte {
	t.Helper()
	env, dir := Cargo(t), t.TempDir()
	Sources(t, dir, "sdk/rust", folder)
	cmd := exec.Command("sh", "-c", `exec cargo build --release --target wasm32-unknown-unknown --target-dir "$0"`, filepath.Join(dir, "target"))
	cmd.Dir, cmd.Env = filepath.Join(dir, folder), env
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("cargo build in %s: %v\n%s", folder, err, out)
	}
	made, err := filepath.Glob(filepath.Join(dir, "target", "wasm32-unknown-unknown", "release", "*.wasm"))
	if err != nil || len(made) != 1 {
		t.Fatalf("cargo left %v, %v", made, err)
	}
	module, err := os.ReadFile(made[0])
	if err != nil {
		t.Fatal(err)
	}
	return module
}
