package run

import (
	"bytes"
	"compress/flate"
	"hash/crc32"
	"sync"
)

// Piece is a run of bytes, compressed. It is immutable.
type Piece struct {
	data []byte
	size int
	crc  uint32
	// shift is the checksum's operator for size zero bytes.
	shift uint32
}

// Size is how many bytes of memory the piece takes.
func (p Piece) Size() int { return len(p.data) }

// writers are idle compressors, each some hundred kilobytes.
var writers = sync.Pool{New: func() any {
	w, _ := flate.NewWriter(nil, flate.BestSpeed) // there is that level
	return w
}}

// Compress makes a piece of data, which it does not keep.
func Compress(data []byte) Piece {
	var out bytes.Buffer
	out.Grow(len(data)/4 + 64)
	w := writers.Get().(*flate.Writer)
	w.Reset(&out)
	_, _ = w.Write(data) // a buffer takes everything
	_ = w.Flush()
	writers.Put(w)
	return Piece{data: bytes.Clone(out.Bytes()), size: len(data), crc: crc32.ChecksumIEEE(data), shift: shiftBy(len(data))}
}

// Verbatim makes a piece of a few bytes, less than 64 KiB, as they are.
func Verbatim(data []byte) Piece {
	n := uint16(len(data))
	block := []byte{0, byte(n), byte(n >> 8), byte(^n), byte(^n >> 8)}
	return Piece{data: append(block, data...), size: len(data), crc: crc32.ChecksumIEEE(data), shift: shiftBy(len(data))}
}
