package api

import (
	"io"
	"net/http"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/wasmgate/wasmgate/crd/wire"
	"github.com/wasmgate/wasmgate/gateway/catalog"
	"github.com/wasmgate/wasmgate/gateway/deflate"
	"github.com/wasmgate/wasmgate/gateway/resource"
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
	// parts are what stands between head and tail; nil of all items.
	parts []part
}

// part is a part of a list: what is kept joined, which begins with a separator,
// or the items from one to before another.
type part struct {
	kept     []byte
	from, to int
}

// gather makes a sequence of entries, whose items encode makes. Those of which
// enough is kept are not encoded.
func gather(f form, t resource.Target, entries []*catalog.Entry, in catalog.Encoding, encode func([]*catalog.Entry) (items, error)) (sequence, error) {
	if f.gzip || len(entries) == 0 {
		made, err := encode(entries)
		return sequence{items: made}, err
	}
	stretches := t.Resource.Stretches(entries, in, time.Now())
	missing := entries
	if len(stretches) > 1 || len(stretches) == 1 && stretches[0].Joined != nil {
		missing = make([]*catalog.Entry, 0, len(entries))
		for _, x := range stretches {
			if x.Joined == nil {
				missing = append(missing, entries[x.From:x.To]...)
			}
		}
	}
	made, err := encode(missing)
	if err != nil {
		return sequence{}, err
	}
	s := sequence{items: made}
	next := 0
	for _, x := range stretches {
		p := part{kept: x.Joined}
		if x.Joined == nil {
			p.from, p.to = next, next+x.To-x.From
			next = p.to
		}
		if x.Wanted() {
			p.kept = s.run(append(make([]byte, 0, s.measure(p)), s.separator()...), p.from, p.to)
			t.Resource.Keep(&x, entries, p.kept)
		}
		s.parts = append(s.parts, p)
	}
	return s, nil
}

// divided are the parts, none of them empty.
func (s sequence) divided() []part {
	if s.parts != nil || s.count() == 0 {
		return s.parts
	}
	return []part{{to: s.count()}}
}

// measure is how long a part is, with a separator before it.
func (s sequence) measure(p part) int {
	if p.kept != nil {
		return len(p.kept)
	}
	n := (p.to - p.from) * len(s.separator())
	for i := p.from; i < p.to; i++ {
		n += s.size(i)
	}
	return n
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
	n := len(s.head) + len(s.tail)
	for i, p := range s.divided() {
		if n += s.measure(p); i == 0 {
			n -= len(s.separator())
		}
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
	var err error
	for n, p := range s.divided() {
		if p.kept == nil {
			if buf, err = s.pass(w, buf, p, n == 0); err != nil {
				return err
			}
			continue
		}
		if n == 0 {
			p.kept = p.kept[len(s.separator()):]
		}
		if len(buf) > 0 {
			if _, err := w.Write(buf); err != nil {
				return err
			}
			buf = buf[:0]
		}
		if _, err := w.Write(p.kept); err != nil { // as it is: it is large
			return err
		}
	}
	_, err = w.Write(append(buf, s.tail...))
	return err
}

// pass appends the items of a part to buf, which it writes when it is full.
func (s sequence) pass(w io.Writer, buf []byte, p part, first bool) ([]byte, error) {
	for i := p.from; i < p.to; i++ {
		if i > p.from || !first {
			buf = append(buf, s.separator()...)
		}
		if len(buf) > 0 && len(buf)+s.size(i) > cap(buf) {
			if _, err := w.Write(buf); err != nil {
				return nil, err
			}
			if buf = buf[:0]; cap(buf) > maxPiece {
				buf = make([]byte, 0, pieceSize)
			}
		}
		buf = s.appendTo(buf, i)
	}
	return buf, nil
}
