package form

import (
	"context"
	"io"
	"net/http"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/wasmgate/wasmgate/gateway/api/reply"
	"github.com/wasmgate/wasmgate/gateway/resource"
	"github.com/wasmgate/wasmgate/gateway/view"
	"github.com/wasmgate/wasmgate/gateway/view/encoding"
	"github.com/wasmgate/wasmgate/gateway/view/run"
)

// sequence is a list of objects in the media type that they are kept in, ready to be
// sent.
type sequence struct {
	media      encoding.Media
	head, tail []byte
	items      []encoding.Object
	// parts are what stands between head and tail; nil of all items.
	parts []part
}

// part is a part of a list: what is kept joined, which begins with a separator,
// or the items from one to before another.
type part struct {
	kept     []byte
	from, to int
}

// gather makes a sequence of entries. Those of which enough is kept are not encoded.
func gather(ctx context.Context, f Form, t resource.Target, entries []*view.Entry, runs run.Key) (sequence, error) {
	encode := func(due []*view.Entry) (s sequence, err error) {
		s.media = f.media
		s.items, err = t.Resource.Objects(ctx, nil, due, runs.Encoding)
		return s, err
	}
	if f.gzip || len(entries) == 0 {
		return encode(entries)
	}
	stretches := run.Stretches(entries, runs, time.Now())
	missing := entries
	if len(stretches) > 1 || len(stretches) == 1 && stretches[0].Joined != nil {
		missing = make([]*view.Entry, 0, len(entries))
		for _, x := range stretches {
			if x.Joined == nil {
				missing = append(missing, entries[x.From:x.To]...)
			}
		}
	}
	s, err := encode(missing)
	if err != nil {
		return s, err
	}
	next := 0
	for _, x := range stretches {
		p := part{kept: x.Joined}
		if x.Joined == nil {
			p.from, p.to = next, next+x.To-x.From
			next = p.to
		}
		if x.Wanted() {
			p.kept = s.run(append(make([]byte, 0, s.measure(p)), s.media.Separator()...), p.from, p.to)
			x.Keep(entries, p.kept)
		}
		s.parts = append(s.parts, p)
	}
	return s, nil
}

// divided are the parts, none of them empty.
func (s sequence) divided() []part {
	if s.parts != nil || len(s.items) == 0 {
		return s.parts
	}
	return []part{{to: len(s.items)}}
}

// measure is how long a part is, with a separator before it.
func (s sequence) measure(p part) int {
	if p.kept != nil {
		return len(p.kept)
	}
	n := (p.to - p.from) * len(s.media.Separator())
	for i := p.from; i < p.to; i++ {
		n += s.size(i)
	}
	return n
}

// response sends the list, whose items are of entries, a piece at a time, and
// compressed where that is wanted and pays.
func (s sequence) response(f Form, entries []*view.Entry, runs run.Key) (*reply.Response, error) {
	length := s.length()
	if !f.gzip || length <= gzipLeast {
		return &reply.Response{Code: http.StatusOK, ContentType: f.media.Name(), Write: s.write, Length: length}, nil
	}
	pieces, err := run.Compressed(entries, runs, s.size, s.run)
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	var body run.Body
	body.Add(run.Compress(s.head))
	separator := s.media.Separator()
	between := run.Verbatim([]byte(separator))
	for i, p := range pieces {
		if i > 0 && separator != "" {
			body.Add(between)
		}
		body.Add(p)
	}
	body.Add(run.Compress(s.tail))
	return &reply.Response{Code: http.StatusOK, ContentType: f.media.Name(), Headers: gzipHeaders(), Write: body.Write, Length: body.Length()}, nil
}

func (s sequence) length() int {
	n := len(s.head) + len(s.tail)
	for i, p := range s.divided() {
		if n += s.measure(p); i == 0 {
			n -= len(s.media.Separator())
		}
	}
	return n
}

// run appends the items from one to before another.
func (s sequence) run(dst []byte, from, to int) []byte {
	for i := from; i < to; i++ {
		if i > from {
			dst = append(dst, s.media.Separator()...)
		}
		dst = s.appendTo(dst, i)
	}
	return dst
}

// size is how many bytes appendTo appends of item i.
func (s sequence) size(i int) int { return s.media.Keeper().ItemSize(s.items[i]) }

func (s sequence) appendTo(dst []byte, i int) []byte {
	dst, _ = s.media.Codec().AppendItem(dst, s.items[i]) // what is kept is encoded
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
			p.kept = p.kept[len(s.media.Separator()):]
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
			buf = append(buf, s.media.Separator()...)
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
