package api

import (
	"io"
	"net/http"

	"github.com/wasmgate/wasmgate/crd/wire"
)

// items are the items of a list, in one encoding; their bytes are shared.
type items interface {
	count() int
	// size is how many bytes appendTo appends.
	size(i int) int
	// appendTo appends item i, and what parts it from the one before.
	appendTo(dst []byte, i int) []byte
}

// objects are items in JSON.
type objects [][]byte

func (o objects) count() int { return len(o) }

func (o objects) size(i int) int { return len(o[i]) + min(i, 1) }

func (o objects) appendTo(dst []byte, i int) []byte {
	if i > 0 {
		dst = append(dst, ',')
	}
	return append(dst, o[i]...)
}

// messages are items in protobuf.
type messages []wire.Message

func (m messages) count() int { return len(m) }

func (m messages) size(i int) int { return m[i].ItemSize() }

func (m messages) appendTo(dst []byte, i int) []byte { return m[i].AppendItem(dst) }

// sequence is a list ready to be sent.
type sequence struct {
	head, tail []byte
	items
}

// response sends the list a piece at a time.
func (s sequence) response(media string) *Response {
	return &Response{Code: http.StatusOK, ContentType: media, Write: s.write, Length: s.length()}
}

func (s sequence) length() int {
	n := len(s.head) + len(s.tail)
	for i := range s.count() {
		n += s.size(i)
	}
	return n
}

// pieceSize is how much of a list is gathered for one write to the connection.
const pieceSize = 64 << 10

func (s sequence) write(w io.Writer) error {
	buf := append(make([]byte, 0, pieceSize+pieceSize/4), s.head...)
	for i := range s.count() {
		if len(buf) > 0 && len(buf)+s.size(i) > cap(buf) {
			if _, err := w.Write(buf); err != nil {
				return err
			}
			if buf = buf[:0]; cap(buf) > maxPiece {
				buf = make([]byte, 0, pieceSize)
			}
		}
		buf = s.appendTo(buf, i)
	}
	_, err := w.Write(append(buf, s.tail...))
	return err
}

// maxPiece is the most memory that is kept for the next piece, after an object
// that needed more.
const maxPiece = 4 * pieceSize
