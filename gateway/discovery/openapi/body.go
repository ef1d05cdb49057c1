package openapi

import (
	"bufio"
	"io"
)

// Body is a document in pieces, one after the other. They are shared and must not be
// changed: what many definitions add to one document is in memory once, and never all
// together.
type Body [][]byte

// Length is how many bytes Write writes.
func (b Body) Length() (n int) {
	for _, piece := range b {
		n += len(piece)
	}
	return n
}

// gathered is how many bytes of short pieces are written at once.
const gathered = 64 << 10

// Write writes the document.
func (b Body) Write(w io.Writer) error {
	out := bufio.NewWriterSize(w, gathered)
	for _, piece := range b {
		if _, err := out.Write(piece); err != nil {
			return err
		}
	}
	return out.Flush()
}

// Joined is the document in one piece.
func (b Body) Joined() []byte {
	if len(b) == 1 {
		return b[0]
	}
	out := make([]byte, 0, b.Length())
	for _, piece := range b {
		out = append(out, piece...)
	}
	return out
}
