package meter

import (
	"slices"
	"strconv"
	"strings"

	"github.com/wasmgate/wasmgate/plugins/wasm/binary"
)

// The names that a metered module uses. Nobody may offer them to a module, and
// a module that exports one of that name cannot be metered.
const (
	// Module has the function that a metered module imports.
	Module = "wasmgate_meter"
	// Import (left i64) -> i64 is told what is left, below zero for a debt, and
	// returns what may be spent next.
	Import = "refuel"
	// Export is the global, a mutable i64 that is zero at first.
	Export = "wasmgate_fuel"
	// Changed is a global, a mutable i32 that is zero at first, and 1 once the
	// module has changed something of itself besides its memory and the globals
	// that [Globals] names: a table, a segment, or a global that holds a
	// reference or a vector.
	Changed = "wasmgate_changed"
	// Start is a function, () -> (), of a module that has one to run first: it is
	// not run by itself any more.
	Start = "wasmgate_start"
	// Taken is a function, (i32) -> i64, of a module whose branches are marked: it says
	// which of 64 branches from a number on were taken, the first in the lowest bit,
	// and forgets it.
	Taken = "wasmgate_taken"
	// globalPrefix is what the names of other globals begin with.
	globalPrefix = "wasmgate_global_"
)

// Reserved reports whether a name is one that a metered module uses for itself.
func Reserved(name string) bool {
	return name == Export || name == Changed || name == Start || name == Taken || strings.HasPrefix(name, globalPrefix)
}

// Globals are the names under which a metered module exports those of its globals
// that it can change and that are numbers, so that somebody can put them back.
func Globals(m *binary.Module) []string {
	var names []string
	for i, g := range m.Globals {
		if restorable(g) {
			names = append(names, globalName(i))
		}
	}
	return names
}

func globalName(index int) string { return globalPrefix + strconv.Itoa(index) }

// restorable reports whether a global is a number that can change.
func restorable(g binary.GlobalType) bool {
	return g.Mutable && (g.Type == binary.I32 || g.Type == binary.I64 || g.Type == binary.F32 || g.Type == binary.F64)
}

// HostCall is what a call of a function that was imported costs, besides the
// call itself.
const HostCall = 1000

// Sections are those sections of the module that differ when it is metered;
// they are put together with [binary.Module.Assemble].
//
// The import comes first, so the indices of all functions are higher by one.
// Each function that was imported before gets a function around it, after all
// others, and nothing else refers to it. Branches are marked unless they are nil;
// the module then needs [Branches.Tables], too.
func Sections(m *binary.Module, b *Branches) (map[binary.SectionID][]byte, error) {
	w := &writer{m: m, branches: b, fuel: uint32(len(m.Globals)), changed: uint32(len(m.Globals)) + 1, imported: uint32(m.Imported(binary.Func)), functions: uint32(len(m.Funcs))}
	w.findLong()
	code, err := w.code()
	if err != nil {
		return nil, err
	}
	sections := map[binary.SectionID][]byte{
		binary.TypeSection:     w.types(),
		binary.ImportSection:   w.imports(),
		binary.FunctionSection: w.funcs(),
		binary.GlobalSection:   w.globals(),
		binary.ExportSection:   w.exports(),
		binary.CodeSection:     code,
	}
	if m.Start >= 0 {
		sections[binary.StartSection] = nil // none
	}
	if m.Content(binary.ElementSection) != nil {
		sections[binary.ElementSection] = w.elements()
	}
	return sections, nil
}

// writer writes the sections of one module.
type writer struct {
	m        *binary.Module
	branches *Branches // nil where they are not marked
	// fuel and changed are the indices of the globals.
	fuel, changed uint32
	// imported and functions are how many functions the module has.
	imported, functions uint32
	// long are the instructions that get a function, after those around imports.
	long []long
	room binary.Code
}

// appendFunc appends the new index of a function.
func (w *writer) appendFunc(dst []byte, old uint32) []byte {
	if old < w.imported {
		return binary.AppendU32(dst, 1+w.functions+old)
	}
	return binary.AppendU32(dst, 1+old)
}

// more begins a section with all items of the old one, of which there may be
// none, and more to come.
func (w *writer) more(id binary.SectionID, more uint32) []byte {
	old := cursor{w.m.Content(id)}
	n := old.u32()
	return append(binary.AppendU32(nil, n+more), old.rest...)
}

