package plugintest

import (
	"bytes"
	"strconv"

	"github.com/wasmgate/wasmgate/plugins/wasm/binary"
)

// Bomb is a module that costs far more than its size to whoever believes it.
type Bomb struct {
	Name   string
	Module []byte
	// Says is what the refusal has to say: where, and which limit.
	Says string
}

// huge is a count that nothing stands behind.
const huge = 2_000_000_000

// Bombs are modules that have to be refused before anything is stored or
// compiled. But for what is told by the name, each keeps to the ABI.
func Bombs() []Bomb {
	return append(countBombs(), append(sectionBombs(), codeBombs()...)...)
}

// countBombs say that more follows than there is.
func countBombs() []Bomb {
	raw := func(id byte, content ...[]byte) []byte {
		g := Echo("{}")
		g.Raw = map[byte][]byte{id: Join(content...)}
		return g.Bytes()
	}
	name := Counted([]byte("x"))
	return []Bomb{
		{"number of types", raw(1, Number(huge), []byte{0x60, 0, 0}), "type section: it says that 2000000000 types follow"},
		{"number of parameters", raw(1, Number(1), []byte{0x60}, Number(huge), []byte{I32}), "type section: it says that 2000000000 parameters"},
		{"number of imports", raw(2, Number(huge), name, name, []byte{0, 0}), "import section: it says that 2000000000 imports"},
		{"length of a name", raw(2, Number(1), Number(huge)), "import section: it says that 2000000000 bytes of a name"},
		{"number of functions", raw(3, Number(huge), []byte{0}), "function section: it says that 2000000000 functions"},
		{"number of tables", raw(4, Number(huge), []byte{0x70, 0, 1}), "table section: it says that 2000000000 tables"},
		{"number of globals", raw(6, Number(huge), []byte{I32, 0, 0x41, 0, 0x0b}), "global section: it says that 2000000000 globals"},
		{"number of exports", raw(7, Number(huge), name, []byte{0, 0}), "export section: it says that 2000000000 exports"},
		{"number of element segments", raw(9, Number(huge), []byte{1, 0, 0}), "element section: it says that 2000000000 element segments"},
		{"number of elements", raw(9, Number(1), []byte{1, 0}, Number(huge)), "element section: it says that 2000000000 elements"},
		{"number of bodies", raw(10, Number(huge), []byte{2, 0, 0x0b}), "code section: it says that 2000000000 function bodies"},
		{"number of groups of locals", With(Func{Locals: Number(huge)}), "function 3: it says that 2000000000 groups of locals"},
		{"number of targets", With(Func{Code: Join([]byte{0x41, 0, 0x0e}, Number(huge))}), "function 3: it says that 2000000000 targets of branch tables"},
		{"number of data segments", raw(11, Number(huge), []byte{1, 0}), "data section: it says that 2000000000 data segments"},
		{"bytes of data", raw(11, Number(1), []byte{1}, Number(huge)), "data section: it says that 2000000000 bytes of data"},
		{"data count", raw(12, Number(huge)), "data count section: 2000000000 data segments, more than the limit of 100000"},
	}
}

// sectionBombs have more of something than the limit.
func sectionBombs() []Bomb {
	raw := func(id byte, content []byte) []byte {
		g := Echo("{}")
		g.Raw = map[byte][]byte{id: content}
		return g.Bytes()
	}
	many := func(n int, item ...byte) []byte { return Join(Number(n), bytes.Repeat(item, n)) }
	long := bytes.Repeat([]byte("x"), binary.MaxName+1)
	functions := Echo("{}")
	functions.Raw = map[byte][]byte{3: many(binary.MaxFunctions+1, 0), 10: many(binary.MaxFunctions+1, 2, 0, 0x0b)}
	return []Bomb{
		{"types", raw(1, many(binary.MaxTypes+1, 0x60, 0, 0)), "type section: 50001 types, more than the limit of 50000"},
		{"parameters", raw(1, Join([]byte{1, 0x60}, many(binary.MaxParams+1, I32), []byte{0})), "type section: 1001 parameters of a type, more than the limit of 1000"},
		{"results", raw(1, Join([]byte{1, 0x60, 0}, many(binary.MaxParams+1, I32))), "type section: 1001 results of a type, more than the limit of 1000"},
		{"parameters and results of all types", raw(1, many(binary.MaxTypeValues/1000+1, Join([]byte{0x60}, many(500, I32), many(500, I32))...)), "type section: 201000 parameters and results of all types, more than the limit of 200000"},
		{"imports", raw(2, many(binary.MaxImports+1, 1, 'm', 1, 'n', 0, 0)), "import section: 10001 imports, more than the limit of 10000"},
		{"a name", raw(2, Join([]byte{1}, Counted(long), []byte{0, 0, 0})), "import section: 4097 bytes of a name, more than the limit of 4096"},
		{"functions", functions.Bytes(), "function section: 200001 functions, more than the limit of 200000"},
		{"tables", raw(4, many(binary.MaxTables+1, 0x70, 0, 1)), "table section: 17 tables, more than the limit of 16"},
		{"table entries", raw(4, Join([]byte{1, 0x70, 0}, Number(binary.MaxTableEntries+1))), "table section: 1048577 entries of tables, more than the limit of 1048576"},
		{"entries of all tables", raw(4, Join([]byte{2, 0x70, 0}, Number(binary.MaxTableEntries), []byte{0x70, 0, 1})), "table section: 1048577 entries of tables"},
		{"memories", raw(5, []byte{2, 0, 1, 0, 1}), "memory section: 2 memories, more than the limit of 1"},
		{"globals", raw(6, many(binary.MaxGlobals+1, I32, 0, 0x41, 0, 0x0b)), "global section: 10001 globals, more than the limit of 10000"},
		{"exports", raw(7, exports(binary.MaxExports+1)), "export section: 10001 exports, more than the limit of 10000"},
		{"element segments", raw(9, many(binary.MaxElementSegments+1, 1, 0, 0)), "element section: 10001 element segments, more than the limit of 10000"},
		{"elements", raw(9, Join([]byte{1, 1, 0}, many(binary.MaxElements+1, 0))), "element section: 1048577 elements, more than the limit of 1048576"},
		{"data segments", raw(11, many(binary.MaxDataSegments+1, 1, 0)), "data section: 100001 data segments, more than the limit of 100000"},
	}
}

