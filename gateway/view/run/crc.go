package run

import "hash/crc32"

// A checksum is a polynomial over two elements, modulo the polynomial of
// CRC-32; bit 31 is the coefficient of 1. That of two runs of bytes one after
// the other is that of the first, multiplied by x once for each bit of the
// second, plus that of the second.

const one = 1 << 31

// product multiplies two polynomials.
func product(a, b uint32) uint32 {
	var p uint32
	for ; a != 0; a <<= 1 {
		if a&one != 0 {
			p ^= b
		}
		odd := b & 1
		if b >>= 1; odd != 0 {
			b ^= crc32.IEEE
		}
	}
	return p
}

// squares are x to the powers of two, from the eighth on: one byte, two, four.
var squares = func() (s [60]uint32) {
	s[0] = one >> 8
	for i := 1; i < len(s); i++ {
		s[i] = product(s[i-1], s[i-1])
	}
	return s
}()

// shiftBy is x to the power of the bits in n bytes.
func shiftBy(n int) uint32 {
	p := uint32(one)
	for i := 0; n > 0; i++ {
		if n&1 != 0 {
			p = product(squares[i], p)
		}
		n >>= 1
	}
	return p
}
