package wasm

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wasmgate/wasmgate/conversion/review"
	"github.com/wasmgate/wasmgate/plugins"
	. "github.com/wasmgate/wasmgate/plugins/plugintest"
)

var shared = sync.OnceValues(func() (*Engine, error) {
	return NewEngine(context.Background(), Config{Log: keepLog})
})

var (
	logMu sync.Mutex
	logs  []string
)

func keepLog(module, line string) {
	logMu.Lock()
	defer logMu.Unlock()
	logs = append(logs, module+": "+line)
}

func engine(t testing.TB) *Engine {
	t.Helper()
	e, err := shared()
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func load(t testing.TB, module []byte, limits plugins.Limits) *Module {
	t.Helper()
	m, err := engine(t).Load(t.Context(), Source{Name: "m", Bytes: module, Limits: limits})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Close(context.Background()) })
	return m
}

func start(t testing.TB, module []byte, limits plugins.Limits) *Instance {
	t.Helper()
	i, err := load(t, module, limits).Instantiate(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = i.Close() })
	return i
}

func TestLoadRefusesWithTheReason(t *testing.T) {
	echo := Echo("{}")
	convert := string(plugins.Convert)
	imports := func(i ...Import) []byte {
		g := echo
		g.Imports = i
		return g.Bytes()
	}
	noMemory, table, bigMemory := echo, echo, echo
	noMemory.Pages, noMemory.Data = 0, nil
	table.TableEntries = 1 << 26
	bigMemory.Pages = 2000
	badCode := echo.With(convert, Hook(0x41, 0))     // i32.const where an i64 is due
	badLocal := echo.With(convert, Hook(0x20, 0x63)) // local.get 99
	truncated := echo.Bytes()
	truncated = truncated[:len(truncated)-3]
	for _, c := range []struct {
		name   string
		module []byte
		reason plugins.LoadReason
		detail string
	}{
		{"empty", nil, plugins.NotWasm, "not a WebAssembly module"},
		{"text", []byte("#!/bin/sh\necho hello\n"), plugins.NotWasm, "not a WebAssembly module"},
		{"component", []byte{0, 'a', 's', 'm', 0x0d, 0, 1, 0}, plugins.NotWasm, "component"},
		{"truncated", truncated, plugins.Malformed, "which do not fit in the 6 bytes that are left"},
		{"too large", make([]byte, plugins.MaxModuleBytes+1), plugins.TooLarge, "more than"},
		{"no memory", noMemory.Bytes(), plugins.MissingExport, `"memory"`},
		{"no abi", echo.Without(plugins.ExportABI).Bytes(), plugins.MissingExport, `"wasmgate_abi_v1"`},
		{"no alloc", echo.Without(plugins.ExportAlloc).Bytes(), plugins.MissingExport, `"wasmgate_alloc"`},
		{"no hook", echo.Without(convert).Bytes(), plugins.MissingExport, `"wasmgate_convert"`},
		{"alloc signature", echo.With(plugins.ExportAlloc, Func{}).Bytes(), plugins.WrongSignature, `"wasmgate_alloc" is () -> ()`},
		{"hook signature", echo.With(convert, Func{Params: []byte{I32}, Results: []byte{I64}, Code: ConstI64(0)}).Bytes(), plugins.WrongSignature, `"wasmgate_convert" is (i32) -> (i64), but has to be (i32, i32) -> (i64)`},
		{"a program", echo.With(exportStart, Func{}).Bytes(), plugins.StartFailed, "-buildmode=c-shared"},
		{"foreign import", imports(Import{Module: "env", Name: "evil"}), plugins.ForeignImport, `"evil" from "env"`},
		{"unknown import of ours", imports(Import{Module: "wasmgate", Name: "exec"}), plugins.ForeignImport, `"exec" from "wasmgate"`},
		{"unknown WASI", imports(Import{Module: "wasi_snapshot_preview1", Name: "fork"}), plugins.ForeignImport, `"fork" from "wasi_snapshot_preview1"`},
		{"other WASI", imports(Import{Module: "wasi_unstable", Name: "fd_write"}), plugins.ForeignImport, `"wasi_unstable"`},
		{"import signature", imports(Import{Module: "wasmgate", Name: "log", Params: []byte{I64}}), plugins.WrongSignature, `"log" from "wasmgate" as (i64) -> ()`},
		{"metering's import", imports(Import{Module: "wasmgate_meter", Name: "refuel", Params: []byte{I64}, Results: []byte{I64}}), plugins.ForeignImport, `"refuel" from "wasmgate_meter"`},
		{"metering's export", echo.With("wasmgate_fuel", Func{}).Bytes(), plugins.Malformed, `"wasmgate_fuel", a name that the gateway keeps`},
		{"memory", bigMemory.Bytes(), plugins.MemoryLimit, "more than its limit"},
		{"table", table.Bytes(), plugins.TooLarge, "table section: 67108864 entries of tables, more than the limit of 1048576"},
		{"no such local", badLocal.Bytes(), plugins.Malformed, "function 2: local 99 does not exist; there are 2"},
		{"invalid code", badCode.Bytes(), plugins.CompileFailed, "invalid"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := engine(t).Load(t.Context(), Source{Name: "bad", Bytes: c.module})
			var refused *plugins.LoadError
			if !errors.As(err, &refused) {
				t.Fatalf("error is %v, want a LoadError", err)
			}
			if refused.Reason != c.reason || !strings.Contains(refused.Detail, c.detail) || refused.Module != "bad" {
				t.Errorf("got %v, want reason %s and %q in it", refused, c.reason, c.detail)
			}
		})
	}
}

