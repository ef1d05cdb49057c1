package wasm

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/plugins"
	. "github.com/wasmgate/wasmgate/plugins/plugintest"
)

// elsewhere is a Compiler that counts, in place of another process.
type elsewhere struct {
	count   int
	terms   string
	compile func(module []byte, dir string) error
}

func (c *elsewhere) Terms() string { return c.terms }

func (c *elsewhere) Compile(ctx context.Context, module []byte, dir string) error {
	c.count++
	if c.compile != nil {
		return c.compile(module, dir)
	}
	return CompileInto(ctx, dir, module)
}

// restarted is an engine on a folder that other engines may have used.
func restarted(t *testing.T, dir string, c Compiler) *Engine {
	t.Helper()
	e, err := NewEngine(t.Context(), Config{CacheDir: dir, Compiler: c})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close(context.Background()) })
	return e
}

// runs tells whether a module can be loaded, and called.
func runs(t *testing.T, e *Engine, module []byte) error {
	t.Helper()
	m, err := e.Load(t.Context(), Source{Name: "m", Bytes: module})
	if err != nil {
		return err
	}
	defer m.Close(context.Background())
	i, err := m.Instantiate(t.Context())
	if err != nil {
		return err
	}
	defer i.Close()
	_, err = i.Call(t.Context(), plugins.Convert, []byte("{}"))
	return err
}

func folder(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "cache")
	must(t, os.Mkdir(dir, 0o700))
	return dir
}

// A module is compiled elsewhere once, and again only when its code is lost.
func TestCompiledElsewhereOnce(t *testing.T) {
	dir, c := folder(t), &elsewhere{}
	module := Echo("{}").Bytes()
	each := func(t *testing.T, pattern string, do func(path string) error) {
		t.Helper()
		found, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil || len(found) == 0 {
			t.Fatalf("no %s: %v", pattern, err)
		}
		for _, path := range found {
			must(t, do(path))
		}
	}
	for _, step := range []struct {
		name   string
		before func(t *testing.T)
		count  int
	}{
		{"a new module", func(*testing.T) {}, 1},
		{"after a restart", func(*testing.T) {}, 1},
		{"without the code", func(t *testing.T) { each(t, "wazero-*/*", os.Remove) }, 2},
		{"with half of the code", func(t *testing.T) {
			each(t, "wazero-*/*", func(path string) error { return os.Truncate(path, 100) })
		}, 3},
		{"with code that somebody changed", func(t *testing.T) {
			each(t, "wazero-*/*", func(path string) error {
				code, err := os.ReadFile(path)
				must(t, err)
				code[len(code)/2] ^= 1
				return os.WriteFile(path, code, 0o600)
			})
		}, 4},
		{"without the index", func(t *testing.T) { each(t, "index/*", os.Remove) }, 5},
		{"with half of a line of the index", func(t *testing.T) {
			each(t, "index/*", func(path string) error { return os.Truncate(path, 10) })
		}, 6},
		{"with code of another version only", func(t *testing.T) {
			each(t, "wazero-*/*", func(path string) error {
				other := filepath.Join(dir, "wazero-0-"+filepath.Base(path)[:8])
				must(t, os.MkdirAll(other, 0o700))
				return os.Rename(path, filepath.Join(other, filepath.Base(path)))
			})
			each(t, "index/*", func(path string) error {
				found, _ := filepath.Glob(filepath.Join(dir, "wazero-0-*", "*"))
				rel, err := filepath.Rel(dir, found[0])
				must(t, err)
				line, err := os.ReadFile(path)
				must(t, err)
				_, digest, _ := strings.Cut(string(line), " ")
				return os.WriteFile(path, []byte(rel+" "+digest), 0o600)
			})
		}, 7},
		{"at last", func(*testing.T) {}, 7},
	} {
		t.Run(step.name, func(t *testing.T) {
			step.before(t)
			if err := runs(t, restarted(t, dir, c), module); err != nil || c.count != step.count {
				t.Errorf("compiled %d times, not %d: %v", c.count, step.count, err)
			}
		})
	}
}

