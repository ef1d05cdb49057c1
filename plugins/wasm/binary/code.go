package binary

// Instruction is one instruction of a function.
type Instruction struct {
	Op Opcode
	// Start is where it begins in the bytes of the module; Immediates is where
	// what follows the opcode begins; it ends before End.
	Start, Immediates, End int
	// Depth is how many blocks are open around it: the function's own is 1.
	// The opcodes that open a block are inside of the one around, else and end
	// inside of the one they belong to.
	Depth int
	// Index is the first immediate if that is an index or a number of labels.
	Index uint32
	// Value is what a constant i32 or i64 is.
	Value int64
}

// Code steps through the instructions of one function.
type Code struct {
	m      *Module
	r      reader
	body   Body
	at     Instruction
	opened []block // the blocks that are open, the function's own first
	cost   cost
	ended  bool
}

// block is a block that is open.
type block struct {
	op byte // the opcode it is in: else, when that came
	// takes and gives are how many values.
	takes, gives uint16
}

// carries is how many values a branch to the block takes along.
func (b block) carries() int {
	if b.op == opLoop {
		return int(b.takes)
	}
	return int(b.gives)
}

// Code begins with the first instruction of a body of the module. room, which
// may be nil, is memory to be used again.
func (m *Module) Code(body Body, room *Code) *Code {
	if room == nil {
		room = &Code{}
	}
	outer := block{op: opBlock, gives: uint16(len(m.FuncType(body.Func).Results))}
	*room = Code{m: m, body: body, opened: append(room.opened[:0], outer),
		r: reader{data: m.Bytes[:body.End], pos: body.Code, section: sectionNames[CodeSection], function: int(body.Func)}}
	return room
}

// Next goes on to the next instruction, until there is none or an error. The
// instruction is good until the next call.
func (c *Code) Next() (*Instruction, bool) {
	r := &c.r
	if c.ended || r.err != nil {
		return nil, false
	}
	c.at = Instruction{Start: r.pos, Depth: len(c.opened)}
	op := r.byte()
	c.at.Op = Opcode(op)
	kind := plain[op]
	switch op {
	case prefixMisc:
		kind = c.prefixed(op, misc[:])
	case prefixVector:
		kind = c.prefixed(op, vector[:])
	}
	c.at.Immediates = r.pos
	if kind == illegal {
		r.malformed("unknown instruction 0x%02x", uint32(c.at.Op))
	}
	c.immediate(kind)
	if c.at.Op.Bulk() {
		c.cost.blocks += meteredBlocks
		c.branch(0)
	}
	c.nest(op)
	c.at.End = r.pos
	if r.err != nil {
		return nil, false
	}
	return &c.at, true
}

// Err is why Next stopped, nil at the end of the function. It is an *[Error].
func (c *Code) Err() error {
	if c.r.err != nil {
		return c.r.err
	}
	return nil
}

// prefixed reads an opcode after a prefix. Only the shortest form is accepted:
// runtimes disagree about others.
func (c *Code) prefixed(prefix byte, known []immediate) immediate {
	start := c.r.pos
	n := c.r.u32()
	shortest := 1
	if n >= 0x80 {
		shortest = 2
	}
	if int64(n) >= int64(len(known)) || c.r.err == nil && c.r.pos-start != shortest {
		return illegal
	}
	c.at.Op = Opcode(prefix)<<8 | Opcode(n)
	return known[n]
}

// nest keeps account of the blocks that are open.
func (c *Code) nest(op byte) {
	inner := len(c.opened) - 1
	switch op {
	case opElse:
		if c.opened[inner].op != opIf {
			c.r.malformed("else without if")
		}
		c.opened[inner].op = opElse
		c.cost.blocks++
	case opEnd:
		if c.opened[inner].op == opLoop {
			c.cost.loops--
		}
		c.opened = c.opened[:inner]
		if c.ended = inner == 0; c.ended && c.r.left() > 0 {
			c.r.malformed("%d bytes after its end", c.r.left())
		}
	case opReturn, opUnreachable:
		c.branch(c.opened[0].carries())
	default:
		return
	}
	c.cost.bound(&c.r, c.body.Locals)
}

// open begins a block.
func (c *Code) open(takes, gives int) {
	b := block{op: byte(c.at.Op), takes: uint16(takes), gives: uint16(gives)}
	c.opened = append(c.opened, b)
	c.r.within("blocks inside of each other", len(c.opened), MaxNesting)
	if b.op == opLoop {
		c.cost.loops++
		c.cost.blocks += meteredBlocks
	}
	c.branch(takes + gives)
}

func (c *Code) branch(values int) {
	c.cost.blocks++
	c.cost.carried += values
	c.cost.bound(&c.r, c.body.Locals)
}

func (c *Code) call(t FuncType) {
	c.cost.calls += 1 + len(t.Params) + len(t.Results)
	c.cost.bound(&c.r, c.body.Locals)
}

// label reads the index of an open block and returns how many values a branch
// to it takes along.
func (c *Code) label() int {
	c.at.Index = c.r.index("label", len(c.opened))
	if c.r.err != nil {
		return 0
	}
	return c.opened[len(c.opened)-1-int(c.at.Index)].carries()
}