func TestStartIsBoundedAndItsFailureTold(t *testing.T) {
	limits := plugins.Limits{Timeout: 100 * time.Millisecond}
	echo := Echo("{}")
	startLoop := echo.With("boot", Func{Code: Forever})
	startLoop.Start = "boot"
	for name, c := range map[string]struct {
		guest  Guest
		reason plugins.LoadReason
		want   string
	}{
		"start function loops": {startLoop, plugins.StartLate, "did not finish within"},
		"_initialize loops":    {echo.With("_initialize", Func{Code: Forever}), plugins.StartLate, "did not finish within"},
		"_initialize traps":    {echo.With("_initialize", Func{Code: Trap}), plugins.StartFailed, "unreachable"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := load(t, c.guest.Bytes(), limits).Instantiate(t.Context())
			var refused *plugins.LoadError
			if !errors.As(err, &refused) || refused.Reason != c.reason || !strings.Contains(refused.Detail, c.want) {
				t.Errorf("got %v, want %s with %q", err, c.reason, c.want)
			}
		})
	}
}

// recursion calls itself twice, n levels deep: 2^n calls and no loop.
func recursion() Guest {
	g := Echo("{}")
	g = g.With("zz_deep", Func{Params: []byte{I32}})
	deep := Call(g.Index("zz_deep"))
	minusOne := append(append([]byte{0x20, 0}, ConstI32(1)...), 0x6b)
	code := []byte{0x20, 0, 0x45, 0x04, 0x40, 0x0f, 0x0b} // if n == 0 return
	for range 2 {
		code = append(append(code, minusOne...), deep...)
	}
	g = g.With("zz_deep", Func{Params: []byte{I32}, Code: code})
	return g.With(string(plugins.Convert), Hook(append(append(ConstI32(60), deep...), ConstI64(0)...)...))
}

