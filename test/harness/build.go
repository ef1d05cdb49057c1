package harness

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"go.etcd.io/etcd/client/pkg/v3/fileutil"
)

// root is the module's root folder.
func root() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(file), "..", "..")
}

// cacheDir is a folder that outlives the test process and is shared by the
// test processes of all packages, so that each program is built once.
func cacheDir() (string, error) {
	base, err := os.UserCacheDir()
	if err != nil {
		base = os.TempDir()
	}
	sum := sha256.Sum256([]byte(root()))
	dir := filepath.Join(base, "wasmgate-test", hex.EncodeToString(sum[:6]))
	return dir, os.MkdirAll(dir, 0o755)
}

// program is one executable that is built at most once per test process. Test
// processes that want the same one at the same time wait for each other: the
// second then finds the work done in Go's build cache.
type program struct {
	name string
	dir  func() string
	args []string

	once sync.Once
	path string
	err  error
}

func (p *program) build(t testing.TB) string {
	t.Helper()
	path, err := p.get()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func (p *program) get() (string, error) {
	p.once.Do(func() {
		if p.path, p.err = p.make(); p.err != nil {
			p.err = fmt.Errorf("build %s: %w", p.name, p.err)
		}
	})
	return p.path, p.err
}

func (p *program) make() (string, error) {
	noteSources()
	dir, err := cacheDir()
	if err != nil {
		return "", err
	}
	lock, err := fileutil.LockFile(filepath.Join(dir, p.name+".lock"), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return "", err
	}
	defer lock.Close()
	path := filepath.Join(dir, p.name)
	return path, goBuild(p.dir(), path, nil, p.args...)
}

// noteSources reads the folders of the module, so that go test knows that the
// result depends on them: a program that is built by a test is no part of the
// test, and its changed sources would else leave a cached result standing.
func noteSources() {
	_ = filepath.WalkDir(root(), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && path != root() && (strings.HasPrefix(d.Name(), ".") || d.Name() == "node_modules") {
			return fs.SkipDir
		}
		return nil
	})
}

// goBuild builds the main package in dir.
func goBuild(dir, out string, env []string, args ...string) error {
	cmd := exec.Command("go", append(append([]string{"build"}, args...), "-o", out, ".")...)
	cmd.Dir = dir
	cmd.Env = append(append(os.Environ(), "GOWORK=off"), env...)
	if b, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go build in %s: %w\n%s", dir, err, b)
	}
	return nil
}

var wasmgate = &program{name: "wasmgate", dir: root}

// Binary builds the wasmgate program, once per test process, and returns its
// path.
func Binary(t testing.TB) string {
	t.Helper()
	return wasmgate.build(t)
}

// Module builds the main package in dir as a WebAssembly module, the way a
// module author does, and returns its bytes.
func Module(t testing.TB, dir string) []byte {
	t.Helper()
	out := filepath.Join(t.TempDir(), "module.wasm")
	if err := goBuild(dir, out, []string{"GOOS=wasip1", "GOARCH=wasm", "CGO_ENABLED=0"}, "-buildmode=c-shared"); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
