package binary

import "bytes"

// SectionID says what a section holds.
type SectionID byte

// The sections of a module.
const (
	CustomSection SectionID = iota
	TypeSection
	ImportSection
	FunctionSection
	TableSection
	MemorySection
	GlobalSection
	ExportSection
	StartSection
	ElementSection
	CodeSection
	DataSection
	DataCountSection
)

var sectionNames = [...]string{"custom", "type", "import", "function", "table", "memory", "global",
	"export", "start", "element", "code", "data", "data count"}

// sectionOrder is where each section has to be: the data count comes before
// the code.
var sectionOrder = [...]int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 10}

// Kind is what an import or export is.
type Kind byte

// The kinds of imports and exports.
const (
	Func Kind = iota
	Table
	Memory
	Global
)

// The value types.
const (
	I32       = 0x7f
	I64       = 0x7e
	F32       = 0x7d
	F64       = 0x7c
	V128      = 0x7b
	FuncRef   = 0x70
	ExternRef = 0x6f
)

// Module is a module that was read. Everything in it is a part of the bytes or
// made of them; it may be read by several goroutines, and nobody changes it.
type Module struct {
	// Bytes are the whole module.
	Bytes []byte
	// Sections are all sections but custom ones, in order.
	Sections []Section

	Types   []FuncType
	Imports []Import
	// Funcs are the types of all functions, as indices in Types, imported ones
	// first; Tables, Memories and Globals begin with imported ones, too.
	Funcs    []uint32
	Tables   []TableType
	Memories []Limits
	Globals  []GlobalType
	Exports  []Export
	// Start is the function that runs first, -1 for none.
	Start int
	// ElementTypes are the types of the element segments.
	ElementTypes []byte
	// DataSegments is their number. It is known before the code is read only
	// if HasDataCount.
	DataSegments int
	HasDataCount bool
	// Data are those, known when all is read.
	Data []Data
	// Bodies are the bodies of the functions that are not imported.
	Bodies []Body

	imported [4]int // by kind
	cost     int    // of compiling all bodies
}

// Section is the place of a section in the bytes of its module.
type Section struct {
	ID SectionID
	// Start is where its header begins, Body where its content does; it ends
	// before End.
	Start, Body, End int
}

// FuncType is the type of a function; both are value types.
type FuncType struct {
	Params, Results []byte
}

// Import is one import.
type Import struct {
	Module, Name string
	Kind         Kind
	// Index is the index among all of its kind.
	Index uint32
}

// Limits are the sizes of a memory, in pages, or a table, in entries.
type Limits struct {
	Min uint32
	// Max counts only if HasMax.
	Max    uint32
	HasMax bool
}

// TableType is a table.
type TableType struct {
	Elem byte
	Limits
}

// GlobalType is a global.
type GlobalType struct {
	Type    byte
	Mutable bool
}

// Data is a data segment.
type Data struct {
	// At is where in the memory it is from the beginning; 0 where a global says so, or
	// nothing does.
	At    uint32
	Bytes []byte
}

// Export is one export.
type Export struct {
	Name  string
	Kind  Kind
	Index uint32
}

// Body is the place of a function body in the bytes of its module.
type Body struct {
	// Func is the index of the function.
	Func uint32
	// Start is where the declarations of locals begin, after the size; Code is
	// where the instructions begin; it ends before End.
	Start, Code, End int
	// Locals is the number of locals, parameters included.
	Locals int
}

// Imported is how many of a kind are imported.
func (m *Module) Imported(k Kind) int { return m.imported[k] }

// FuncType is the type of a function by its index, which must exist.
func (m *Module) FuncType(index uint32) FuncType { return m.Types[m.Funcs[index]] }

var magic = []byte{0, 'a', 's', 'm'}

