package wasm

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero"

	"github.com/wasmgate/wasmgate/plugins/wasm/binary"
)

// TestAcceptsWhatTheRuntimeAccepts reads the modules of the specification's
// own tests, which come with the runtime: what that accepts is read, and is
// accepted again when it was assembled anew.
func TestAcceptsWhatTheRuntimeAccepts(t *testing.T) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/tetratelabs/wazero").Output()
	if err != nil {
		t.Fatalf("the runtime's source is not there: %v", err)
	}
	modules, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(out)), "internal/integration_test/spectest/v2/testdata/*.wasm"))
	if err != nil || len(modules) == 0 {
		t.Fatalf("the runtime's test data are not there: %v", err)
	}
	r := wazero.NewRuntimeWithConfig(t.Context(), wazero.NewRuntimeConfigInterpreter())
	defer r.Close(t.Context())
	accepted := 0
	for _, path := range modules {
		module, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		m, err := binary.Decode(module)
		var refused *binary.Error
		if errors.As(err, &refused) && refused.Problem == binary.OverLimit {
			continue
		}
		compiled, runtimeErr := r.CompileModule(t.Context(), module)
		if runtimeErr != nil {
			continue
		}
		if err := compiled.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		accepted++
		if filepath.Base(path) == "binary-leb128.81.wasm" { // a long form of an opcode is refused on purpose
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", filepath.Base(path), err)
			continue
		}
		if _, err := r.CompileModule(t.Context(), m.Assemble(nil)); err != nil {
			t.Errorf("%s, assembled: %v", filepath.Base(path), err)
		}
	}
	if accepted < 1000 { // the rest shows what has to be refused
		t.Errorf("the runtime accepts only %d of %d", accepted, len(modules))
	}
}