// What comes back is taken only if it is the one file that was asked for; this
// process never compiles.
func TestWhatComesBackFromTheCompiler(t *testing.T) {
	code := func(dir string) string {
		found, _ := filepath.Glob(filepath.Join(dir, "wazero-*", "*"))
		return found[0]
	}
	refusal := &plugins.LoadError{Reason: plugins.CompileTime, Detail: "too slow"}
	for name, c := range map[string]struct {
		compile func(t *testing.T, module []byte, dir string) error
		says    string
	}{
		"nothing":  {func(*testing.T, []byte, string) error { return nil }, "left no file behind"},
		"an error": {func(*testing.T, []byte, string) error { return errors.New("no process") }, "no process"},
		"a refusal": {func(*testing.T, []byte, string) error { return refusal },
			`wasm module "m": CompileTime: too slow`},
		"another file": {func(_ *testing.T, _ []byte, dir string) error {
			return os.WriteFile(filepath.Join(dir, "x"), nil, 0o600)
		}, `left "x" behind`},
		"two files": {func(t *testing.T, module []byte, dir string) error {
			must(t, CompileInto(t.Context(), dir, module))
			return os.WriteFile(filepath.Join(filepath.Dir(code(dir)), strings.Repeat("f", 64)), nil, 0o600)
		}, "behind"},
		"a link": {func(t *testing.T, module []byte, dir string) error {
			must(t, CompileInto(t.Context(), dir, module))
			path := code(dir)
			must(t, os.Rename(path, dir+"-aside"))
			return os.Symlink(dir+"-aside", path)
		}, "behind (L"},
		"code of another module": {func(t *testing.T, _ []byte, dir string) error {
			return CompileInto(t.Context(), dir, Echo("other").Bytes())
		}, "the compiled code is not in the cache"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := folder(t)
			err := runs(t, restarted(t, dir, &elsewhere{compile: func(module []byte, scratch string) error { return c.compile(t, module, scratch) }}), Echo("{}").Bytes())
			var refused *plugins.LoadError
			if err == nil || !strings.Contains(err.Error(), c.says) || errors.As(err, &refused) != (name == "a refusal") {
				t.Errorf("got %v, want %q", err, c.says)
			}
			if found, _ := filepath.Glob(filepath.Join(dir, "scratch-*[0-9]")); len(found) > 0 {
				t.Errorf("left %q", found)
			}
		})
	}
}

// What is too costly to compile is tried again under other terms, in another
// attempt, or as another module, and not because a gateway was started.
func TestWhatIsTooCostlyIsTriedOnce(t *testing.T) {
	dir := folder(t)
	reason := plugins.CompileMemory
	c := &elsewhere{terms: "1 GiB", compile: func([]byte, string) error {
		return &plugins.LoadError{Reason: reason, Detail: "more than 1 GiB"}
	}}
	first, second := Echo("first").Bytes(), Echo("second").Bytes()
	refusals := filepath.Join(dir, "refused", "*")
	for _, step := range []struct {
		name    string
		terms   string
		attempt string
		module  []byte
		limits  plugins.Limits
		before  func()
		count   int
		reason  plugins.LoadReason
	}{
		{"a new module", "1 GiB", "", first, plugins.Limits{}, nil, 1, plugins.CompileMemory},
		{"after a restart", "1 GiB", "", first, plugins.Limits{}, nil, 1, plugins.CompileMemory},
		{"with a limit that does not change it", "1 GiB", "", first, plugins.Limits{Fuel: 7}, nil, 1, plugins.CompileMemory},
		{"with a limit that does", "1 GiB", "", first, plugins.Limits{MemoryBytes: 1 << 20}, nil, 2, plugins.CompileMemory},
		{"another module", "1 GiB", "", second, plugins.Limits{}, nil, 3, plugins.CompileMemory},
		{"another attempt", "1 GiB", "again", first, plugins.Limits{}, nil, 4, plugins.CompileMemory},
		{"both attempts", "1 GiB", "", first, plugins.Limits{}, nil, 4, plugins.CompileMemory},
		{"other terms", "2 GiB", "", first, plugins.Limits{}, func() { reason = plugins.CompileTime }, 5, plugins.CompileTime},
		{"the same again", "2 GiB", "", first, plugins.Limits{}, nil, 5, plugins.CompileTime},
		{"an attempt from before", "2 GiB", "again", first, plugins.Limits{}, nil, 6, plugins.CompileTime},
		{"what a crash cut off", "2 GiB", "", first, plugins.Limits{}, func() {
			found, _ := filepath.Glob(refusals)
			for _, path := range found {
				must(t, os.Truncate(path, 10))
			}
		}, 7, plugins.CompileTime},
		{"another reason", "3 GiB", "", first, plugins.Limits{}, func() { reason = plugins.CompileFailed }, 8, plugins.CompileFailed},
		{"which is not remembered", "3 GiB", "", first, plugins.Limits{}, nil, 9, plugins.CompileFailed},
	} {
		if step.before != nil {
			step.before()
		}
		c.terms = step.terms
		_, err := restarted(t, dir, c).Load(t.Context(), Source{Name: "m", Bytes: step.module, Attempt: step.attempt, Limits: step.limits})
		var refused *plugins.LoadError
		if !errors.As(err, &refused) || refused.Reason != step.reason || refused.Module != "m" || c.count != step.count || strings.Contains(err.Error(), "remember") {
			t.Errorf("%s: compiled %d times, want %d: %v", step.name, c.count, step.count, err)
		}
	}
}

// What a process left that ended in the middle is removed by the next.
func TestScratchFoldersAreRemovedAtTheStart(t *testing.T) {
	dir := folder(t)
	must(t, os.MkdirAll(filepath.Join(dir, "scratch-1", "wazero"), 0o700))
	restarted(t, dir, &elsewhere{})
	if _, err := os.Stat(filepath.Join(dir, "scratch-1")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v", err)
	}
	if _, err := NewEngine(t.Context(), Config{Compiler: &elsewhere{}}); err == nil {
		t.Error("a compiler without a folder is accepted")
	}
}