// Decode reads a module. The error is an *[Error].
func Decode(module []byte) (*Module, error) {
	whole := newReader(module, 0, "")
	switch {
	case len(module) > MaxSize:
		whole.fail(OverLimit, "it has %d bytes, more than the limit of %d", len(module), MaxSize)
	case len(module) < 8 || !bytes.HasPrefix(module, magic):
		whole.fail(NotWasm, "the bytes are not a WebAssembly module")
	case !bytes.Equal(module[4:8], []byte{1, 0, 0, 0}):
		whole.fail(NotWasm, "it is not a core module of WebAssembly version 1 (a component, perhaps)")
	}
	if whole.err != nil {
		return nil, whole.err
	}
	m := &Module{Bytes: module, Start: -1}
	whole.pos = len(magic) + 4
	for last := 0; whole.left() > 0; {
		id := SectionID(whole.byte())
		start := whole.pos - 1
		size := whole.count("bytes of a section", 1, MaxSize)
		switch {
		case whole.err != nil:
		case int(id) >= len(sectionNames):
			whole.malformed("there is no section %d", id)
		case id != CustomSection && sectionOrder[id] == last:
			whole.malformed("it has two %s sections", sectionNames[id])
		case id != CustomSection && sectionOrder[id] < last:
			whole.malformed("its %s section is in the wrong place", sectionNames[id])
		}
		if whole.err != nil {
			return nil, whole.err
		}
		s := Section{ID: id, Start: start, Body: whole.pos, End: whole.pos + size}
		whole.pos = s.End
		r := newReader(module[:s.End], s.Body, sectionNames[id])
		if id == CustomSection {
			r.name()
		} else {
			last = sectionOrder[id]
			m.Sections = append(m.Sections, s)
			m.read(r, id)
			if r.err == nil && r.left() > 0 {
				r.malformed("%d bytes too many", r.left())
			}
		}
		if r.err != nil {
			return nil, r.err
		}
	}
	if m.complete(whole); whole.err != nil {
		return nil, whole.err
	}
	return m, nil
}

// read reads the content of a section.
func (m *Module) read(r *reader, id SectionID) {
	switch id {
	case TypeSection:
		m.readTypes(r)
	case ImportSection:
		m.readImports(r)
	case FunctionSection:
		m.readFunctions(r)
	case TableSection:
		m.readTables(r)
	case MemorySection:
		m.readMemories(r)
	case GlobalSection:
		m.readGlobals(r)
	case ExportSection:
		m.readExports(r)
	case StartSection:
		m.readStart(r)
	case ElementSection:
		m.readElements(r)
	case DataCountSection:
		m.DataSegments, m.HasDataCount = r.segments(), true
	case CodeSection:
		m.readCode(r)
	case DataSection:
		m.readData(r)
	}
}

// complete checks what only the end shows: sections that are missing.
func (m *Module) complete(r *reader) {
	if want := len(m.Funcs) - m.imported[Func]; len(m.Bodies) != want {
		r.malformed("it declares %d functions and has bodies for %d", want, len(m.Bodies))
	}
	if m.HasDataCount && m.DataSegments > 0 && m.section(DataSection) == nil {
		r.malformed("it says that it has %d data segments and has none", m.DataSegments)
	}
}

func (m *Module) section(id SectionID) *Section {
	for i := range m.Sections {
		if m.Sections[i].ID == id {
			return &m.Sections[i]
		}
	}
	return nil
}

// Content is the content of a section, nil if there is none.
func (m *Module) Content(id SectionID) []byte {
	if s := m.section(id); s != nil {
		return m.Bytes[s.Body:s.End]
	}
	return nil
}

// assembled are all sections but custom ones, in order.
var assembled = [...]SectionID{TypeSection, ImportSection, FunctionSection, TableSection, MemorySection, GlobalSection,
	ExportSection, StartSection, ElementSection, DataCountSection, CodeSection, DataSection}

// Assemble writes the module without its custom sections, with the content of
// some sections replaced, or added where there is none.
func (m *Module) Assemble(replaced map[SectionID][]byte) []byte {
	size := 8
	for _, id := range assembled {
		size += max(len(replaced[id]), len(m.Content(id))) + 6
	}
	out := make([]byte, 0, size)
	out = append(out, m.Bytes[:8]...)
	for _, id := range assembled {
		content, ok := replaced[id]
		if !ok {
			content = m.Content(id)
		}
		if content == nil {
			continue
		}
		out = append(out, byte(id))
		out = AppendU32(out, uint32(len(content)))
		out = append(out, content...)
	}
	return out
}

// AppendU32 appends a number as unsigned LEB128.
func AppendU32(dst []byte, v uint32) []byte {
	for ; v >= 0x80; v >>= 7 {
		dst = append(dst, byte(v)|0x80)
	}
	return append(dst, byte(v))
}

// Export is the export of a name.
func (m *Module) Export(name string) (e Export, ok bool) {
	for _, e := range m.Exports {
		if e.Name == name {
			return e, true
		}
	}
	return Export{}, false
}
