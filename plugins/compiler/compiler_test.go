package compiler

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/wasmgate/wasmgate/plugins"
	"github.com/wasmgate/wasmgate/plugins/plugintest"
)

// TestMain makes the test's own program the compiler, as main does.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == Argument {
		os.Exit(Main(os.Args[2:], os.Stdin, os.Stdout))
	}
	if len(os.Args) > 1 && os.Args[1] == attack {
		os.Exit(attackFrom(os.Args[2:]))
	}
	os.Exit(m.Run())
}

// attack is the first argument of the test's program where it is a compiler that a
// module has taken over.
const attack = "attack"

func processes(t *testing.T, l Limits) *Processes {
	t.Helper()
	p, err := New(l)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// left are the files below a folder.
func left(t *testing.T, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*", "*"))
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestWhatAProcessMakesOfAModule(t *testing.T) {
	echo := plugintest.Echo("{}").Bytes()
	for name, c := range map[string]struct {
		limits Limits
		module []byte
		reason plugins.LoadReason // "" for none
		says   string
		memory bool // needs the limit of memory
	}{
		"a good one":             {Limits{0, time.Minute}, echo, "", "", false},
		"without limits":         {Limits{}, echo, "", "", false},
		"within its limits":      {Limits{256 << 20, time.Minute}, echo, "", "", true},
		"no module":              {Limits{}, []byte("bad"), plugins.CompileFailed, "invalid magic number", false},
		"one that takes time":    {Limits{0, time.Second}, plugintest.Slow(14), plugins.CompileTime, "compiling it takes more than the 1s of processor time", false},
		"one that takes memory":  {Limits{256 << 20, time.Minute}, plugintest.Hungry(), plugins.CompileMemory, "compiling it takes more memory than the 268435456 bytes", true},
		"one that does not fit":  {Limits{256 << 20, time.Minute}, make([]byte, 256<<20), plugins.CompileMemory, "more memory", true},
		"one that is impossible": {Limits{}, make([]byte, most+1), "-", "a module of 536870913 bytes", false},
	} {
		t.Run(name, func(t *testing.T) {
			if c.memory && raceDetector {
				t.Skip("the race detector needs more memory than any limit")
			}
			dir := t.TempDir()
			err := processes(t, c.limits).Compile(t.Context(), c.module, dir)
			var refused *plugins.LoadError
			switch files := left(t, dir); {
			case c.reason == "":
				if err != nil || len(files) != 1 {
					t.Errorf("%v, left %q", err, files)
				}
			case err == nil || errors.As(err, &refused) != (c.reason != "-") || refused != nil && refused.Reason != c.reason || !strings.Contains(err.Error(), c.says):
				t.Errorf("got %v, want %s: %s", err, c.reason, c.says)
			case len(files) != 0:
				t.Errorf("left %q", files)
			}
		})
	}
}

// A folder is meant as this process means it, which may be started in any other:
// the data directory is ./wasmgate-data by default.
func TestRelativeFolder(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.Mkdir("cache", 0o700); err != nil {
		t.Fatal(err)
	}
	err := processes(t, Limits{}).Compile(t.Context(), plugintest.Echo("").Bytes(), "cache")
	if files := left(t, "cache"); err != nil || len(files) != 1 || !strings.HasPrefix(files[0], "cache/wazero-") {
		t.Errorf("%v, left %q", err, files)
	}
}

// What lies in the machine, or in whoever ended the process, is not held
// against the module.
func TestVerdict(t *testing.T) {
	over, stop := context.WithTimeoutCause(t.Context(), 0, errHangs)
	defer stop()
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	limits := Limits{1 << 30, 10 * time.Second}
	for name, c := range map[string]struct {
		ctx    context.Context
		end    end
		said   string
		reason plugins.LoadReason // "" for an error of another kind
	}{
		"its say":                  {t.Context(), end{code: exitRefused}, "bad", plugins.CompileFailed},
		"a full disk":              {t.Context(), end{code: exitFailed}, "no space left on device", ""},
		"no memory for code":       {t.Context(), end{code: exitMemory}, "", plugins.CompileMemory},
		"Go without memory":        {t.Context(), end{code: 2}, "fatal error: runtime: out of memory", plugins.CompileMemory},
		"Go without a mapping":     {t.Context(), end{code: 2}, "fatal error: runtime: cannot allocate memory", plugins.CompileMemory},
		"Go without a thread":      {t.Context(), end{code: 2}, "runtime: failed to create new OS thread (have 2 already; errno=11) fatal error: newosproc", ""},
		"a panic":                  {t.Context(), end{code: 2}, "panic: x", plugins.CompileFailed},
		"a fault":                  {t.Context(), end{code: -1, how: "signal: segmentation fault"}, "", plugins.CompileFailed},
		"time is up":               {t.Context(), end{code: -1, killed: true, cpu: 10 * time.Second}, "", plugins.CompileTime},
		"killed by somebody":       {t.Context(), end{code: -1, killed: true, cpu: time.Second}, "", ""},
		"it hung":                  {over, end{code: -1, killed: true, cpu: time.Second}, "", plugins.Slow},
		"nobody waits for it":      {gone, end{code: -1, killed: true}, "", ""},
		"it had ended before that": {gone, end{code: exitRefused}, "bad", plugins.CompileFailed},
	} {
		err := limits.verdict(c.ctx, c.end, c.said)
		var refused *plugins.LoadError
		if err == nil || errors.As(err, &refused) != (c.reason != "") || refused != nil && refused.Reason != c.reason {
			t.Errorf("%s: got %v, want %s", name, err, c.reason)
		}
	}
}

func TestTheProcessEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	dir := t.TempDir()
	go func() {
		for ctx.Err() == nil { // until it compiles
			if files, _ := filepath.Glob(filepath.Join(dir, "*")); len(files) > 0 {
				cancel()
			}
		}
	}()
	if err := processes(t, Limits{}).Compile(ctx, plugintest.Slow(14), dir); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// A program that was not meant to compile is an error, and no refusal.
func TestAnotherProgram(t *testing.T) {
	for _, program := range []string{"/bin/false", "/nowhere/at/all"} {
		p := &Processes{program: program}
		var refused *plugins.LoadError
		if err := p.Compile(t.Context(), []byte("x"), t.TempDir()); err == nil || errors.As(err, &refused) {
			t.Errorf("%s: %v", program, err)
		}
	}
}

func TestArgumentsAndInputOfTheProcess(t *testing.T) {
	for name, c := range map[string]struct {
		args []string
		in   string
		says string
	}{
		"none":           {nil, "", "for the gateway's own use"},
		"bad memory":     {[]string{"d", "x", "0"}, "", "invalid syntax"},
		"bad time":       {[]string{"d", "0", "x"}, "", "invalid syntax"},
		"no module":      {[]string{"d", "0", "0"}, "", "read the module: EOF"},
		"half of a size": {[]string{"d", "0", "0"}, "\x00\x00", "unexpected EOF"},
		"half a module":  {[]string{"d", "0", "0"}, "\x00\x00\x00\x00\x00\x00\x00\x02x", "unexpected EOF"},
	} {
		if err := compile(c.args, strings.NewReader(c.in), func([]string, int64, int64) error { return nil }); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What the process says is bounded, and one line.
func TestHead(t *testing.T) {
	h := head{most: 600}
	for range 100 {
		if n, err := h.Write(bytes.Repeat([]byte("a\n\xff"), 10)); n != 30 || err != nil {
			t.Fatal(n, err)
		}
	}
	if text := h.text(); len(h.kept) != 600 || len(text) > 403 || strings.Contains(text, "\n") || !utf8.ValidString(text) || !strings.HasSuffix(text, "...") {
		t.Errorf("%d bytes, %q", len(h.kept), text)
	}
}
