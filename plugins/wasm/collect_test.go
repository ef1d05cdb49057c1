package wasm

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wasmgate/wasmgate/plugins"
	. "github.com/wasmgate/wasmgate/plugins/plugintest"
)

// loaded is a module that says name.
func loaded(t *testing.T, e *Engine, name string) *Module {
	t.Helper()
	m, err := e.Load(t.Context(), Source{Name: name, Bytes: Echo(name).Bytes()})
	must(t, err)
	return m
}

// found are the names in folders of a cache.
func found(t *testing.T, dir, pattern string) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, pattern))
	must(t, err)
	return names
}

// Code is kept while a module uses it, for a day after that, and only so much.
func TestCodeThatIsNotUsedIsCollected(t *testing.T) {
	dir, c := folder(t), &elsewhere{}
	e := restarted(t, dir, c)
	collect := func(e *Engine, after time.Duration, want int) {
		t.Helper()
		must(t, e.kept.collect(time.Now().Add(after)))
		code, lines := found(t, dir, "wazero-*/*"), found(t, dir, "index/*")
		if len(code) != want || len(lines) != want {
			t.Errorf("%d files and %d lines are left, want %d", len(code), len(lines), want)
		}
	}
	used, gone := loaded(t, e, "used"), loaded(t, e, "gone")
	again := loaded(t, e, "gone") // two modules with the same content
	must(t, gone.Close(context.Background()))
	must(t, gone.Close(context.Background()))
	collect(e, 48*time.Hour, 2)
	must(t, again.Close(context.Background()))
	collect(e, 23*time.Hour, 2)
	collect(e, 25*time.Hour, 1)
	i, err := used.Instantiate(t.Context())
	must(t, err)
	must(t, i.Close())
	must(t, loaded(t, e, "gone").Close(context.Background())) // it comes again
	if c.count != 3 {
		t.Errorf("compiled %d times", c.count)
	}

	// Of what is not used the last is kept.
	must(t, loaded(t, e, "third").Close(context.Background()))
	for name, hours := range map[string]int{"gone": 3, "third": 2} {
		digest := e.digestOf(t, name)
		at := time.Now().Add(time.Duration(-hours) * time.Hour)
		must(t, os.Chtimes(e.kept.line(digest), at, at))
	}
	e.kept.opened = time.Now().Add(-48 * time.Hour)
	e.kept.most = 0
	for _, path := range found(t, dir, "wazero-*/*") {
		if info, err := os.Stat(path); err == nil {
			e.kept.most = max(e.kept.most, info.Size())
		}
	}
	collect(e, 0, 2)
	if !e.kept.has(e.digestOf(t, "third")) || e.kept.has(e.digestOf(t, "gone")) {
		t.Error("what was used before the other was kept")
	}
	e.kept.most = 0
	collect(e, 0, 1)

	// Time in which no process ran does not count, but after that none is spared:
	// neither code of another version, nor what the index does not know.
	old := time.Now().Add(-100 * time.Hour)
	must(t, os.Chtimes(e.kept.line(e.digestOf(t, "used")), old, old))
	must(t, os.Mkdir(filepath.Join(dir, "wazero-0"), 0o700))
	must(t, os.WriteFile(filepath.Join(dir, "wazero-0", "x"), nil, 0o600))
	next := restarted(t, dir, c)
	must(t, next.kept.collect(time.Now()))
	if n := len(found(t, dir, "wazero-*/*")); n != 2 {
		t.Errorf("%d files are left after a start", n)
	}
	collect(next, 25*time.Hour, 0)
	must(t, used.Close(context.Background()))
}

// digestOf is what the code of a module is kept under.
func (e *Engine) digestOf(t *testing.T, name string) string {
	t.Helper()
	_, prepared, err := e.prepare(Source{Name: name, Bytes: Echo(name).Bytes()}, plugins.Limits{}.Effective())
	must(t, err)
	return keyOf(prepared)
}

// What is being compiled, or was and is about to be taken, is left alone.
func TestWhatIsBeingCompiledIsNotCollected(t *testing.T) {
	dir := folder(t)
	var e *Engine
	c := &elsewhere{}
	c.compile = func(module []byte, scratch string) error {
		must(t, e.kept.collect(time.Now().Add(48*time.Hour)))
		return CompileInto(t.Context(), scratch, module)
	}
	e = restarted(t, dir, c)
	e.kept.most = 0
	ctx, stop := context.WithCancel(t.Context())
	var collecting sync.WaitGroup
	collecting.Go(func() {
		for ctx.Err() == nil {
			if err := e.kept.collect(time.Now().Add(48 * time.Hour)); err != nil {
				t.Error(err)
				return
			}
		}
	})
	for n := range 20 {
		must(t, loaded(t, e, fmt.Sprint(n)).Close(context.Background()))
	}
	stop()
	collecting.Wait()
}

// The last refusals are remembered.
func TestOldRefusalsAreForgotten(t *testing.T) {
	dir := folder(t)
	e := restarted(t, dir, &elsewhere{})
	must(t, e.Collect()) // there is nothing yet
	for n := range spareRefusals + 5 {
		path := filepath.Join(dir, refusedFolder, fmt.Sprintf("%04d", n))
		must(t, os.WriteFile(path, []byte("{}"), 0o600))
		at := time.Now().Add(time.Duration(n-5000) * time.Minute)
		must(t, os.Chtimes(path, at, at))
	}
	must(t, e.Collect())
	left := found(t, dir, "refused/*")
	if len(left) != spareRefusals || !strings.HasSuffix(slices.Min(left), "0005") {
		t.Errorf("%d are left, from %s", len(left), slices.Min(left))
	}
}
