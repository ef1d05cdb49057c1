package plugintest

import (
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// The packages that tests build.
const (
	// CronTab is the module of examples/crontab.
	CronTab = "github.com/wasmgate/wasmgate/examples/crontab/module"
	// Policy is the module of examples/policy.
	Policy = "github.com/wasmgate/wasmgate/examples/policy/module"
	// Kubewarden is the policy of examples/kubewarden.
	Kubewarden = "github.com/wasmgate/wasmgate/examples/kubewarden"
	// Releases is the module of examples/priority.
	Releases = "github.com/wasmgate/wasmgate/examples/priority/module"
	// Hostile converts between v1beta1 and v1 and does what the object's
	// field "mode" says; see its source.
	Hostile = "github.com/wasmgate/wasmgate/plugins/plugintest/hostile"
	// Keeper keeps what it was shown, to show it in a later call; see its source.
	Keeper = "github.com/wasmgate/wasmgate/plugins/plugintest/keeper"
	// Faulty replies what conversion/convtest/faults says.
	Faulty = "github.com/wasmgate/wasmgate/plugins/plugintest/faulty"
	// Lossy loses something of Widgets, in another way between other versions; see its
	// source.
	Lossy = "github.com/wasmgate/wasmgate/plugins/plugintest/lossy"
)

type built struct {
	once  sync.Once
	bytes []byte
	err   error
}

var builds sync.Map // package to *built

// Build builds a Go package as a module, once in each test binary.
func Build(t testing.TB, pkg string) []byte {
	t.Helper()
	entry, _ := builds.LoadOrStore(pkg, &built{})
	b := entry.(*built)
	b.once.Do(func() { b.bytes, b.err = build(pkg) })
	if b.err != nil {
		t.Fatalf("building %s: %v", pkg, b.err)
	}
	return b.bytes
}

func build(pkg string) ([]byte, error) {
	dir, err := os.MkdirTemp("", "wasmgate-module-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "module.wasm")
	cmd := exec.Command("go", "build", "-buildmode=c-shared", "-o", file, pkg)
	cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm")
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return nil, err
	}
	return os.ReadFile(file)
}
