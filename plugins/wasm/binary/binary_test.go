package binary_test

import (
	"bytes"
	"errors"
	"runtime"
	"strings"
	"testing"

	. "github.com/wasmgate/wasmgate/plugins/plugintest"
	"github.com/wasmgate/wasmgate/plugins/wasm/binary"
)

// allocated is what f allocates, in bytes.
func allocated(f func()) int64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return int64(after.TotalAlloc - before.TotalAlloc)
}

func TestBombsAreRefusedWithPlaceAndLimit(t *testing.T) {
	for _, b := range Bombs() {
		t.Run(b.Name, func(t *testing.T) {
			var m *binary.Module
			var err error
			used := allocated(func() { m, err = binary.Decode(b.Module) })
			var refused *binary.Error
			if m != nil || !errors.As(err, &refused) || !strings.Contains(err.Error(), b.Says) {
				t.Fatalf("got %v, want %q", err, b.Says)
			}
			if want := binary.OverLimit; strings.Contains(b.Says, "limit") && refused.Problem != want {
				t.Errorf("problem %v, want %v", refused.Problem, want)
			}
			if most := int64(20*len(b.Module) + 64<<10); used > most {
				t.Errorf("a module of %d bytes made it allocate %d", len(b.Module), used)
			}
		})
	}
}

// Just within each limit is accepted.
func TestModulesAtTheLimitsAreAccepted(t *testing.T) {
	many := func(n int, item ...byte) []byte { return Join(Number(n), bytes.Repeat(item, n)) }
	rep := func(n int, b ...byte) []byte { return bytes.Repeat(b, n) }
	raw := func(contents map[byte][]byte) []byte { return Sections(contents) }
	values := rep(1000, I32)
	for name, module := range map[string][]byte{
		"types":                    raw(map[byte][]byte{1: many(binary.MaxTypes, 0x60, 0, 0)}),
		"parameters":               raw(map[byte][]byte{1: Join([]byte{1, 0x60}, many(binary.MaxParams, I32), many(binary.MaxParams, I64))}),
		"functions":                raw(map[byte][]byte{1: {1, 0x60, 0, 0}, 3: many(binary.MaxFunctions, 0), 10: many(binary.MaxFunctions, 2, 0, 0x0b)}),
		"tables":                   raw(map[byte][]byte{4: many(binary.MaxTables, 0x70, 0, 1)}),
		"table entries":            raw(map[byte][]byte{4: Join([]byte{1, 0x6f, 0}, Number(binary.MaxTableEntries))}),
		"globals":                  raw(map[byte][]byte{6: many(binary.MaxGlobals, I32, 1, 0x41, 0, 0x0b)}),
		"element segments":         raw(map[byte][]byte{9: many(binary.MaxElementSegments, 1, 0, 0)}),
		"elements":                 raw(map[byte][]byte{1: {1, 0x60, 0, 0}, 3: {1, 0}, 9: Join([]byte{1, 1, 0}, many(binary.MaxElements, 0)), 10: {1, 2, 0, 0x0b}}),
		"data segments":            raw(map[byte][]byte{11: many(binary.MaxDataSegments, 1, 0), 12: Number(binary.MaxDataSegments)}),
		"no data, as it says":      raw(map[byte][]byte{12: {0}}),
		"memory":                   raw(map[byte][]byte{5: Join([]byte{1, 1}, Number(binary.MaxMemoryPages), Number(binary.MaxMemoryPages))}),
		"locals":                   With(Func{Params: []byte{I32}, Locals: Join([]byte{1}, Number(binary.MaxLocals-1), []byte{I32})}),
		"body":                     With(Func{Code: rep(binary.MaxBody-2, 0x01)}),
		"nesting":                  With(Func{Code: Join(rep(binary.MaxNesting-1, 0x02, 0x40), rep(binary.MaxNesting-1, 0x0b))}),
		"loops":                    With(Func{Code: Join(rep(binary.MaxLoopNesting, 0x03, 0x40), rep(binary.MaxLoopNesting, 0x0b))}),
		"loops, one after another": With(Func{Code: rep(binary.MaxLoopNesting+1, 0x03, 0x40, 0x0b)}),
		"blocks":                   With(Func{Code: rep(binary.MaxBlocks, 0x02, 0x40, 0x0b)}),
		"blocks that are loops":    With(Func{Code: rep(binary.MaxBlocks/4, 0x03, 0x40, 0x0b)}),
		"bulk instructions":        With(Func{Code: rep(binary.MaxBlocks/4, 0x41, 0, 0x40, 0, 0x1a)}),
		"blocks and locals":        With(Func{Locals: Join([]byte{1}, Number(1000), []byte{I32}), Code: rep(1000, 0x02, 0x40, 0x0b)}),
		"targets":                  With(Func{Code: Join([]byte{0x41, 0, 0x0e}, Number(binary.MaxTargets), rep(binary.MaxTargets+1, 0))}),
		"calls":                    With(Func{Results: values, Code: Join(rep(499, Call(3)...), Trap)}),
		"carried":                  With(Func{Results: values, Code: Join(Call(3), rep(1000, 0x41, 0, 0x0d, 0))}),
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := binary.Decode(module); err != nil {
				t.Error(err)
			}
		})
	}
}