func TestHostileGuestsFailByKindAndLeaveOthersAlone(t *testing.T) {
	convert := string(plugins.Convert)
	echo := Echo("{}")
	good := start(t, Echo("hello").Bytes(), plugins.Limits{})
	for _, c := range []struct {
		name  string
		guest Guest
		kind  plugins.ErrorKind
		want  string
	}{
		{"traps", echo.With(convert, Hook(Trap...)), plugins.Trap, "unreachable"},
		{"loops", echo.With(convert, Hook(Forever...)), plugins.Deadline, "did not finish within"},
		{"recurses without a loop", recursion(), plugins.Deadline, "did not finish within"},
		{"loops in alloc", echo.With(plugins.ExportAlloc, Func{Params: []byte{I32}, Results: []byte{I32}, Code: Forever}), plugins.Deadline, "did not finish"},
		{"overflows the stack", echo.With(convert, endless(echo)), plugins.OutOfStack, "need more than"},
		{"alloc outside", echo.With(plugins.ExportAlloc, Func{Params: []byte{I32}, Results: []byte{I32}, Code: ConstI32(-16)}), plugins.BadReply, "outside of the module's memory"},
		{"reply outside", echo.With(convert, HookReturning(1<<31, 100)), plugins.BadReply, "outside of the module's memory"},
		{"reply ends outside", echo.With(convert, HookReturning(2*65536-4, 8)), plugins.BadReply, "outside of the module's memory"},
		{"reply wraps", echo.With(convert, HookReturning(0xffffffff, 0xff)), plugins.BadReply, "outside of the module's memory"},
		{"reply too large", echo.With(convert, HookReturning(0, 0xffffffff)), plugins.BadReply, "more than the limit"},
	} {
		t.Run(c.name, func(t *testing.T) {
			timeout := 20 * time.Second // what fails by itself has time to
			if c.kind == plugins.Deadline {
				timeout = 100 * time.Millisecond
			}
			bad := start(t, c.guest.Bytes(), plugins.Limits{Timeout: timeout})
			began := time.Now()
			_, err := bad.Call(t.Context(), plugins.Convert, []byte("{}"))
			var call *plugins.CallError
			if !errors.As(err, &call) || call.Kind != c.kind || !strings.Contains(call.Reason, c.want) {
				t.Errorf("got %v, want kind %s and %q", err, c.kind, c.want)
			}
			if took := time.Since(began); took > time.Minute {
				t.Errorf("it took %v", took)
			}
			if reply, err := good.Call(t.Context(), plugins.Convert, []byte("{}")); err != nil || string(reply) != "hello" {
				t.Errorf("another module: %q, %v", reply, err)
			}
		})
	}
}

// endless is a hook that calls itself.
func endless(g Guest) Func {
	code := append([]byte{0x20, 0, 0x20, 1}, Call(g.Index(string(plugins.Convert)))...)
	return Hook(code...)
}

func TestCallEndsWithItsContext(t *testing.T) {
	i := start(t, Echo("{}").With(string(plugins.Convert), Hook(Forever...)).Bytes(), plugins.Limits{Timeout: 20 * time.Second})
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := i.Call(ctx, plugins.Convert, nil)
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("got %v", err)
	}
}

func TestHookThatIsNotThere(t *testing.T) {
	i := start(t, Echo("{}").Bytes(), plugins.Limits{})
	_, err := i.Call(t.Context(), plugins.Admit, nil)
	var call *plugins.CallError
	if !errors.As(err, &call) || call.Kind != plugins.Refused {
		t.Fatalf("got %v", err)
	}
}

func TestConfigureAndDescribe(t *testing.T) {
	reply := `{"error":"no, thank you"}`
	g := Echo(reply).With(plugins.ExportConfigure, HookReturning(DataAt, uint32(len(reply))))
	m, err := engine(t).Load(t.Context(), Source{Name: "c", Bytes: g.Bytes(), Config: []byte(`{"a":1}`)})
	if err != nil {
		t.Fatal(err)
	}
	var refused *plugins.LoadError
	if _, err = m.Instantiate(t.Context()); !errors.As(err, &refused) || refused.Reason != plugins.ConfigRefused || !strings.Contains(refused.Detail, "no, thank you") {
		t.Errorf("got %v", err)
	}
	_, err = engine(t).Load(t.Context(), Source{Name: "c", Bytes: Echo("{}").Bytes(), Config: []byte(`{"a":1}`)})
	if !errors.As(err, &refused) || refused.Reason != plugins.ConfigRefused {
		t.Errorf("configuration without %s: %v", plugins.ExportConfigure, err)
	}
	describe := `{"name":"x"}`
	g = Echo(describe).With(plugins.ExportDescribe, Func{Results: []byte{I64}, Code: ConstI64(DataAt<<32 | uint64(len(describe)))})
	if got, err := start(t, g.Bytes(), plugins.Limits{}).Describe(t.Context()); err != nil || string(got) != describe {
		t.Errorf("description %q, %v", got, err)
	}
}

// convertOne sends one object of the given mode to the Go guest.
func convertOne(t testing.TB, i *Instance, mode string) ([]byte, error) {
	object := []byte(`{"apiVersion":"example.com/v1beta1","kind":"Thing","metadata":{"name":"a"},"mode":"` + mode + `"}`)
	reply, err := i.Call(t.Context(), plugins.Convert, review.AppendRequest(nil, review.V1, "u", "example.com/v1", [][]byte{object}))
	if err != nil {
		return nil, err
	}
	objects, err := review.ParseResponse(reply, review.V1, "u")
	if err != nil {
		return nil, err
	}
	return objects[0], nil
}

