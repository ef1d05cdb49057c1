package binary

// constant reads a constant expression, one instruction and end, and returns the
// number if it is an i32.const.
func (m *Module) constant(r *reader) (i32 uint32) {
	switch op := r.byte(); op {
	case opI32Const:
		i32 = uint32(r.signed(32))
	case opI64Const:
		r.signed(64)
	case opF32Const:
		r.skip(4)
	case opF64Const:
		r.skip(8)
	case opGlobalGet:
		r.index("imported global", m.imported[Global])
	case opRefNull:
		r.refType()
	case opRefFunc:
		r.index("function", len(m.Funcs))
	case prefixVector:
		if op := r.u32(); op != vecConst {
			r.malformed("vector instruction %d in a constant expression", op)
		}
		r.skip(16)
	default:
		r.malformed("instruction 0x%02x in a constant expression", op)
	}
	if end := r.byte(); end != opEnd {
		r.malformed("a constant expression has more than one instruction")
	}
	return i32
}

// readElements reads the eight forms of element segments. Bit 0 of a form says
// that it is not active; bit 1 that it names a table, or is only declared; bit
// 2 that the entries are expressions.
func (m *Module) readElements(r *reader) {
	n := r.count("element segments", 2, MaxElementSegments)
	m.ElementTypes = make([]byte, 0, n)
	total := 0
	for ; n > 0 && r.err == nil; n-- {
		form := r.u32()
		if form > 7 {
			r.malformed("an element segment has the unknown form %d", form)
		}
		active, bit1, expressions := form&1 == 0, form&2 != 0, form&4 != 0
		elem := byte(FuncRef)
		if active {
			table := uint32(0)
			if bit1 {
				table = r.u32()
			}
			if r.err == nil && int64(table) >= int64(len(m.Tables)) {
				r.malformed("table %d does not exist; there are %d", table, len(m.Tables))
			}
			m.constant(r)
		}
		switch {
		case active && !bit1:
		case expressions:
			elem = r.refType()
		default:
			r.zero()
		}
		m.ElementTypes = append(m.ElementTypes, elem)
		total = m.readEntries(r, expressions, total)
	}
}

// readEntries reads those of one segment, and returns how many there are with
// the ones before.
func (m *Module) readEntries(r *reader, expressions bool, before int) int {
	size := 1
	if expressions {
		size = 3
	}
	n := r.count("elements", size, MaxElements)
	r.within("elements", before+n, MaxElements)
	for i := 0; i < n && r.err == nil; i++ {
		if expressions {
			m.constant(r)
		} else {
			r.index("function", len(m.Funcs))
		}
	}
	return before + n
}

// segments reads a number of data segments that are elsewhere.
func (r *reader) segments() int {
	n := r.u32()
	r.within("data segments", int(n), MaxDataSegments)
	return int(n)
}

func (m *Module) readData(r *reader) {
	n := r.count("data segments", 2, MaxDataSegments)
	if m.HasDataCount && r.err == nil && n != m.DataSegments {
		r.malformed("it has %d data segments, but says %d before", n, m.DataSegments)
	}
	m.DataSegments = n
	for ; n > 0 && r.err == nil; n-- {
		form := r.u32()
		at := uint32(0)
		switch form {
		case 0, 2:
			if form == 2 {
				r.index("memory", 1)
			}
			if r.err == nil && len(m.Memories) == 0 {
				r.malformed("data for a memory that does not exist")
			}
			at = m.constant(r)
		case 1:
		default:
			r.malformed("a data segment has the unknown form %d", form)
		}
		m.Data = append(m.Data, Data{At: at, Bytes: r.bytes("bytes of data", MaxSize)})
	}
}
