// Package plugintest owns the modules that tests run: well-behaved ones built
// from Go source, and tiny hand-made ones that break every rule there is.
//
// Only tests import it. It must not know the runtime or the registry.
package plugintest

import (
	"bytes"
	"encoding/binary"
	"maps"
	"sort"

	"github.com/wasmgate/wasmgate/plugins"
)

// The value types of parameters and results.
const (
	I32 = 0x7f
	I64 = 0x7e
)

// Guest is a module to be assembled.
type Guest struct {
	Imports []Import
	// Pages is the initial memory; 0 leaves the memory out.
	Pages uint32
	// TableEntries is the initial size of a table; 0 leaves it out.
	TableEntries uint32
	// Funcs are the functions by export name.
	Funcs map[string]Func
	// Start is the name of the function that runs when an instance is made.
	Start string
	// Data is put at address 1024.
	Data []byte
	// Raw is the content of sections by their number, whatever the rest says.
	Raw map[byte][]byte
}

// Import is an imported function.
type Import struct {
	Module, Name    string
	Params, Results []byte
}

// Func is an exported function. Its index in calls is its place in the order
// of names, after the imports.
type Func struct {
	Params, Results []byte
	// Locals are the declarations of locals, with their number; nil for none.
	Locals []byte
	// Code is the body without the final end.
	Code []byte
}

// DataAt is where Guest.Data is.
const DataAt = 1024

// Echo is a well-formed module whose hook replies with reply. It is the base of
// the others.
func Echo(reply string) Guest {
	return Guest{
		Pages: 2,
		Data:  []byte(reply),
		Funcs: map[string]Func{
			plugins.ExportABI:       {},
			plugins.ExportAlloc:     {Params: []byte{I32}, Results: []byte{I32}, Code: ConstI32(65536)},
			string(plugins.Convert): HookReturning(DataAt, uint32(len(reply))),
		},
	}
}

// With returns the guest with one function replaced.
func (g Guest) With(name string, f Func) Guest {
	g = g.Without(name)
	g.Funcs[name] = f
	return g
}

// Without returns the guest with one function left out.
func (g Guest) Without(name string) Guest {
	funcs := map[string]Func{}
	for k, v := range g.Funcs {
		if k != name {
			funcs[k] = v
		}
	}
	g.Funcs = funcs
	return g
}

// Index is the index of a function in calls.
func (g Guest) Index(name string) uint32 {
	for i, n := range g.names() {
		if n == name {
			return uint32(len(g.Imports) + i)
		}
	}
	return 0
}

func (g Guest) names() []string {
	var names []string
	for n := range g.Funcs {
		names = append(names, n)
	}
	sort.Strings(names)
	return names
}

// Hook is a function with the signature of a hook.
func Hook(code ...byte) Func {
	return Func{Params: []byte{I32, I32}, Results: []byte{I64}, Code: code}
}

// HookReturning is a hook that returns a position.
func HookReturning(ptr, size uint32) Func {
	return Hook(ConstI64(uint64(ptr)<<32 | uint64(size))...)
}

// Code fragments.
var (
	// Trap is unreachable.
	Trap = []byte{0x00}
	// Forever is an endless loop, followed by something that is never reached.
	Forever = []byte{0x03, 0x40, 0x0c, 0x00, 0x0b, 0x00}
)

// ConstI32 is i32.const.
func ConstI32(v int32) []byte { return signed([]byte{0x41}, int64(v)) }

// ConstI64 is i64.const.
func ConstI64(v uint64) []byte { return signed([]byte{0x42}, int64(v)) }

// Call is call.
func Call(index uint32) []byte { return binary.AppendUvarint([]byte{0x10}, uint64(index)) }

func signed(dst []byte, v int64) []byte {
	for {
		b := byte(v & 0x7f)
		v >>= 7
		if v == 0 && b&0x40 == 0 || v == -1 && b&0x40 != 0 {
			return append(dst, b)
		}
		dst = append(dst, b|0x80)
	}
}

// Bytes assembles the module.
func (g Guest) Bytes() []byte {
	var types, imports, funcs, exports, code [][]byte
	addType := func(params, results []byte) []byte {
		types = append(types, Join([]byte{0x60}, Counted(params), Counted(results)))
		return Number(len(types) - 1)
	}
	for _, i := range g.Imports {
		imports = append(imports, Join(Counted([]byte(i.Module)), Counted([]byte(i.Name)), []byte{0}, addType(i.Params, i.Results)))
	}
	for i, name := range g.names() {
		f := g.Funcs[name]
		funcs = append(funcs, addType(f.Params, f.Results))
		exports = append(exports, Join(Counted([]byte(name)), []byte{0}, Number(len(g.Imports)+i)))
		locals := f.Locals
		if locals == nil {
			locals = []byte{0}
		}
		code = append(code, Counted(Join(locals, f.Code, []byte{0x0b})))
	}
	contents := map[byte][]byte{1: list(types), 2: list(imports), 3: list(funcs), 10: list(code)}
	if g.TableEntries > 0 {
		contents[4] = List(Join([]byte{0x70, 0}, Number(int(g.TableEntries))))
	}
	if g.Pages > 0 {
		contents[5] = List(Join([]byte{0}, Number(int(g.Pages))))
		exports = append(exports, Join(Counted([]byte(plugins.ExportMemory)), []byte{2, 0}))
	}
	contents[7] = list(exports)
	if g.Start != "" {
		contents[8] = Number(int(g.Index(g.Start)))
	}
	if len(g.Data) > 0 {
		contents[11] = List(Join([]byte{0}, ConstI32(DataAt), []byte{0x0b}, Counted(g.Data)))
	}
	maps.Copy(contents, g.Raw)
	return Sections(contents)
}

// Sections assembles a module of the contents of its sections, by their
// number, in the order that the format wants.
func Sections(contents map[byte][]byte) []byte {
	out := []byte{0, 'a', 's', 'm', 1, 0, 0, 0}
	for _, id := range []byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 10, 11, 0} {
		if content := contents[id]; content != nil {
			out = append(append(out, id), Counted(content)...)
		}
	}
	return out
}

// Number is an unsigned number.
func Number(n int) []byte { return binary.AppendUvarint(nil, uint64(n)) }

// Counted is bytes after their number.
func Counted(b []byte) []byte { return append(Number(len(b)), b...) }

// List is items after their number.
func List(items ...[]byte) []byte { return Join(Number(len(items)), Join(items...)) }

// list is a list, but nil when there are no items.
func list(items [][]byte) []byte {
	if len(items) == 0 {
		return nil
	}
	return List(items...)
}

// Join puts parts together.
func Join(parts ...[]byte) []byte { return bytes.Join(parts, nil) }
