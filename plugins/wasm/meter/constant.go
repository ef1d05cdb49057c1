package meter

import "github.com/wasmgate/wasmgate/plugins/wasm/binary"

// cursor goes through bytes that the reader of modules accepted.
type cursor struct{ rest []byte }

// u32 takes an unsigned number; none is zero.
func (c *cursor) u32() (v uint32) {
	for shift := 0; len(c.rest) > 0; shift += 7 {
		b := c.bytes(1)[0]
		v |= uint32(b&0x7f) << shift
		if b < 0x80 {
			break
		}
	}
	return v
}

// bytes takes n bytes.
func (c *cursor) bytes(n int) []byte {
	taken := c.rest[:n]
	c.rest = c.rest[n:]
	return taken
}

// number takes a number of any size as it is.
func (c *cursor) number() []byte {
	n := 0
	for c.rest[n] >= 0x80 {
		n++
	}
	return c.bytes(n + 1)
}

// appendConstant takes a constant expression, one instruction and end, and
// appends it with its function renumbered.
func (w *writer) appendConstant(dst []byte, c *cursor) []byte {
	op := c.bytes(1)[0]
	dst = append(dst, op)
	switch op {
	case opI32Const, opI64Const, opGlobalGet:
		dst = append(dst, c.number()...)
	case opF32Const:
		dst = append(dst, c.bytes(4)...)
	case opF64Const:
		dst = append(dst, c.bytes(8)...)
	case opRefNull:
		dst = append(dst, c.bytes(1)...)
	case opRefFunc:
		dst = w.appendFunc(dst, c.u32())
	case prefixVector: // v128.const, the only one that is constant
		dst = binary.AppendU32(dst, c.u32())
		dst = append(dst, c.bytes(16)...)
	}
	return append(dst, c.bytes(1)...)
}