// The smallest module says nothing but that it is one, and the largest has as many bytes as
// the limit says.
func TestTheSmallestAndTheLargestModule(t *testing.T) {
	smallest := []byte("\x00asm\x01\x00\x00\x00")
	if m, err := binary.Decode(smallest); err != nil || len(m.Sections) != 0 {
		t.Errorf("%+v, %v", m, err)
	}
	if _, err := binary.Decode(smallest[:7]); err == nil || !strings.Contains(err.Error(), "not a WebAssembly module") {
		t.Errorf("half of its version: %v", err)
	}
	size := Number(binary.MaxSize - len(smallest) - 5) // which takes 4 bytes
	largest := make([]byte, binary.MaxSize, binary.MaxSize+1)
	copy(largest, Join(smallest, []byte{0}, size, Counted([]byte("x"))))
	if _, err := binary.Decode(largest); err != nil {
		t.Errorf("the largest: %v", err)
	}
	var refused *binary.Error
	if _, err := binary.Decode(largest[:binary.MaxSize+1]); !errors.As(err, &refused) || refused.Problem != binary.OverLimit || !strings.Contains(err.Error(), "more than the limit of 67108864") {
		t.Errorf("a larger one: %v", err)
	}
}

// malformed is a module with one mistake, and what is said of it.
type malformed struct {
	name   string
	module []byte
	want   string
}

type sections = map[byte][]byte

// A type without parameters and results, a function of it, and its body.
var oneType, oneFunc, oneBody = []byte{1, 0x60, 0, 0}, []byte{1, 0}, []byte{1, 2, 0, 0x0b}

