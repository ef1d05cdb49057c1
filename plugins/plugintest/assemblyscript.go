package plugintest

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
)

// NodeModules gives a project in AssemblyScript the compiler that is installed in
// examples/assemblyscript, and the SDK in a folder, where npm would put both. Without a
// compiler it ends the test: it fails in CI, and is skipped elsewhere.
func NodeModules(t testing.TB, project, sdk string) {
	t.Helper()
	_, file, _, _ := runtime.Caller(0)
	installed := filepath.Join(filepath.Dir(file), "..", "..", "examples", "assemblyscript", "node_modules")
	if _, err := os.Stat(filepath.Join(installed, ".bin", "asc")); err != nil {
		Absent(t, "AssemblyScript", "(cd examples/assemblyscript && npm ci)")
	}
	modules := filepath.Join(project, "node_modules")
	if err := os.MkdirAll(modules, 0o700); err != nil {
		t.Fatal(err)
	}
	places := map[string]string{"wasmgate-sdk": sdk}
	for _, name := range []string{".bin", "assemblyscript", "binaryen", "long"} {
		places[name] = filepath.Join(installed, name)
	}
	for name, place := range places {
		if err := os.Symlink(place, filepath.Join(modules, name)); err != nil {
			t.Fatal(err)
		}
	}
}

// BuildAssemblyScript builds the module in a folder of this repository, named from its root,
// with the SDK of this repository, and returns its bytes.
func BuildAssemblyScript(t testing.TB, folder string) []byte {
	t.Helper()
	dir := t.TempDir()
	Sources(t, dir, "sdk/assemblyscript", folder)
	project := filepath.Join(dir, folder)
	NodeModules(t, project, filepath.Join(dir, "sdk", "assemblyscript"))
	cmd := exec.CommandContext(t.Context(), "npm", "run", "build")
	cmd.Dir = project
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("npm run build in %s: %v\n%s", folder, err, out)
	}
	made, err := filepath.Glob(filepath.Join(project, "*.wasm"))
	if err != nil || len(made) != 1 {
		t.Fatalf("asc left %v, %v", made, err)
	}
	module, err := os.ReadFile(made[0])
	if err != nil {
		t.Fatal(err)
	}
	return module
}
