package wasm

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// The sections of a module that are read here.
const (
	sectionType     = 1
	sectionImport   = 2
	sectionFunction = 3
	sectionTable    = 4
	sectionMemory   = 5
	sectionExport   = 7
	sectionCode     = 10
)

// The kinds of imports and exports.
const (
	kindFunc   = 0
	kindTable  = 1
	kindMemory = 2
	kindGlobal = 3
	kindTag    = 4
)

var magic = []byte{0, 'a', 's', 'm'}

// section is one part of a module; body is a part of the module's bytes.
type section struct {
	id         byte
	start, end int // with the header
	body       []byte
}

// reader reads the binary format. The first error stays and everything after
// it reads as zero.
type reader struct {
	data []byte
	pos  int
	err  error
}

var errTruncated = errors.New("it ends in the middle of a section")

func (r *reader) byte() byte {
	if r.err == nil && r.pos >= len(r.data) {
		r.err = errTruncated
	}
	if r.err != nil {
		return 0
	}
	r.pos++
	return r.data[r.pos-1]
}

// u32 reads a LEB128 number.
func (r *reader) u32() uint32 {
	if r.err != nil {
		return 0
	}
	v, n := binary.Uvarint(r.data[r.pos:min(len(r.data), r.pos+5)])
	switch {
	case n == 0:
		r.err = errTruncated
	case n < 0 || v > math.MaxUint32:
		r.err = errors.New("a number in it is not valid LEB128")
	}
	if r.err != nil {
		return 0
	}
	r.pos += n
	return uint32(v)
}

func (r *reader) bytes() []byte {
	n := int(r.u32())
	if r.err == nil && n > len(r.data)-r.pos {
		r.err = errTruncated
	}
	if r.err != nil {
		return nil
	}
	r.pos += n
	return r.data[r.pos-n : r.pos]
}

// limits reads the size of a memory or table.
func (r *reader) limits() (flags byte, low uint32, high uint32, bounded bool) {
	flags = r.byte()
	if flags > 1 {
		r.fail("a memory or table of it is shared or 64 bits wide, which is not supported")
	}
	low = r.u32()
	if flags&1 != 0 {
		high, bounded = r.u32(), true
	}
	return flags, low, high, bounded
}

func (r *reader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf(format, args...)
	}
}

// sections splits a module. The error says what is wrong with it as a whole.
func sections(module []byte) ([]section, error) {
	var out []section
	r := &reader{data: module, pos: 8}
	for r.pos < len(module) {
		s := section{start: r.pos}
		s.id = r.byte()
		s.body = r.bytes()
		if r.err != nil {
			return nil, r.err
		}
		s.end = r.pos
		out = append(out, s)
	}
	return out, nil
}
