package wasm

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math"
	"slices"
	"unicode/utf8"

	wasm "github.com/wasmgate/wasmgate/plugins/wasm/binary"
)

// The bounds of what is found in a function: how many values, how long a text is, and
// one that is a number.
const (
	maxCompared     = 64
	maxComparedText = 64
	leastText       = 3
)

// The opcodes of constants, and of what compares integers.
const (
	opI32Const, opI64Const = 0x41, 0x42
	firstI32, lastI32      = 0x45, 0x4f
	firstI64, lastI64      = 0x50, 0x5a
	opI32Xor, opI64Xor     = 0x73, 0x85
)

// compared finds the values that a function of a module seems to compare with, by its
// number: texts in its data, whose length it compares with, too; texts that are compared
// as numbers, a few bytes at a time, after their length; numbers that are neither; and
// texts in its data whose place and length follow each other, or that are a number. A
// guess that is wrong does no harm.
func compared(m *wasm.Module) func(function int) []any {
	data := slices.SortedFunc(slices.Values(m.Data), func(a, b wasm.Data) int { return cmp.Compare(a.At, b.At) })
	return func(function int) []any {
		f := finder{data: data, lengths: map[int64]bool{}, spent: map[int64]bool{}}
		c := m.Code(m.Bodies[function], nil)
		var last wasm.Instruction
		for in, ok := c.Next(); ok; in, ok = c.Next() {
			if in.Op == last.Op && (in.Op == opI32Const || in.Op == opI64Const) {
				f.maybe = append(f.maybe, f.text(last.Value, in.Value)...)
			}
			switch {
			case in.Op == opI32Const:
				f.constant(in.Value, &f.last[0])
			case in.Op == opI64Const:
				f.constant(in.Value, &f.last[1])
			case last.Op != opI32Const && last.Op != opI64Const:
			case in.Op >= firstI32 && in.Op <= lastI32 || in.Op >= firstI64 && in.Op <= lastI64:
				f.numbers = append(f.numbers, last.Value)
				f.piece(last)
			case in.Op == opI32Xor || in.Op == opI64Xor:
				f.piece(last)
			}
			last = *in
		}
		return f.all()
	}
}

// finder looks at the constants of one function, one after the other.
type finder struct {
	data    []wasm.Data // by place
	texts   []string
	numbers []int64
	maybe   []string
	spent   map[int64]bool // numbers that are parts of texts
	last    [2][3]int64    // the last constants, of i32 and of i64
	lengths map[int64]bool // that something may have
	pieces  []byte         // of a text that is compared as numbers
	length  int            // of that
}

// all are the values, each once.
func (f *finder) all() (values []any) {
	known := map[any]bool{}
	add := func(v any) {
		if len(values) < maxCompared && !known[v] {
			known[v] = true
			values = append(values, v)
		}
	}
	for _, text := range f.texts {
		add(text)
	}
	for _, n := range f.numbers {
		if (n < -1 || n > 2) && !f.spent[n] { // which everybody tries
			add(n)
		}
	}
	for _, text := range f.maybe {
		add(text)
	}
	return values
}

// constant takes a constant, the next one of its type.
func (f *finder) constant(v int64, last *[3]int64) {
	for _, before := range last {
		for _, pair := range [][2]int64{{before, v}, {v, before}} {
			if place, length := pair[0], pair[1]; f.lengths[length] {
				f.texts = append(f.texts, f.text(place, length)...)
			}
		}
	}
	*last = [3]int64{last[1], last[2], v}
}

// piece takes a number that something is compared with for the length of a text, or for
// its next bytes; the last ones may be compared together with some before.
func (f *finder) piece(in wasm.Instruction) {
	if in.Value >= 2 && in.Value <= maxComparedText {
		f.lengths[in.Value] = true
	}
	text := binary.LittleEndian.AppendUint64(nil, uint64(in.Value))
	if in.Op == opI32Const {
		text = text[:4]
	}
	for len(text) > 1 && text[len(text)-1] == 0 {
		text = text[:len(text)-1]
	}
	n := len(text)
	if n >= leastText && plain(text) {
		f.maybe = append(f.maybe, string(text))
	}
	switch {
	case in.Value >= 2 && in.Value < ' ':
		f.length, f.pieces = int(in.Value), nil
	case plain(text) && n <= f.length:
		f.pieces = append(f.pieces[:min(len(f.pieces), f.length-n)], text...)
		f.spent[in.Value] = true
	}
	if len(f.pieces) > 0 && len(f.pieces) == f.length {
		f.texts = append(f.texts, string(f.pieces))
		f.spent[int64(f.length)] = true
		f.pieces = nil
	}
}

// text takes two constants for the place and the length of a text; none if there is none.
func (f *finder) text(place, length int64) []string {
	if length < 2 || length > maxComparedText || place <= 0 || place > math.MaxUint32 {
		return nil
	}
	i, _ := slices.BinarySearchFunc(f.data, place+1, func(d wasm.Data, place int64) int { return cmp.Compare(int64(d.At), place) })
	if i == 0 {
		return nil
	}
	from, data := place-int64(f.data[i-1].At), f.data[i-1].Bytes
	if from+length > int64(len(data)) || !plain(data[from:from+length]) {
		return nil
	}
	f.spent[length] = true
	return []string{string(data[from : from+length])}
}

// plain tells that bytes are a text as people write it.
func plain(text []byte) bool {
	return len(text) > 0 && utf8.Valid(text) && !bytes.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f })
}
