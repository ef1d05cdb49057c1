package run

import (
	"encoding/binary"
	"io"
)

// Body is one reply, made of pieces. The zero value is empty.
type Body struct {
	pieces []Piece
	length int
	crc    uint32
	size   uint32
}

const (
	// header says gzip, deflate, no name and no time, compressed for speed, on
	// whatever system.
	header = "\x1f\x8b\x08\x00\x00\x00\x00\x00\x04\xff"
	// last is an empty block that says that it is the last one.
	last = "\x01\x00\x00\xff\xff"
	// trailer is the length of the checksum and of the size.
	trailer = 8
)

// Add appends a piece.
func (b *Body) Add(p Piece) {
	b.pieces = append(b.pieces, p)
	b.length += len(p.data)
	b.crc = product(p.shift, b.crc) ^ p.crc
	b.size += uint32(p.size) // modulo 2 to the 32, as the format has it
}

// Length is how many bytes Write writes.
func (b *Body) Length() int { return len(header) + b.length + len(last) + trailer }

// buffered is how much is gathered for one write.
const buffered = 64 << 10

// Write writes the reply.
func (b *Body) Write(w io.Writer) error {
	buf := append(make([]byte, 0, min(b.Length(), buffered)), header...)
	for _, p := range b.pieces {
		if len(buf)+len(p.data) > buffered && len(buf) > 0 {
			if _, err := w.Write(buf); err != nil {
				return err
			}
			buf = buf[:0]
		}
		if len(p.data) > buffered {
			if _, err := w.Write(p.data); err != nil {
				return err
			}
			continue
		}
		buf = append(buf, p.data...)
	}
	buf = append(buf, last...)
	buf = binary.LittleEndian.AppendUint32(buf, b.crc)
	_, err := w.Write(binary.LittleEndian.AppendUint32(buf, b.size))
	return err
}