// immediate reads what follows an opcode.
func (c *Code) immediate(kind immediate) {
	r, m := &c.r, c.m
	switch kind {
	case blockType:
		c.blockType()
	case label:
		c.branch(c.label())
	case branchTable:
		c.branchTable()
	case function:
		if c.at.Index = r.index("function", len(m.Funcs)); r.err == nil {
			c.call(m.FuncType(c.at.Index))
		}
	case indirect:
		if c.at.Index = r.index("type", len(m.Types)); r.err == nil {
			c.call(m.Types[c.at.Index])
		}
		r.index("table", len(m.Tables))
	case local:
		c.at.Index = r.index("local", c.body.Locals)
	case global:
		c.at.Index = r.index("global", len(m.Globals))
	case constI32:
		c.at.Value = r.signed(32)
	case constI64:
		c.at.Value = r.signed(64)
	case constF32:
		r.skip(4)
	case constF64:
		r.skip(8)
	case constVector:
		r.skip(16)
	case selectTypes:
		if n := r.byte(); n != 1 {
			r.malformed("select with %d types", n)
		}
		r.valueType()
	case refKind:
		r.refType()
	case lane:
		c.lane(int(vectorLanes[byte(c.at.Op)]))
	case lanes:
		for range 16 {
			c.lane(32)
		}
	default:
		c.memoryOrTable(kind)
	}
}

// memoryOrTable reads the immediates of instructions on memories and tables.
func (c *Code) memoryOrTable(kind immediate) {
	r, m := &c.r, c.m
	switch kind {
	case table:
		c.at.Index = r.index("table", len(m.Tables))
	case twoTables:
		c.at.Index = r.index("table", len(m.Tables))
		r.index("table", len(m.Tables))
	case tableInit:
		c.at.Index = r.index("element segment", len(m.ElementTypes))
		r.index("table", len(m.Tables))
	case segmentElem:
		c.at.Index = r.index("element segment", len(m.ElementTypes))
	case memoryInit:
		c.dataSegment()
		c.memory()
	case segmentData:
		c.dataSegment()
	case memory:
		c.memory()
	case twoMemories:
		c.memory()
		c.memory()
	case memoryAccess, memoryLane:
		if align := r.u32(); align > 4 {
			r.malformed("an alignment of 2^%d", align)
		}
		r.u32()
		if len(m.Memories) == 0 {
			r.malformed("it uses a memory that does not exist")
		}
		if kind == memoryLane {
			c.lane(int(vectorLanes[byte(c.at.Op)]))
		}
	}
}

func (c *Code) memory() {
	c.r.zero()
	if len(c.m.Memories) == 0 {
		c.r.malformed("it uses a memory that does not exist")
	}
}

func (c *Code) dataSegment() {
	if !c.m.HasDataCount {
		c.r.malformed("it uses data segments, but the module does not say how many there are")
	}
	c.at.Index = c.r.index("data segment", c.m.DataSegments)
}

func (c *Code) lane(n int) {
	if l := c.r.byte(); int(l) >= n {
		c.r.malformed("lane %d of %d", l, n)
	}
}

// blockType reads the type of a block: none, a value type, or an index.
func (c *Code) blockType() {
	r := &c.r
	if r.left() > 0 && r.data[r.pos]&0xc0 == 0x40 {
		gives := 0
		if t := r.byte(); t != 0x40 {
			r.checkValueType(t)
			gives = 1
		}
		c.open(0, gives)
		return
	}
	i := r.signed(33)
	if i < 0 || i >= int64(len(c.m.Types)) {
		r.malformed("type %d does not exist; there are %d", i, len(c.m.Types))
		return
	}
	t := c.m.Types[i]
	c.open(len(t.Params), len(t.Results))
}

func (c *Code) branchTable() {
	r := &c.r
	n := r.count("targets of branch tables", 1, MaxTargets)
	c.cost.targets += n
	values := 0
	for i := 0; i <= n && r.err == nil; i++ { // and the default
		values += c.label()
	}
	c.at.Index = uint32(n)
	c.branch(values)
}

// readCode reads all function bodies.
func (m *Module) readCode(r *reader) {
	r.within("bytes of code", r.left(), MaxCode)
	n := r.count("function bodies", 3, MaxFunctions)
	if want := len(m.Funcs) - m.imported[Func]; r.err == nil && n != want {
		r.malformed("it declares %d functions and has bodies for %d", want, n)
	}
	if r.err != nil {
		return
	}
	m.Bodies = make([]Body, 0, n)
	var room Code
	for i := range n {
		f := m.imported[Func] + i
		r.function = f
		size := r.count("bytes of a body", 1, MaxBody)
		if r.err != nil {
			return
		}
		end := r.pos + size
		inside := reader{data: r.data[:end], pos: r.pos, section: r.section, function: f}
		body := Body{Func: uint32(f), Start: r.pos, End: end, Locals: inside.locals(len(m.FuncType(uint32(f)).Params))}
		body.Code = inside.pos
		if r.err = inside.err; r.err == nil {
			r.err = m.check(body, &room)
		}
		if r.err != nil {
			return
		}
		m.Bodies = append(m.Bodies, body)
		r.pos = end
	}
	r.function = -1
}

// locals reads the declarations of locals and returns how many there are, with
// the parameters.
func (r *reader) locals(params int) int {
	total := params
	for n := r.count("groups of locals", 2, MaxLocals); n > 0 && r.err == nil; n-- {
		total += int(r.u32())
		r.valueType()
		r.within("locals", total, MaxLocals)
	}
	return total
}

// check steps through a function.
func (m *Module) check(body Body, room *Code) *Error {
	c := m.Code(body, room)
	for {
		if _, ok := c.Next(); !ok {
			break
		}
	}
	if !c.ended {
		c.r.truncated()
	}
	m.cost += c.cost.total(body.End-body.Start, body.Locals)
	if m.cost > MaxCost {
		c.r.fail(OverLimit, "compiling the functions up to this one costs %d, more than the limit of %d", m.cost, MaxCost)
	}
	return c.r.err
}
