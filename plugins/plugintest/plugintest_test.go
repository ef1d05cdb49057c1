package plugintest

import (
	"encoding/binary"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/plugins"
)

// number reads a signed number as the format writes it.
func number(b []byte) (v int64, n int) {
	for shift := 0; ; shift += 7 {
		v |= int64(b[n]&0x7f) << shift
		if n++; b[n-1] < 0x80 {
			if b[n-1]&0x40 != 0 && shift+7 < 64 {
				v |= -1 << (shift + 7)
			}
			return v, n
		}
	}
}

// Constants are written in as few bytes as the format allows.
func TestConstants(t *testing.T) {
	for v, size := range map[int32]int{0: 1, 1: 1, 63: 1, 64: 2, -1: 1, -64: 1, -65: 2, 127: 2, 128: 2, 8191: 2, 8192: 3, 65536: 3, math.MaxInt32: 5, math.MinInt32: 5} {
		if code := ConstI32(v); code[0] != 0x41 || len(code) != 1+size {
			t.Errorf("%d: %x", v, code)
		} else if got, n := number(code[1:]); got != int64(v) || n != size {
			t.Errorf("%d is read as %d", v, got)
		}
	}
	for _, v := range []uint64{0, 63, 64, 1 << 40, math.MaxUint64, 1 << 63} {
		if got, n := number(ConstI64(v)[1:]); uint64(got) != v || n != len(ConstI64(v))-1 {
			t.Errorf("%d is read as %d", v, got)
		}
	}
	if code := Call(300); code[0] != 0x10 || code[1] != 0xac || code[2] != 2 {
		t.Errorf("%x", code)
	}
}

// sections are the contents of a module, and the order they come in.
func sections(t *testing.T, module []byte) (contents map[byte][]byte, order string) {
	t.Helper()
	contents = map[byte][]byte{}
	for rest := module[8:]; len(rest) > 0; {
		size, n := binary.Uvarint(rest[1:])
		contents[rest[0]] = rest[1+n : 1+n+int(size)]
		order += fmt.Sprint(rest[0], " ")
		rest = rest[1+n+int(size):]
	}
	return contents, strings.TrimSpace(order)
}

// A guest has the sections that it needs and no others, and functions by their names.
func TestGuests(t *testing.T) {
	g := Echo("{}")
	for name, c := range map[string]struct {
		Guest
		order string
	}{
		"an echo":          {g, "1 3 5 7 10 11"},
		"without memory":   {Guest{Funcs: g.Funcs}, "1 3 7 10"},
		"without anything": {Guest{}, ""},
		"with everything":  {Guest{Imports: []Import{{"m", "n", nil, nil}}, Pages: 1, TableEntries: 1, Funcs: g.Funcs, Start: plugins.ExportABI, Data: []byte("x")}, "1 2 3 4 5 7 8 10 11"},
		"with its own":     {Guest{Funcs: g.Funcs, Raw: map[byte][]byte{12: {1}, 0: {1, 'x'}, 10: nil}}, "1 3 7 12 0"},
	} {
		if _, order := sections(t, c.Bytes()); order != c.order {
			t.Errorf("%s has %q, want %q", name, order, c.order)
		}
	}
	g.Imports = []Import{{"m", "n", nil, nil}}
	names := slices.Sorted(maps.Keys(g.Funcs))
	for i, name := range names {
		if g.Index(name) != uint32(1+i) {
			t.Errorf("%s is %d", name, g.Index(name))
		}
	}
	if g.Index("none") != 0 {
		t.Error("what is not there has an index")
	}
	less, other := g.Without(plugins.ExportABI), g.With(plugins.ExportABI, Func{Locals: []byte{1, 2, I32}, Code: Trap})
	if len(less.Funcs) != 2 || len(g.Funcs) != 3 || string(other.Funcs[plugins.ExportABI].Code) != string(Trap) || len(g.Funcs[plugins.ExportABI].Code) != 0 {
		t.Errorf("%v %v %v", less.Funcs, g.Funcs, other.Funcs)
	}
	code, _ := sections(t, other.Bytes())
	if !strings.Contains(string(code[10]), "\x05\x01\x02\x7f\x00\x0b") {
		t.Errorf("%x lacks the locals", code[10])
	}
	start, _ := sections(t, Guest{Funcs: g.Funcs, Start: names[2]}.Bytes())
	if string(start[8]) != "\x02" {
		t.Errorf("it begins with %x", start[8])
	}
}

// Sources are copied without what building leaves behind, and a module is built once.
func TestSourcesAndBuilds(t *testing.T) {
	dir := t.TempDir()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	own, err := os.MkdirTemp(".", "testing-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(own)
	for _, name := range []string{"a", "sub/b", "sub/target/c", "target/d", "node_modules/e", "Cargo.lock", "sub/Cargo.lock"} {
		path := filepath.Join(own, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	folder := filepath.Join("plugins/plugintest", own)
	if _, err := os.Stat(filepath.Join(root, folder)); err != nil {
		t.Fatal(err)
	}
	Sources(t, dir, folder)
	var got []string
	if err := filepath.WalkDir(filepath.Join(dir, folder), func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			text, err := os.ReadFile(path)
			got = append(got, string(text))
			return err
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if strings.Join(got, " ") != "a sub/b" {
		t.Errorf("%q are copied", got)
	}
	module := Build(t, Lossy)
	if !strings.HasPrefix(string(module), "\x00asm") || &module[0] != &Build(t, Lossy)[0] {
		t.Error("it is no module, or built twice")
	}
	if _, err := build("./none"); err == nil {
		t.Error("what is not there is built")
	}
}
