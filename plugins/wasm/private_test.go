//go:build unix

package wasm

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Who can write to the cache runs code in the gateway.
func TestACacheThatOthersCanWriteToIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(t *testing.T, dir string)
		want  string
	}{
		"as it was made": {func(*testing.T, string) {}, ""},
		"readable":       {func(t *testing.T, dir string) { must(t, os.Chmod(dir, 0o755)) }, ""},
		"group":          {func(t *testing.T, dir string) { must(t, os.Chmod(dir, 0o720)) }, "cache can be written by others (drwx-w----)"},
		"everybody":      {func(t *testing.T, dir string) { must(t, os.Chmod(dir, 0o702)) }, "can be written by others"},
		"a file in it": {func(t *testing.T, dir string) {
			must(t, os.MkdirAll(filepath.Join(dir, "sub"), 0o700))
			must(t, os.WriteFile(filepath.Join(dir, "sub", "f"), nil, 0o600))
			must(t, os.Chmod(filepath.Join(dir, "sub", "f"), 0o606))
		}, "f can be written by others"},
		"a link in it": {func(t *testing.T, dir string) { must(t, os.Symlink("/", filepath.Join(dir, "l"))) }, "l is neither a file nor a folder"},
		"another owner": {func(t *testing.T, dir string) {
			if os.Geteuid() != 0 {
				t.Skip("only root can give files away")
			}
			must(t, os.Chown(dir, 12345, -1))
		}, "cache belongs to the user 12345, and the gateway runs as 0"},
		"a file": {func(t *testing.T, dir string) {
			must(t, os.Remove(dir))
			must(t, os.WriteFile(dir, nil, 0o600))
		}, "not a directory"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "cache")
			must(t, os.Mkdir(dir, 0o700))
			c.spoil(t, dir)
			e, err := NewEngine(t.Context(), Config{CacheDir: dir})
			if err == nil {
				must(t, e.Close(t.Context()))
			}
			if (err != nil) != (c.want != "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// What a module writes is bounded before anybody gets it.
func TestWhatAModuleLogsIsCut(t *testing.T) {
	var lines []string
	env := newEnvironment("m", func(_, line string) { lines = append(lines, line) })
	env.begin()
	for range 3 {
		env.Log([]byte(strings.Repeat("x", maxLog-1) + "\n"))
	}
	env.end()
	if len(lines) != 1 || len(lines[0]) != maxLog-1 || maxLog > 4<<10 {
		t.Errorf("%d lines", len(lines))
	}
	if words := env.lastWords(); len(words) > 310 {
		t.Errorf("%d bytes of last words", len(words))
	}
	env.begin()
	env.Log([]byte("again"))
	env.end()
	if len(lines) != 2 || lines[1] != "again" {
		t.Errorf("after begin: %q", lines)
	}
}
