// Package generating owns how tests run Kubernetes' validation-gen, to find out what
// it makes of types. It must not know whose types they are.
package generating

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// File is the name of the files that the generator makes.
const File = "zz_generated.validations.go"

// Build builds the generator, at the version that go.mod has it.
func Build(t testing.TB) (program string) {
	t.Helper()
	program = filepath.Join(t.TempDir(), "validation-gen")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, "k8s.io/code-generator/cmd/validation-gen").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return program
}

// Module makes a module like the one whose root is given, of some files by their paths.
func Module(t testing.TB, root string, files map[string]string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for _, name := range []string{"go.mod", "go.sum"} {
		Write(t, filepath.Join(dir, name), Read(t, filepath.Join(root, name)))
	}
	for name, text := range files {
		Write(t, filepath.Join(dir, name), text)
	}
	return dir
}

// Read reads a file.
func Read(t testing.TB, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Write writes a file and the folders above it.
func Write(t testing.TB, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// Run runs the generator in a module and returns what it says.
func Run(t testing.TB, program, dir string, args ...string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, append([]string{"--output-file=" + File}, args...)...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	return string(out), err
}
