package binary

import (
	"fmt"
	"unicode/utf8"
)

// reader reads a range of a module's bytes. The first error stays, and
// everything after it reads as zero.
type reader struct {
	data []byte // the whole module, up to where reading must end
	pos  int

	section  string
	function int
	err      *Error
}

func newReader(data []byte, pos int, section string) *reader {
	return &reader{data: data, pos: pos, section: section, function: -1}
}

func (r *reader) fail(p Problem, format string, args ...any) {
	if r.err == nil {
		r.err = &Error{Problem: p, Section: r.section, Function: r.function, Offset: r.pos, Detail: fmt.Sprintf(format, args...)}
	}
}

func (r *reader) malformed(format string, args ...any) { r.fail(Malformed, format, args...) }

func (r *reader) truncated() { r.malformed("it ends too early") }

// left is the number of bytes that are still there.
func (r *reader) left() int { return len(r.data) - r.pos }

func (r *reader) byte() byte {
	if r.err != nil {
		return 0
	}
	if r.pos >= len(r.data) {
		r.truncated()
		return 0
	}
	r.pos++
	return r.data[r.pos-1]
}

// skip reads a few bytes that may be anything.
func (r *reader) skip(n int) {
	for range n {
		r.byte()
	}
}

// u32 reads an unsigned LEB128 number of at most 32 bits.
func (r *reader) u32() uint32 {
	var v uint32
	for i := range 5 {
		b := r.byte()
		if i == 4 && b > 0x0f {
			r.malformed("a number does not fit in 32 bits")
		}
		v |= uint32(b&0x7f) << (7 * i)
		if b < 0x80 {
			break
		}
	}
	if r.err != nil {
		return 0
	}
	return v
}

// signed reads a signed LEB128 number of at most the given bits.
func (r *reader) signed(bits int) int64 {
	var v int64
	for shift := 0; ; shift += 7 {
		b := r.byte()
		if r.err != nil {
			return 0
		}
		v |= int64(b&0x7f) << shift
		if rest := bits - shift; rest < 7 {
			// The bits beyond the last one have to repeat the sign.
			if top := int8(b<<1) >> rest; b >= 0x80 || top != 0 && top != -1 {
				r.malformed("a number does not fit in %d bits", bits)
				return 0
			}
		}
		if b < 0x80 {
			if shift+7 < 64 && b&0x40 != 0 {
				v |= -1 << (shift + 7)
			}
			return v
		}
	}
}

// count reads how many items of at least size bytes follow. most is the limit.
func (r *reader) count(what string, size, most int) int {
	n := r.u32()
	switch {
	case r.err != nil:
		return 0
	case uint64(n)*uint64(size) > uint64(r.left()):
		r.malformed("it says that %d %s follow, which do not fit in the %d bytes that are left", n, what, r.left())
		return 0
	}
	if r.within(what, int(n), most); r.err != nil {
		return 0
	}
	return int(n)
}

// within fails if n is more than the limit.
func (r *reader) within(what string, n, most int) {
	if n > most {
		r.fail(OverLimit, "%d %s, more than the limit of %d", n, what, most)
	}
}

// bytes reads a counted string of bytes, a part of the module.
func (r *reader) bytes(what string, most int) []byte {
	n := r.count(what, 1, most)
	if r.err != nil {
		return nil
	}
	r.pos += n
	return r.data[r.pos-n : r.pos : r.pos]
}

func (r *reader) name() string {
	b := r.bytes("bytes of a name", MaxName)
	if r.err == nil && !utf8.Valid(b) {
		r.malformed("a name is not valid UTF-8")
	}
	return string(b)
}

// index reads an index that has to be below n.
func (r *reader) index(what string, n int) uint32 {
	i := r.u32()
	if r.err == nil && int64(i) >= int64(n) {
		r.malformed("%s %d does not exist; there are %d", what, i, n)
	}
	return i
}

// zero reads a byte that the format keeps for later.
func (r *reader) zero() {
	if b := r.byte(); b != 0 {
		r.malformed("a byte that has to be zero is 0x%02x", b)
	}
}
