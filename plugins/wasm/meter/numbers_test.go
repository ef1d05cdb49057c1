package meter

import (
	"bytes"
	"strings"
	"testing"
)

func TestSignedNumbersAreAsShortAsCanBe(t *testing.T) {
	for v, want := range map[int64][]byte{
		0: {0}, 1: {1}, 63: {63}, 64: {0xc0, 0}, 127: {0xff, 0}, 128: {0x80, 1}, 8191: {0xff, 0x3f}, 8192: {0x80, 0xc0, 0},
		-1: {0x7f}, -64: {0x40}, -65: {0xbf, 0x7f}, -128: {0x80, 0x7f}, -129: {0xff, 0x7e},
	} {
		if got := appendSigned(nil, v); !bytes.Equal(got, want) {
			t.Errorf("%d is % x, want % x", v, got, want)
		}
	}
}

func TestUnsignedNumbersAreRead(t *testing.T) {
	for want, text := range map[uint32][]byte{0: {0}, 127: {0x7f}, 128: {0x80, 1}, 16384: {0x80, 0x80, 1}, 1<<32 - 1: {0xff, 0xff, 0xff, 0xff, 0x0f}} {
		c := cursor{append(text, 9)}
		if got := c.u32(); got != want || len(c.rest) != 1 {
			t.Errorf("% x is %d with %d bytes left, want %d", text, got, len(c.rest), want)
		}
	}
	if got := (&cursor{}).u32(); got != 0 {
		t.Errorf("nothing is %d", got)
	}
}

// An operand that counts as it is costs no instruction to be multiplied.
func TestOperandsAreShiftedOnlyWhereTheyHaveTo(t *testing.T) {
	w := &writer{}
	plain := w.appendChargeOperand(nil, 0, 0, 0)
	for shift, op := range map[int]byte{14: opI64Shl, -3: opI64ShrU} {
		got := w.appendChargeOperand(nil, 0, 0, shift)
		if len(got) != len(plain)+3 || !bytes.Contains(got, []byte{opI64Const, byte(max(shift, -shift)), op}) {
			t.Errorf("by %d: % x, without % x", shift, got, plain)
		}
	}
}

// What a metered module exports is nobody's name, and no other name is taken.
func TestNamesThatAreTaken(t *testing.T) {
	for name, want := range map[string]bool{
		Export: true, Changed: true, Start: true, globalName(0): true, globalName(12): true,
		Import: false, Module: false, "": false, "start": false, "memory": false, Export + "s": false, "a_" + Changed: false, strings.TrimSuffix(globalPrefix, "_"): false,
	} {
		if got := Reserved(name); got != want {
			t.Errorf("%q is taken: %v", name, got)
		}
	}
}
