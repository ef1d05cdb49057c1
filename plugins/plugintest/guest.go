// Package plugintest makes modules for tests: well-behaved ones built from Go
// source, and tiny hand-made ones that break every rule there is.
//
// Only tests import it. It must not know the runtime or the registry.
package plugintest

import (
	"encoding/binary"
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
		types = append(types, join([]byte{0x60}, vec(params), vec(results)))
		return number(len(types) - 1)
	}
	for _, i := range g.Imports {
		imports = append(imports, join(vec([]byte(i.Module)), vec([]byte(i.Name)), []byte{0}, addType(i.Params, i.Results)))
	}
	for i, name := range g.names() {
		f := g.Funcs[name]
		funcs = append(funcs, addType(f.Params, f.Results))
		exports = append(exports, join(vec([]byte(name)), []byte{0}, number(len(g.Imports)+i)))
		code = append(code, vec(join([]byte{0}, f.Code, []byte{0x0b})))
	}
	out := []byte{0, 'a', 's', 'm', 1, 0, 0, 0}
	out = section(out, 1, types...)
	out = section(out, 2, imports...)
	out = section(out, 3, funcs...)
	if g.TableEntries > 0 {
		out = section(out, 4, join([]byte{0x70, 0}, number(int(g.TableEntries))))
	}
	if g.Pages > 0 {
		out = section(out, 5, join([]byte{0}, number(int(g.Pages))))
		exports = append(exports, join(vec([]byte(plugins.ExportMemory)), []byte{2, 0}))
	}
	out = section(out, 7, exports...)
	if g.Start != "" {
		out = append(append(out, 8), vec(number(int(g.Index(g.Start))))...)
	}
	out = section(out, 10, code...)
	if len(g.Data) > 0 {
		out = section(out, 11, join([]byte{0}, ConstI32(DataAt), []byte{0x0b}, vec(g.Data)))
	}
	return out
}

func section(out []byte, id byte, items ...[]byte) []byte {
	if len(items) == 0 {
		return out
	}
	return append(append(out, id), vec(join(number(len(items)), join(items...)))...)
}

func number(n int) []byte { return binary.AppendUvarint(nil, uint64(n)) }

func vec(b []byte) []byte { return append(number(len(b)), b...) }

func join(parts ...[]byte) []byte {
	var out []byte
	for _, p := range parts {
		out = append(out, p...)
	}
	return out
}