// malformedSections are modules whose mistakes are outside of functions.
func malformedSections() []malformed {
	after := func(module []byte, more ...byte) []byte { return append(module, more...) }
	empty := Sections(nil)
	return []malformed{
		{"nothing", nil, "not a WebAssembly module"},
		{"only the magic number", empty[:7], "not a WebAssembly module"},
		{"another version", []byte{0, 'a', 's', 'm', 2, 0, 0, 0}, "version 1"},
		{"too many bytes", make([]byte, binary.MaxSize+1), "67108865 bytes, more than the limit"},
		{"a section without a size", after(empty, 1), "it ends too early"},
		{"a section that is cut off", after(empty, 1, 5, 1), "5 bytes of a section follow, which do not fit in the 1 bytes"},
		{"an unknown section", after(empty, 13, 0), "there is no section 13"},
		{"two sections", after(Sections(sections{1: oneType}), 1, 1, 0), "it has two type sections"},
		{"two data counts", after(Sections(sections{12: {0}}), 12, 1, 0), "it has two data count sections"},
		{"the wrong order", after(Sections(sections{3: {0}}), 1, 1, 0), "its type section is in the wrong place"},
		{"code before the data count", after(Sections(sections{10: {0}}), 12, 1, 0), "its data count section is in the wrong place"},
		{"a section that is too long", after(empty, 1, 2, 0, 0), "type section: 1 bytes too many"},
		{"a section that is too short", after(empty, 1, 1, 1), "type section: it says that 1 types follow"},
		{"a custom section without a name", after(empty, 0, 1, 9), "custom section: it says that 9 bytes of a name"},
		{"a custom section with a bad name", after(empty, 0, 2, 1, 0xff), "not valid UTF-8"},
		{"a number of six bytes", after(empty, 1, 0x80, 0x80, 0x80, 0x80, 0x80, 0), "does not fit in 32 bits"},
		{"a number of one bit more", after(empty, 1, 0x80, 0x80, 0x80, 0x80, 0x10), "does not fit in 32 bits"},
		{"a number of 33 bits", after(empty, 1, 0xff, 0xff, 0xff, 0xff, 0x1f), "does not fit in 32 bits"},
		{"a form of type", Sections(sections{1: {1, 0x5f, 0, 0}}), "unknown form 0x5f"},
		{"a value type", Sections(sections{1: {1, 0x60, 1, 0x7a, 0}}), "0x7a is no value type"},
		{"a kind of import", Sections(sections{2: {1, 0, 0, 4, 0, 0}}), "unknown kind 4"},
		{"an import's type", Sections(sections{2: {1, 0, 0, 0, 0}}), "type 0 does not exist; there are 0"},
		{"a function's type", Sections(sections{1: oneType, 3: {1, 1}}), "type 1 does not exist; there are 1"},
		{"functions without bodies", Sections(sections{1: oneType, 3: oneFunc}), "it declares 1 functions and has bodies for 0"},
		{"bodies without functions", Sections(sections{10: oneBody}), "it declares 0 functions and has bodies for 1"},
		{"a shared memory", Sections(sections{5: {1, 3, 1, 1}}), "shared or 64 bits wide"},
		{"a memory that shrinks", Sections(sections{5: {1, 1, 2, 1}}), "the maximum 1 is below the minimum 2"},
		{"a memory of more than 4 GiB", Sections(sections{5: Join([]byte{1, 0}, Number(binary.MaxMemoryPages+1))}), "a memory of more than 65536 pages"},
		{"a memory that grows beyond 4 GiB", Sections(sections{5: Join([]byte{1, 1, 0}, Number(binary.MaxMemoryPages+1))}), "a memory of more than 65536 pages"},
		{"an imported memory and another", Sections(sections{2: {1, 0, 0, 2, 0, 1}, 5: {1, 0, 1}}), "2 memories, more than the limit of 1"},
		{"a table of numbers", Sections(sections{4: {1, I32, 0, 1}}), "0x7f is no reference type"},
		{"a global's mutability", Sections(sections{6: {1, I32, 2, 0x41, 0, 0x0b}}), "0x02 does not say whether a global is mutable"},
		{"a global of two instructions", Sections(sections{6: {1, I32, 0, 0x41, 0, 0x41, 0, 0x0b}}), "more than one instruction"},
		{"a global that computes", Sections(sections{6: {1, I32, 0, 0x6a, 0x0b}}), "instruction 0x6a in a constant expression"},
		{"a global made of a global", Sections(sections{6: {2, I32, 0, 0x41, 0, 0x0b, I32, 0, 0x23, 0, 0x0b}}), "imported global 0 does not exist"},
		{"a vector that computes", Sections(sections{6: {1, 0x7b, 0, 0xfd, 14, 0x0b}}), "vector instruction 14 in a constant expression"},
		{"a name twice", Sections(sections{5: {1, 0, 1}, 7: {2, 1, 'a', 2, 0, 1, 'a', 2, 0}}), `it exports "a" twice`},
		{"an exported function", Sections(sections{7: {1, 1, 'a', 0, 0}}), "function 0 does not exist"},
		{"an exported table", Sections(sections{7: {1, 1, 'a', 1, 0}}), "table 0 does not exist"},
		{"an exported memory", Sections(sections{7: {1, 1, 'a', 2, 0}}), "memory 0 does not exist"},
		{"an exported global", Sections(sections{7: {1, 1, 'a', 3, 0}}), "global 0 does not exist"},
		{"a kind of export", Sections(sections{7: {1, 1, 'a', 4, 0}}), "unknown kind 4"},
		{"a start that does not exist", Sections(sections{8: {0}}), "function 0 does not exist"},
		{"a start with parameters", Sections(sections{1: {1, 0x60, 1, I32, 0}, 3: oneFunc, 8: {0}, 10: oneBody}), "the start function has parameters or results"},
		{"a form of elements", Sections(sections{9: {1, 8, 0}}), "unknown form 8"},
		{"elements of no table", Sections(sections{9: {1, 0, 0x41, 0, 0x0b, 0}}), "table 0 does not exist"},
		{"elements of a kind", Sections(sections{9: {1, 1, 1, 0}}), "has to be zero is 0x01"},
		{"elements of a type", Sections(sections{9: {1, 5, I32, 0}}), "0x7f is no reference type"},
		{"elements that are no functions", Sections(sections{9: {1, 1, 0, 1, 0}}), "function 0 does not exist"},
		{"a form of data", Sections(sections{5: {1, 0, 1}, 11: {1, 3, 0}}), "data segment has the unknown form 3"},
		{"data without a memory", Sections(sections{11: {1, 0, 0x41, 0, 0x0b, 0}}), "a memory that does not exist"},
		{"data of another memory", Sections(sections{5: {1, 0, 1}, 11: {1, 2, 1, 0x41, 0, 0x0b, 0}}), "memory 1 does not exist; there are 1"},
		{"another number of data", Sections(sections{5: {1, 0, 1}, 11: {1, 1, 0}, 12: {2}}), "it has 1 data segments, but says 2 before"},
		{"data that are missing", Sections(sections{12: {2}}), "it says that it has 2 data segments and has none"},
	}
}

