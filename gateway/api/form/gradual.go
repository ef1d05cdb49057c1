package form

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"net/http"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/wasmgate/wasmgate/gateway/api/reply"
	"github.com/wasmgate/wasmgate/gateway/view"
	"github.com/wasmgate/wasmgate/gateway/view/encoding"
)

// source makes the items of a list, in JSON.
type source interface {
	count() int
	// item is asked for each item once, in order.
	item(i int) (encoding.Object, error)
}

// objects make a [source].
type objects []encoding.Object

func (o objects) count() int { return len(o) }

func (o objects) item(i int) (encoding.Object, error) { return o[i], nil }

// gradual is a list that is put into its encoding while it is sent, so that it is
// never in memory as a whole. It is an [io.Reader].
type gradual struct {
	media encoding.Media
	after []byte
	source
	// left is how much more time may be taken for making it.
	left time.Duration
	next int // item
	done bool
	made []byte       // and not yet in out
	out  bytes.Buffer // is read from
	zip  *gzip.Writer // into out; nil of a reply that is not compressed
}

// gradually replies with a list. What is not worth compressing is made at once,
// and all else while it is sent; making it may take as long as ctx has left.
func gradually(ctx context.Context, f Form, list *encoding.List, items source) (*reply.Response, error) {
	before, after, err := f.shown().Codec().Around(list, items.count(), 0)
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	until, _ := ctx.Deadline()
	g := &gradual{media: f.shown(), after: after, source: items, left: time.Until(until), made: before}
	if err := g.make(gzipLeast); err != nil {
		return nil, err
	}
	resp := &reply.Response{Code: http.StatusOK, ContentType: f.media.Name()}
	if g.done {
		resp.Body = g.made
		return resp, nil
	}
	resp.Reader = g
	if f.gzip {
		resp.Headers = gzipHeaders()
		g.zip, _ = gzip.NewWriterLevel(&g.out, gzip.BestSpeed) // there is that level
	}
	return resp, nil
}

// make makes more than so many bytes, or all that is left.
func (g *gradual) make(most int) error {
	began := time.Now()
	for len(g.made) <= most && g.next < g.count() {
		if time.Since(began) > g.left {
			return view.ErrTimeout()
		}
		o, err := g.item(g.next)
		if err == nil {
			if g.next > 0 {
				g.made = append(g.made, g.media.Separator()...)
			}
			g.made, err = g.media.Codec().AppendItem(g.made, o)
		}
		if err != nil {
			return apierrors.NewInternalError(err)
		}
		g.next++
	}
	g.left -= time.Since(began)
	if g.next == g.count() && !g.done {
		g.made, g.done = append(g.made, g.after...), true
	}
	return nil
}

// Read implements [io.Reader].
func (g *gradual) Read(p []byte) (int, error) {
	for g.out.Len() == 0 {
		if g.out.Cap() > maxPiece {
			g.out = bytes.Buffer{}
		}
		if len(g.made) == 0 && g.done {
			return 0, io.EOF
		}
		if err := g.make(pieceSize); err != nil {
			return 0, err
		}
		if err := g.pass(); err != nil {
			return 0, err
		}
	}
	return g.out.Read(p)
}

// pass moves what was made to where it is read.
func (g *gradual) pass() (err error) {
	if g.zip == nil {
		g.out.Write(g.made)
	} else if _, err = g.zip.Write(g.made); err == nil && g.done {
		err = g.zip.Close()
	}
	if g.made = g.made[:0]; cap(g.made) > maxPiece {
		g.made = nil
	}
	return err
}
