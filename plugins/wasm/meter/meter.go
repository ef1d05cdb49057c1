package meter

import "github.com/wasmgate/wasmgate/plugins/wasm/binary"

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
)

// HostCall is what a call of a function that was imported costs, besides the
// call itself.
const HostCall = 1000

// Sections are those sections of the module that differ when it is metered;
// they are put together with [binary.Module.Assemble].
//
// The import comes first, so the indices of all functions are higher by one.
// Each function that was imported before gets a function around it, after all
// others, and nothing else refers to it.
func Sections(m *binary.Module) (map[binary.SectionID][]byte, error) {
	w := &writer{m: m, fuel: uint32(len(m.Globals)), imported: uint32(m.Imported(binary.Func)), functions: uint32(len(m.Funcs))}
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
		sections[binary.StartSection] = w.appendFunc(nil, uint32(m.Start))
	}
	if m.Content(binary.ElementSection) != nil {
		sections[binary.ElementSection] = w.elements()
	}
	return sections, nil
}

// writer writes the sections of one module.
type writer struct {
	m *binary.Module
	// fuel is the index of the global.
	fuel uint32
	// imported and functions are how many functions the module has.
	imported, functions uint32
	room                binary.Code
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

// types gets the type of the import, which is the last.
func (w *writer) types() []byte {
	return append(w.more(binary.TypeSection, 1), 0x60, 1, binary.I64, 1, binary.I64)
}

func (w *writer) imports() []byte {
	old := cursor{w.m.Content(binary.ImportSection)}
	dst := binary.AppendU32(nil, old.u32()+1)
	dst = appendName(appendName(dst, Module), Import)
	dst = binary.AppendU32(append(dst, byte(binary.Func)), uint32(len(w.m.Types)))
	return append(dst, old.rest...)
}

// funcs gets the functions around imports.
func (w *writer) funcs() []byte {
	dst := w.more(binary.FunctionSection, w.imported)
	for _, t := range w.m.Funcs[:w.imported] {
		dst = binary.AppendU32(dst, t)
	}
	return dst
}

func (w *writer) globals() []byte {
	old := cursor{w.m.Content(binary.GlobalSection)}
	n := old.u32()
	dst := binary.AppendU32(nil, n+1)
	for range n {
		dst = append(dst, old.bytes(2)...) // type and mutability
		dst = w.appendConstant(dst, &old)
	}
	return append(dst, binary.I64, 1, opI64Const, 0, opEnd)
}

func (w *writer) exports() []byte {
	dst := binary.AppendU32(nil, uint32(len(w.m.Exports))+1)
	for _, e := range w.m.Exports {
		dst = append(appendName(dst, e.Name), byte(e.Kind))
		if e.Kind == binary.Func {
			dst = w.appendFunc(dst, e.Index)
		} else {
			dst = binary.AppendU32(dst, e.Index)
		}
	}
	dst = append(appendName(dst, Export), byte(binary.Global))
	return binary.AppendU32(dst, w.fuel)
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