// malformedCode are modules with a function that is wrong.
func malformedCode() []malformed {
	function := func(code ...byte) []byte {
		return Sections(sections{1: oneType, 3: oneFunc, 4: {1, 0x70, 0, 1}, 5: {1, 0, 1}, 10: List(Counted(Join([]byte{0}, code, []byte{0x0b})))})
	}
	noMemory := func(code ...byte) []byte {
		return Sections(sections{1: oneType, 3: oneFunc, 10: List(Counted(Join([]byte{0}, code, []byte{0x0b})))})
	}
	return []malformed{
		{"no end", Sections(sections{1: oneType, 3: oneFunc, 10: {1, 2, 0, 1}}), "function 0: it ends too early"},
		{"an empty body", Sections(sections{1: oneType, 3: {2, 0, 0}, 10: {2, 0, 2, 0, 0x0b, 0, 0}}), "function 0: it ends too early"},
		{"a body that is too long", function(0x0b), "function 0: 1 bytes after its end"},
		{"a block that is open", function(0x02, 0x40), "function 0: it ends too early"},
		{"an unknown instruction", function(0x06), "unknown instruction 0x06"},
		{"an unknown misc instruction", function(0xfc, 18), "unknown instruction 0xfc"},
		{"an unknown vector instruction", function(0xfd, 0x9a, 0x01), "unknown instruction 0xfd9a"},
		{"a vector instruction beyond all", function(0xfd, 0x80, 0x02), "unknown instruction 0xfd"},
		{"a long form of an instruction", function(0xfd, 0x8e, 0x00), "unknown instruction 0xfd"},
		{"a long form of a misc instruction", function(0xfc, 0x80, 0x00), "unknown instruction 0xfc"},
		{"else without if", function(0x02, 0x40, 0x05, 0x0b), "else without if"},
		{"else twice", function(0x41, 0, 0x04, 0x40, 0x05, 0x05, 0x0b), "else without if"},
		{"a label", function(0x0c, 1), "label 1 does not exist; there are 1"},
		{"a label in a table", function(0x41, 0, 0x0e, 1, 0, 1), "label 1 does not exist; there are 1"},
		{"a block's type", function(0x02, 1, 0x0b), "type 1 does not exist; there are 1"},
		{"a block's negative type", function(0x02, 0xc0, 0x7f, 0x0b), "type -64 does not exist"},
		{"a block's value type", function(0x02, 0x41, 0x0b), "0x41 is no value type"},
		{"a function", function(0x10, 1), "function 1 does not exist; there are 1"},
		{"an indirect call's type", function(0x41, 0, 0x11, 1, 0), "type 1 does not exist"},
		{"an indirect call's table", function(0x41, 0, 0x11, 0, 1), "table 1 does not exist; there are 1"},
		{"a local", function(0x20, 0), "local 0 does not exist; there are 0"},
		{"a global", function(0x23, 0), "global 0 does not exist; there are 0"},
		{"a table", function(0x41, 0, 0x25, 1), "table 1 does not exist"},
		{"a second table", function(0xfc, 14, 0, 1), "table 1 does not exist"},
		{"a table to fill", function(0xfc, 12, 0, 0), "element segment 0 does not exist"},
		{"an element segment", function(0xfc, 13, 0), "element segment 0 does not exist"},
		{"a data segment without a count", function(0xfc, 9, 0), "does not say how many there are"},
		{"a memory that is not zero", function(0x3f, 1), "has to be zero is 0x01"},
		{"a copy to another memory", function(0xfc, 10, 0, 1), "has to be zero is 0x01"},
		{"a memory that is not there", noMemory(0x3f, 0), "a memory that does not exist"},
		{"an access without memory", noMemory(0x41, 0, 0x28, 2, 0), "a memory that does not exist"},
		{"an alignment", function(0x41, 0, 0x28, 5, 0), "an alignment of 2^5"},
		{"a lane", function(0xfd, 0x15, 16), "lane 16 of 16"},
		{"a lane of a shuffle", function(Join([]byte{0xfd, 0x0d}, bytes.Repeat([]byte{0}, 15), []byte{32})...), "lane 32 of 32"},
		{"a lane of a load", function(0x41, 0, 0xfd, 0x57, 0, 0, 2), "lane 2 of 2"},
		{"select of two types", function(0x1c, 2, I32, I32), "select with 2 types"},
		{"select of an unknown type", function(0x1c, 1, 0x60), "0x60 is no value type"},
		{"null of a number", function(0xd0, I32), "0x7f is no reference type"},
		{"a constant that is cut off", function(0x43, 0, 0), "it ends too early"},
		{"a constant of 33 bits", function(0x41, 0xff, 0xff, 0xff, 0xff, 0x0f), "does not fit in 32 bits"},
		{"a constant of 65 bits", function(0x42, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01), "does not fit in 64 bits"},
		{"a constant with nothing more in its last byte", function(0x41, 0x80, 0x80, 0x80, 0x80, 0x80, 0), "does not fit in 32 bits"},
		{"a constant with the wrong sign", function(0x41, 0xff, 0xff, 0xff, 0xff, 0x77), "does not fit in 32 bits"},
		{"a block without a type", Sections(sections{1: oneType, 3: oneFunc, 10: {1, 2, 0, 0x02}}), "function 0: it ends too early"},
		{"an instruction that is cut off", Sections(sections{1: oneType, 3: oneFunc, 10: {1, 2, 0, 0xfd}}), "function 0: it ends too early"},
		{"a constant that goes on", function(0x41, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f), "does not fit in 32 bits"},
	}
}

func TestMalformedModulesAreRefused(t *testing.T) {
	for _, c := range append(malformedSections(), malformedCode()...) {
		t.Run(c.name, func(t *testing.T) {
			m, err := binary.Decode(c.module)
			if m != nil || err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}
