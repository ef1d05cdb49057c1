package meter

import "github.com/wasmgate/wasmgate/plugins/wasm/binary"

// The opcodes that are written, or that cost something particular.
const (
	opUnreachable = 0x00
	opBlock       = 0x02
	opLoop        = 0x03
	opIf          = 0x04
	opElse        = 0x05
	opEnd         = 0x0b
	opCall        = 0x10

	opBr           = 0x0c
	opBrIf         = 0x0d
	opBrTable      = 0x0e
	opCallIndirect = 0x11
	opLocalGet     = 0x20
	opLocalSet     = 0x21
	opLocalTee     = 0x22
	opGlobalGet    = 0x23
	opGlobalSet    = 0x24
	opTableGet     = 0x25
	opTableSet     = 0x26
	opI32Const     = 0x41
	opI64Const     = 0x42
	opF32Const     = 0x43
	opF64Const     = 0x44
	opI32Eqz       = 0x45
	opI32LeU       = 0x4d
	opI64LtS       = 0x53
	opI32Add       = 0x6a
	opI64Add       = 0x7c
	opI64Sub       = 0x7d
	opI64Or        = 0x84
	opI64Shl       = 0x86
	opI64ShrU      = 0x88
	opI64Extend    = 0xad // i64.extend_i32_u
	opRefNull      = 0xd0
	opRefIsNull    = 0xd1
	opRefFunc      = 0xd2

	opMemoryInit = 0xfc08
	opDataDrop   = 0xfc09
	opMemoryCopy = 0xfc0a
	opMemoryFill = 0xfc0b
	opTableInit  = 0xfc0c
	opElemDrop   = 0xfc0d
	opTableCopy  = 0xfc0e
	opTableGrow  = 0xfc0f
	opTableFill  = 0xfc11

	prefixVector = 0xfd

	blockEmpty = 0x40 // the type of a block without parameters and results
)

// work is what an instruction costs that works on as much as its last operand
// says.
type work struct {
	fixed int64
	// shift is how many bits the operand is shifted left, to the right below
	// zero.
	shift int
}

// bulk are those instructions. Memory is worked on by the byte, and eight of
// them cost as much as an instruction; a page that is added has to be cleared
// and may have to be moved.
var bulk = map[binary.Opcode]work{
	0x40:         {100, 14}, // memory.grow
	0xfc08:       {10, -3},  // memory.init
	opMemoryCopy: {10, -3},
	opMemoryFill: {10, -3},
	opTableInit:  {10, 0},
	opTableCopy:  {10, 0},
	opTableGrow:  {100, 0},
	opTableFill:  {10, 0},
}

// fewLocals is how many locals a function may have that are not charged. Where ways
// through a function join, the compiler moves each local that differs between them, on
// every way, and has a place for it in the frame: an if that is not taken may take 100
// microseconds. What optimizing compilers emit has some dozens.
const fewLocals = 100

// joining is what a join costs, and entering the function: half an instruction for
// each local beyond the few.
func joining(locals int) int64 { return int64(max(0, locals-fewLocals)) / 2 }

// plan is what a function is charged.
type plan struct {
	// entry is the cost of entering it, 0 if its first loop is charged that
	// too, because nothing but that loop can follow.
	entry int64
	// loops are the costs of one iteration of each loop, in the order in which
	// they begin.
	loops []int64
	// bulk says whether it has instructions whose cost depends on an operand.
	bulk bool
}

// costs makes the plan of a function.
func (w *writer) costs(body binary.Body) (plan, error) {
	t := w.m.FuncType(body.Func)
	join := joining(body.Locals)
	p := plan{entry: int64(len(t.Params)+len(t.Results)) + join}
	region := &p.entry
	type place struct{ loop, depth int }
	open := []place{} // the loops around the instruction
	straight, folded := true, false
	c := w.m.Code(body, &w.room)
	for {
		in, ok := c.Next()
		if !ok {
			break
		}
		switch in.Op {
		case opBlock, opIf:
			takes, gives := w.arity(in)
			*region += int64(takes+gives) + join
			if in.Op == opIf {
				*region++
			}
		case opLoop:
			folded = folded || straight
			takes, gives := w.arity(in)
			*region += int64(takes+gives) + join
			open = append(open, place{len(p.loops), in.Depth + 1})
			p.loops = append(p.loops, int64(takes))
		case opEnd:
			if last := len(open) - 1; last >= 0 && open[last].depth == in.Depth {
				open = open[:last]
			}
		case opElse:
		default:
			*region++
			if in.Op == opBr || in.Op == opBrIf || in.Op == opBrTable {
				*region += join
			}
			if special, ok := bulk[in.Op]; ok {
				*region += special.fixed
				p.bulk = true
			}
		}
		straight = straight && !leaves(in.Op)
		region = &p.entry
		if last := len(open) - 1; last >= 0 {
			region = &p.loops[open[last].loop]
		}
	}
	if p.entry = max(p.entry, 1); folded {
		p.loops[0], p.entry = p.loops[0]+p.entry, 0
	}
	return p, c.Err()
}

// leaves says whether something else than the next instruction may run after
// one, or something that takes long.
func leaves(op binary.Opcode) bool {
	_, long := bulk[op]
	return long || op >= opLoop && op <= opCallIndirect || op == opUnreachable
}

// arity is how many values a block takes and gives.
func (w *writer) arity(in *binary.Instruction) (takes, gives int) {
	rest := cursor{w.m.Bytes[in.Immediates:in.End]}
	if first := rest.rest[0]; first&0xc0 == 0x40 { // none, or the type of one value
		if first != blockEmpty {
			gives = 1
		}
		return 0, gives
	}
	t := w.m.Types[rest.u32()]
	return len(t.Params), len(t.Results)
}