func TestGoGuest(t *testing.T) {
	limits := plugins.Limits{MemoryBytes: 32 << 20, Timeout: 30 * time.Second, ResponseBytes: 1 << 20}
	patient := load(t, Build(t, Hostile), limits)
	limits.Timeout = 4 * time.Second // in which it can still start
	hasty := load(t, Build(t, Hostile), limits)
	instance := func(m *Module) *Instance {
		i, err := m.Instantiate(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = i.Close() })
		return i
	}
	for _, c := range []struct {
		mode string
		kind plugins.ErrorKind
		want string
	}{
		{"panic", plugins.Trap, "it logged: panic: something is wrong"},
		{"exit", plugins.Trap, "exited with code 3"},
		{"loop", plugins.Deadline, "did not finish within 4s"},
		{"memory", plugins.OutOfMemory, "ran out of memory"},
		{"huge", plugins.BadReply, "more than the limit of 1048576"},
	} {
		t.Run(c.mode, func(t *testing.T) {
			m := patient
			if c.kind == plugins.Deadline {
				m = hasty
			}
			_, err := convertOne(t, instance(m), c.mode)
			var call *plugins.CallError
			if !errors.As(err, &call) || call.Kind != c.kind || !strings.Contains(call.Reason, c.want) {
				t.Errorf("got %v, want kind %s and %q", err, c.kind, c.want)
			}
		})
	}
	t.Run("log", func(t *testing.T) {
		if _, err := convertOne(t, instance(patient), "log"); err != nil {
			t.Fatal(err)
		}
		logMu.Lock()
		defer logMu.Unlock()
		if got := strings.Join(logs, "\n"); !strings.Contains(got, "m: from the import") || !strings.Contains(got, "m: from stderr") {
			t.Errorf("log: %s", got)
		}
	})
	t.Run("sees a world without time, files, environment or chance", func(t *testing.T) {
		a, err := convertOne(t, instance(patient), "world")
		if err != nil {
			t.Fatal(err)
		}
		b, err := convertOne(t, instance(patient), "world")
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(a, b) || !bytes.Contains(a, []byte(`"world":"2024-01-01T00:00:00Z 0 `)) || !bytes.Contains(a, []byte(" true ")) {
			t.Errorf("first %s\nsecond %s", a, b)
		}
	})
}

// files are the files below dir, with when they were written.
func files(t *testing.T, dir string) map[string]time.Time {
	t.Helper()
	found := map[string]time.Time{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		found[path] = info.ModTime()
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// What is compiled is written once, and read by the next engine:
// TestBrokenCacheIsNoRefusal shows that it is.
func TestCompilationCacheOnDisk(t *testing.T) {
	dir := t.TempDir()
	must(t, os.Chmod(dir, 0o700))
	var found [3]map[string]time.Time
	for n := range found {
		e, err := NewEngine(t.Context(), Config{CacheDir: dir})
		if err != nil {
			t.Fatal(err)
		}
		module := Echo("{}")
		if n == 2 {
			module = Echo("other")
		}
		if _, err := e.Load(t.Context(), Source{Name: "m", Bytes: module.Bytes()}); err != nil {
			t.Fatal(err)
		}
		if err := e.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		found[n] = files(t, dir)
	}
	if len(found[0]) == 0 || !maps.Equal(found[0], found[1]) || len(found[2]) <= len(found[1]) {
		t.Errorf("files after the first %v, again %v, another module %v", found[0], found[1], found[2])
	}
}

// A broken cache is not held against the module.
func TestBrokenCacheIsNoRefusal(t *testing.T) {
	dir := t.TempDir()
	must(t, os.Chmod(dir, 0o700))
	module := Echo("{}").Bytes()
	for n := range 2 {
		e, err := NewEngine(t.Context(), Config{CacheDir: dir})
		if err != nil {
			t.Fatal(err)
		}
		_, err = e.Load(t.Context(), Source{Name: "m", Bytes: module})
		var refused *plugins.LoadError
		if n == 0 && err != nil || n == 1 && (err == nil || errors.As(err, &refused)) {
			t.Errorf("load %d: %v", n, err)
		}
		if err := e.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			return os.Truncate(path, 5)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