// exports are n exports of function 0.
func exports(n int) []byte {
	out := Number(n)
	for i := range n {
		out = append(append(out, Counted([]byte(strconv.Itoa(i)))...), 0, 0)
	}
	return out
}

// With is a module with one more function, whose index is 3.
func With(f Func) []byte {
	return Echo("{}").With("zz_bomb", f).Bytes()
}

// codeBombs are functions that are small, or not so small, and hard to
// compile.
func codeBombs() []Bomb {
	rep := func(n int, b ...byte) []byte { return bytes.Repeat(b, n) }
	locals := func(n int) []byte { return Join([]byte{1}, Number(n), []byte{I32}) }
	table := func(n int) []byte {
		return Join([]byte{0x02, 0x40, 0x41, 0, 0x0e}, Number(n), rep(n+1, 0), []byte{0x0b})
	}
	values := rep(1000, I32)
	calls := Func{Results: values, Code: Join(rep(600, Call(3)...), Trap)}
	branches := Func{Results: values, Code: Join(Call(3), rep(1001, 0x41, 0, 0x0d, 0))}
	return []Bomb{
		{"locals", With(Func{Locals: locals(huge)}), "function 3: 2000000000 locals, more than the limit of 50000"},
		{"locals and parameters", With(Func{Params: []byte{I32}, Locals: locals(binary.MaxLocals)}), "function 3: 50001 locals, more than the limit of 50000"},
		{"groups of locals", With(Func{Locals: Join([]byte{3}, rep(3, 0xff, 0xff, 0xff, 0xff, 0x0f, I32))}), "function 3: 4294967295 locals, more than"},
		{"a body of 8 MB", With(Func{Code: rep(8<<20, 0x01)}), "function 3: 8388610 bytes of a body, more than the limit of 2097152"},
		{"deep nesting", With(Func{Code: Join(rep(binary.MaxNesting, 0x02, 0x40), rep(binary.MaxNesting, 0x0b))}), "function 3: 15001 blocks inside of each other, more than the limit of 15000"},
		{"nested loops", With(Func{Code: Join(rep(binary.MaxLoopNesting+1, 0x03, 0x40), rep(binary.MaxLoopNesting+1, 0x0b))}), "function 3: 101 loops inside of each other, more than the limit of 100"},
		{"blocks that are loops", With(Func{Code: rep(binary.MaxBlocks/4+1, 0x03, 0x40, 0x0b)}), "function 3: 15004 blocks and branches, more than the limit of 15000"},
		{"bulk instructions", With(Func{Code: rep(binary.MaxBlocks/4+1, 0x41, 0, 0x40, 0, 0x1a)}), "function 3: 15004 blocks and branches, more than the limit of 15000"},
		{"blocks", With(Func{Code: rep(binary.MaxBlocks+1, 0x02, 0x40, 0x0b)}), "function 3: 15001 blocks and branches, more than the limit of 15000"},
		{"blocks and locals", With(Func{Locals: locals(1000), Code: rep(1001, 0x02, 0x40, 0x0b)}), "function 3: 1001 blocks and branches times 1000 locals, more than the limit of 1000000"},
		{"a branch table", With(Func{Code: table(binary.MaxTargets + 1)}), "function 3: 50001 targets of branch tables, more than the limit of 50000"},
		{"branch tables", With(Func{Code: Join(table(binary.MaxTargets-1), table(2))}), "function 3: 50001 targets of branch tables, more than the limit of 50000"},
		{"calls with many results", With(calls), "function 3: 500500 calls and values of calls, more than the limit of 500000"},
		{"branches with many values", With(branches), "function 3: 1001000 values of branches, more than the limit of 1000000"},
		{"everything just below its limit", costly(30), "compiling the functions up to this one costs"},
	}
}

// Slow is a module that is accepted, and takes the compiler about a second for
// each of its n functions, at most 14.
func Slow(n int) []byte { return costly(n) }

// Hungry is a module that is accepted, and takes the compiler half a GB.
func Hungry() []byte {
	return With(Func{Code: bytes.Repeat(Call(3), binary.MaxCalls-1)})
}

// costly has n functions that are close to the limits each.
func costly(n int) []byte {
	g := Echo("{}")
	code := bytes.Repeat([]byte{0x02, 0x40, 0x0b}, binary.MaxBlocks-1)
	for i := range n {
		g = g.With("zz_"+string(rune('a'+i)), Func{Code: code})
	}
	return g.Bytes()
}
