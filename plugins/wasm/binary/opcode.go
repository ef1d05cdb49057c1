package binary

// Opcode is an instruction: one byte, or the byte of its prefix shifted left by
// 8 and the number after it.
type Opcode uint32

// The opcodes that mean something to this package or to who rewrites code.
const (
	opBlock        = 0x02
	opLoop         = 0x03
	opIf           = 0x04
	opElse         = 0x05
	opEnd          = 0x0b
	opBr           = 0x0c
	opBrIf         = 0x0d
	opBrTable      = 0x0e
	opReturn       = 0x0f
	opUnreachable  = 0x00
	opCall         = 0x10
	opCallIndirect = 0x11
	opGlobalGet    = 0x23
	opI32Const     = 0x41
	opI64Const     = 0x42
	opF32Const     = 0x43
	opF64Const     = 0x44
	opRefNull      = 0xd0
	opRefFunc      = 0xd2

	prefixMisc   = 0xfc
	prefixVector = 0xfd

	vecConst = 12
)

// Bulk says whether an instruction works on as much memory, or as many entries
// of tables, as its last operand says.
func (op Opcode) Bulk() bool {
	switch op {
	case 0x40, // memory.grow
		0xfc08, 0xfc0a, 0xfc0b, // memory.init, .copy, .fill
		0xfc0c, 0xfc0e, 0xfc0f, 0xfc11: // table.init, .copy, .grow, .fill
		return true
	}
	return false
}

// immediate says what follows an opcode.
type immediate byte

const (
	illegal immediate = iota
	none
	blockType
	label
	branchTable
	function
	indirect
	local
	global
	table
	twoTables
	tableInit
	segmentElem
	memory
	twoMemories
	memoryInit
	segmentData
	memoryAccess
	memoryLane // a memory access and a lane
	constI32
	constI64
	constF32
	constF64
	constVector
	lane
	lanes // of a shuffle
	selectTypes
	refKind
)

// plain are the immediates of the opcodes of one byte.
var plain = func() (p [256]immediate) {
	set := func(from, to int, i immediate) {
		for op := from; op <= to; op++ {
			p[op] = i
		}
	}
	set(0x00, 0x01, none) // unreachable, nop
	set(opBlock, opIf, blockType)
	p[opElse], p[opEnd], p[opReturn] = none, none, none
	set(opBr, opBrIf, label)
	p[opBrTable], p[opCall], p[opCallIndirect] = branchTable, function, indirect
	set(0x1a, 0x1b, none) // drop, select
	p[0x1c] = selectTypes
	set(0x20, 0x22, local)
	set(0x23, 0x24, global)
	set(0x25, 0x26, table)
	set(0x28, 0x3e, memoryAccess)
	set(0x3f, 0x40, memory) // memory.size, memory.grow
	p[opI32Const], p[opI64Const], p[opF32Const], p[opF64Const] = constI32, constI64, constF32, constF64
	set(0x45, 0xc4, none) // arithmetic, conversions, sign extension
	p[opRefNull], p[0xd1], p[opRefFunc] = refKind, none, function
	return p
}()

// misc are the immediates after [prefixMisc].
var misc = [...]immediate{
	none, none, none, none, none, none, none, none, // saturating conversions
	memoryInit, segmentData, twoMemories, memory, // memory.init, data.drop, memory.copy, memory.fill
	tableInit, segmentElem, twoTables, table, table, table, // table.init, elem.drop, table.copy, .grow, .size, .fill
}

// vector are the immediates after [prefixVector]; lanes is how many lanes an
// instruction with one may choose from.
var vector, vectorLanes = func() (v [256]immediate, lanesOf [256]byte) {
	for op := 0x0e; op < len(v); op++ {
		v[op] = none
	}
	for op := 0; op <= 0x0b; op++ {
		v[op] = memoryAccess
	}
	v[vecConst], v[0x0d] = constVector, lanes
	for op, n := range map[int]byte{0x15: 16, 0x16: 16, 0x17: 16, 0x18: 8, 0x19: 8, 0x1a: 8, 0x1b: 4, 0x1c: 4,
		0x1d: 2, 0x1e: 2, 0x1f: 4, 0x20: 4, 0x21: 2, 0x22: 2} {
		v[op], lanesOf[op] = lane, n
	}
	for i, n := range []byte{16, 8, 4, 2} { // loads and stores of one lane
		v[0x54+i], lanesOf[0x54+i] = memoryLane, n
		v[0x58+i], lanesOf[0x58+i] = memoryLane, n
	}
	v[0x5c], v[0x5d] = memoryAccess, memoryAccess
	for _, op := range []int{0x9a, 0xa2, 0xa5, 0xa6, 0xaf, 0xb0, 0xb2, 0xb3, 0xb4, 0xbb,
		0xc2, 0xc5, 0xc6, 0xcf, 0xd0, 0xd2, 0xd3, 0xd4, 0xe2, 0xee} {
		v[op] = illegal
	}
	return v, lanesOf
}()