// types gets the types of the import, of long instructions and of [Taken], which are
// the last.
func (w *writer) types() []byte {
	more := uint32(2)
	if w.branches != nil {
		more++
	}
	dst := append(w.more(binary.TypeSection, more), 0x60, 1, binary.I64, 1, binary.I64)
	dst = append(dst, 0x60, 3, binary.I32, binary.I32, binary.I32, 0)
	if w.branches != nil {
		dst = append(dst, 0x60, 1, binary.I32, 1, binary.I64)
	}
	return dst
}

func (w *writer) imports() []byte {
	old := cursor{w.m.Content(binary.ImportSection)}
	dst := binary.AppendU32(nil, old.u32()+1)
	dst = appendName(appendName(dst, Module), Import)
	dst = binary.AppendU32(append(dst, byte(binary.Func)), uint32(len(w.m.Types)))
	return append(dst, old.rest...)
}

// own is how many functions it gets, besides those around imports.
func (w *writer) own() uint32 {
	if w.branches != nil {
		return uint32(len(w.long)) + 1
	}
	return uint32(len(w.long))
}

// funcs gets the functions around imports, those for long instructions, and [Taken].
func (w *writer) funcs() []byte {
	dst := w.more(binary.FunctionSection, w.imported+w.own())
	for _, t := range w.m.Funcs[:w.imported] {
		dst = binary.AppendU32(dst, t)
	}
	for range w.long {
		dst = binary.AppendU32(dst, uint32(len(w.m.Types))+1)
	}
	if w.branches != nil {
		dst = binary.AppendU32(dst, uint32(len(w.m.Types))+2)
	}
	return dst
}

func (w *writer) globals() []byte {
	old := cursor{w.m.Content(binary.GlobalSection)}
	n := old.u32()
	more := uint32(2)
	if w.branches != nil {
		more++
	}
	dst := binary.AppendU32(nil, n+more)
	for range n {
		dst = append(dst, old.bytes(2)...) // type and mutability
		dst = w.appendConstant(dst, &old)
	}
	dst = append(dst, binary.I64, 1, opI64Const, 0, opEnd)
	dst = append(dst, binary.I32, 1, opI32Const, 0, opEnd)
	if w.branches != nil { // what marks are: any function
		dst = append(dst, binary.FuncRef, 0, opRefFunc, 0, opEnd)
	}
	return dst
}

func (w *writer) exports() []byte {
	added := w.added()
	dst := binary.AppendU32(nil, uint32(len(w.m.Exports)+len(added)))
	for _, e := range append(slices.Clone(w.m.Exports), added...) {
		dst = append(appendName(dst, e.Name), byte(e.Kind))
		if e.Kind == binary.Func {
			dst = w.appendFunc(dst, e.Index)
		} else {
			dst = binary.AppendU32(dst, e.Index)
		}
	}
	return dst
}

// added are the exports that a module gets.
func (w *writer) added() (all []binary.Export) {
	if w.m.Start >= 0 {
		all = append(all, binary.Export{Name: Start, Kind: binary.Func, Index: uint32(w.m.Start)})
	}
	for i, g := range w.m.Globals {
		if restorable(g) {
			all = append(all, binary.Export{Name: globalName(i), Kind: binary.Global, Index: uint32(i)})
		}
	}
	if w.branches != nil {
		all = append(all, binary.Export{Name: Taken, Kind: binary.Func, Index: w.functions + w.imported + uint32(len(w.long))})
	}
	return append(all, binary.Export{Name: Export, Kind: binary.Global, Index: w.fuel}, binary.Export{Name: Changed, Kind: binary.Global, Index: w.changed})
}

// elements renumbers the functions in element segments. Bit 0 of a form says
// that the segment is not active; bit 1 that it names a table, or is only
// declared; bit 2 that the entries are expressions.
func (w *writer) elements() []byte {
	old := cursor{w.m.Content(binary.ElementSection)}
	n := old.u32()
	dst := binary.AppendU32(nil, n)
	for range n {
		form := old.u32()
		active, bit1, expressions := form&1 == 0, form&2 != 0, form&4 != 0
		dst = binary.AppendU32(dst, form)
		if active {
			if bit1 {
				dst = binary.AppendU32(dst, old.u32()) // table
			}
			dst = w.appendConstant(dst, &old)
		}
		if !active || bit1 {
			dst = append(dst, old.bytes(1)...) // kind or type
		}
		entries := old.u32()
		dst = binary.AppendU32(dst, entries)
		for range entries {
			if expressions {
				dst = w.appendConstant(dst, &old)
			} else {
				dst = w.appendFunc(dst, old.u32())
			}
		}
	}
	return dst
}

func appendName(dst []byte, name string) []byte {
	return append(binary.AppendU32(dst, uint32(len(name))), name...)
}
