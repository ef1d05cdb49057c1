package api

import (
	"io"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/wasmgate/wasmgate/crd/wire"
	"github.com/wasmgate/wasmgate/gateway/catalog"
	"github.com/wasmgate/wasmgate/gateway/deflate"
)

// items are the items of a list, in one encoding; their bytes are shared.
type items interface {
	count() int
	// size is how many bytes appendTo appends of item i.
	size(i int) int
	appendTo(dst []byte, i int) []byte
	// separator is what stands between two items.
	separator() string
}

// objects are items in JSON.
type objects [][]byte

func (o objects) count() int { return len(o) }

func (o objects) size(i int) int { return len(o[i]) }

func (o objects) appendTo(dst []byte, i int) []byte { return append(dst, o[i]...) }

func (o objects) separator() string { return "," }

// item makes objects a [source].
func (o objects) item(i int) ([]byte, error) { return o[i], nil }

// messages are items in protobuf.
type messages []wire.Message

func (m messages) count() int { return len(m) }

func (m messages) size(i int) int { return m[i].ItemSize() }

func (m messages) appendTo(dst []byte, i int) []byte { return m[i].AppendItem(dst) }

func (m messages) separator() string { return "" }

// sequence is a list ready to be sent.
type sequence struct {
	head, tail []byte
	items
}

// response sends the list, whose items are of entries, a piece at a time, and
// compressed where that is wanted and pays.
func (s sequence) response(f form, entries []*catalog.Entry, in catalog.Encoding) (*Response, error) {
	length := s.length()
	if !f.gzip || length <= gzipLeast {
		return &Response{Code: http.StatusOK, ContentType: f.media, Write: s.write, Length: length}, nil
	}
	pieces, err := catalog.Compressed(entries, in, s.size, s.run)
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	var body deflate.Body
	body.Add(deflate.Compress(s.head))
	between := deflate.Verbatim([]byte(s.separator()))
	for i, p := range pieces {
		if i > 0 && s.separator() != "" {
			body.Add(between)
		}
		body.Add(p)
	}
	body.Add(deflate.Compress(s.tail))
	return &Response{Code: http.StatusOK, ContentType: f.media, Headers: gzipHeaders(), Write: body.Write, Length: body.Length()}, nil
}

func (s sequence) length() int {
	n := len(s.head) + len(s.tail) + max(s.count()-1, 0)*len(s.separator())
	for i := range s.count() {
		n += s.size(i)
	}
	return n
}

// run appends the items from one to before another.
func (s sequence) run(dst []byte, from, to int) []byte {
	for i := from; i < to; i++ {
		if i > from {
			dst = append(dst, s.separator()...)
		}
		dst = s.appendTo(dst, i)
	}
	return dst
}

const (
	// pieceSize is how much of a list is gathered for one write to the connection.
	pieceSize = 64 << 10
	// maxPiece is the most memory that is kept for the next piece, after an
	// object that needed more.
	maxPiece = 4 * pieceSize
)

func (s sequence) write(w io.Writer) error {
	buf := append(make([]byte, 0, pieceSize+pieceSize/4), s.head...)
	for i := range s.count() {
		if i > 0 {
			buf = append(buf, s.separator()...)
		}
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
