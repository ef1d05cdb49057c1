package meter

import "github.com/wasmgate/wasmgate/plugins/wasm/binary"

// code is the code section: every function with its charges, and the functions
// around imports.
func (w *writer) code() ([]byte, error) {
	dst := make([]byte, 0, len(w.m.Content(binary.CodeSection))*3/2)
	dst = binary.AppendU32(dst, uint32(len(w.m.Bodies))+w.imported+w.own())
	var body []byte
	for i, b := range w.m.Bodies {
		var err error
		if body, err = w.appendBody(body[:0], b, i); err != nil {
			return nil, err
		}
		dst = append(binary.AppendU32(dst, uint32(len(body))), body...)
	}
	for i := range w.imported {
		body = w.appendAround(body[:0], i)
		dst = append(binary.AppendU32(dst, uint32(len(body))), body...)
	}
	for _, l := range w.long {
		dst = append(binary.AppendU32(dst, uint32(len(l.body))), l.body...)
	}
	if w.branches != nil {
		body = w.taken()
		dst = append(binary.AppendU32(dst, uint32(len(body))), body...)
	}
	return dst, nil
}

// appendAround appends a function that calls an import. It always asks before:
// what an import does takes time that is not counted in instructions.
func (w *writer) appendAround(dst []byte, imported uint32) []byte {
	dst = append(dst, 0) // no locals
	dst = binary.AppendU32(append(dst, opGlobalGet), w.fuel)
	dst = appendSigned(append(dst, opI64Const), HostCall)
	dst = binary.AppendU32(append(dst, opI64Sub, opGlobalSet), w.fuel)
	dst = binary.AppendU32(append(dst, opGlobalGet), w.fuel)
	dst = binary.AppendU32(append(dst, opCall, 0, opGlobalSet), w.fuel)
	for p := range w.m.FuncType(imported).Params {
		dst = binary.AppendU32(append(dst, opLocalGet), uint32(p))
	}
	dst = binary.AppendU32(append(dst, opCall), 1+imported)
	return append(dst, opEnd)
}

// appendBody appends a function with its charges, and marks.
func (w *writer) appendBody(dst []byte, body binary.Body, number int) ([]byte, error) {
	p, err := w.costs(body)
	if err != nil {
		return nil, err
	}
	// Two more locals: what is left, and an operand.
	left, operand := uint32(body.Locals), uint32(body.Locals)+1
	dst = w.appendLocals(dst, body, p.bulk)
	if p.entry > 0 {
		dst = w.appendCharge(dst, left, p.entry)
	}
	k := w.marks(number)
	dst = k.begin(dst, number)

	copied, loop := body.Code, 0
	upTo := func(end int) {
		dst = append(dst, w.m.Bytes[copied:end]...)
		copied = end
	}
	c := w.m.Code(body, &w.room)
	for {
		in, ok := c.Next()
		if !ok {
			break
		}
		switch in.Op {
		case opLoop:
			upTo(in.End)
			dst = w.appendCharge(dst, left, p.loops[loop])
			loop++
		case opCall, opRefFunc:
			upTo(in.Immediates)
			dst = w.appendFunc(dst, in.Index)
			copied = in.End
		default:
			if w.changes(in) {
				upTo(in.Start)
				dst = binary.AppendU32(append(dst, opI32Const, 1, opGlobalSet), w.changed)
			}
			if special, ok := bulk[in.Op]; ok {
				upTo(in.Start)
				dst = w.appendChargeOperand(dst, left, operand, special.shift)
				if helper, ok := w.helper(in); ok {
					dst = binary.AppendU32(append(dst, opCall), helper)
					copied = in.End
				}
			}
		}
		if k.after(in) {
			upTo(in.End)
			dst = k.append(dst)
		}
	}
	upTo(body.End)
	return dst, c.Err()
}

// appendLocals appends the locals of a function with those that it gets.
func (w *writer) appendLocals(dst []byte, body binary.Body, bulk bool) []byte {
	locals := cursor{w.m.Bytes[body.Start:body.Code]}
	groups := locals.u32() + 1
	if bulk {
		groups++
	}
	dst = append(binary.AppendU32(dst, groups), locals.rest...)
	dst = append(dst, 1, binary.I64)
	if bulk {
		dst = append(dst, 1, binary.I32)
	}
	return dst
}

// changes reports whether an instruction changes what [Changed] is about.
func (w *writer) changes(in *binary.Instruction) bool {
	switch in.Op {
	case opTableSet, opDataDrop, opElemDrop, opTableInit, opTableCopy, opTableGrow, opTableFill:
		return true
	case opGlobalSet:
		return !restorable(w.m.Globals[in.Index])
	}
	return false
}

// appendCharge appends a charge for a cost that is known; at least 1.
func (w *writer) appendCharge(dst []byte, left uint32, cost int64) []byte {
	dst = binary.AppendU32(append(dst, opGlobalGet), w.fuel)
	dst = appendSigned(append(dst, opI64Const), max(cost, 1))
	return w.appendSpend(dst, left)
}

// appendChargeOperand appends a charge for the i32 on top of the stack, which
// stays there.
func (w *writer) appendChargeOperand(dst []byte, left, operand uint32, shift int) []byte {
	dst = binary.AppendU32(append(dst, opLocalTee), operand)
	dst = binary.AppendU32(append(dst, opGlobalGet), w.fuel)
	dst = binary.AppendU32(append(dst, opLocalGet), operand)
	dst = append(dst, opI64Extend)
	switch {
	case shift > 0:
		dst = append(appendSigned(append(dst, opI64Const), int64(shift)), opI64Shl)
	case shift < 0:
		dst = append(appendSigned(append(dst, opI64Const), int64(-shift)), opI64ShrU)
	}
	return w.appendSpend(dst, left)
}

// appendSpend appends what is left as the difference of the two i64 on top of
// the stack, and a call for more when it is below zero.
func (w *writer) appendSpend(dst []byte, left uint32) []byte {
	dst = binary.AppendU32(append(dst, opI64Sub, opLocalTee), left)
	dst = binary.AppendU32(append(dst, opGlobalSet), w.fuel)
	dst = binary.AppendU32(append(dst, opLocalGet), left)
	dst = append(dst, opI64Const, 0, opI64LtS, opIf, blockEmpty, opLocalGet)
	dst = binary.AppendU32(dst, left)
	dst = append(dst, opCall, 0, opGlobalSet)
	dst = binary.AppendU32(dst, w.fuel)
	return append(dst, opEnd)
}

// appendSigned appends a number as signed LEB128.
func appendSigned(dst []byte, v int64) []byte {
	for {
		b := byte(v & 0x7f)
		v >>= 7
		if v == 0 && b&0x40 == 0 || v == -1 && b&0x40 != 0 {
			return append(dst, b)
		}
		dst = append(dst, b|0x80)
	}
}
