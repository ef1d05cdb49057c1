package transport

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"sync"

	"github.com/valyala/fasthttp"

	"github.com/wasmgate/wasmgate/gateway/api/reply"
)

// reply hands a response to the framework, or takes the connection over.
func (s *Server) reply(ctx *fasthttp.RequestCtx, r *reply.Response) {
	if r.Stream != nil {
		s.takeOver(ctx, r)
		return
	}
	if r.Reader != nil && (!ctx.Request.Header.IsHTTP11() || ctx.IsHead()) {
		r = s.whole(r, ctx.IsHead())
	}
	h := &ctx.Response.Header
	ctx.Response.SetStatusCode(r.Code)
	h.SetContentType(r.ContentType)
	h.Set("Cache-Control", "no-cache, private")
	for _, x := range r.Headers {
		if x.Name == "Warning" {
			h.Add(x.Name, x.Value)
		} else {
			h.Set(x.Name, x.Value)
		}
	}
	if r.Reader != nil { // in chunks; without the last one when it breaks off, or panics
		done := over(r)
		if b := bodyOf(ctx); b.coming != nil && !b.coming.ended.Load() {
			b.later = true
			replied := done
			done = sync.OnceFunc(func() {
				defer b.end()
				replied()
			})
		}
		ctx.Response.SetBodyStream(&pieces{r.Reader, done}, -1)
		return
	}
	if r.Write != nil {
		ctx.Response.SetBodyStream(&list{write: r.Write, left: r.Length, done: once(r.Done)}, r.Length)
		return
	}
	ctx.Response.SetBodyRaw(r.Body)
}

// whole is a reply for a client that knows no chunks, or wants none: the framework
// ends even those that it does not send. Nobody knows how much it is, and it may never end.
func (s *Server) whole(r *reply.Response, head bool) *reply.Response {
	out := *r
	out.Reader, out.Done = nil, nil
	end := over(r)
	if head {
		defer end()
		n, err := io.Copy(io.Discard, r.Reader)
		if err != nil {
			return reply.Failure(http.StatusInternalServerError, err.Error())
		}
		out.Length, out.Write = int(n), func(io.Writer) error { return nil }
		return &out
	}
	body := &collecting{budget: s.options.Bodies}
	done := func() {
		body.give()
		end()
	}
	defer func() {
		if out.Done == nil { // it is not to be sent
			done()
		}
	}()
	if _, err := io.Copy(body, r.Reader); err != nil {
		return reply.Failure(http.StatusInternalServerError, err.Error())
	}
	out.Length = body.all.Len()
	out.Write = func(w io.Writer) error {
		_, err := w.Write(body.all.Bytes())
		return err
	}
	out.Done = done
	return &out
}

// over is what ends a reply by Reader, one time at most.
func over(r *reply.Response) func() {
	return sync.OnceFunc(func() {
		if r.Done != nil {
			defer r.Done()
		}
		if c, ok := r.Reader.(io.Closer); ok {
			_ = c.Close() // nobody is left to tell
		}
	})
}

// collecting is a reply that comes into memory that there is for bodies.
type collecting struct {
	budget Memory
	all    bytes.Buffer
	held   int
}

// Write implements [io.Writer].
func (c *collecting) Write(p []byte) (int, error) {
	if c.all.Len()+len(p) > c.budget.Most() || !c.budget.Take(2*len(p)) { // as the memory doubles
		return 0, errors.New("the reply is too large for a client of HTTP/1.0")
	}
	c.held += 2 * len(p)
	return c.all.Write(p)
}

func (c *collecting) give() { c.budget.Give(c.held) }

// once is a function that calls another one time at most.
func once(f func()) func() {
	if f == nil {
		return func() {}
	}
	return sync.OnceFunc(f)
}

// pieces is a reply of no known length, which the framework closes in the end.
type pieces struct {
	io.Reader
	done func()
}

// Read implements [io.Reader]. What panics ends here, before the framework gives what is
// left of the request to others.
func (p *pieces) Read(b []byte) (int, error) {
	defer func() {
		if failed := recover(); failed != nil {
			p.done()
			panic(failed)
		}
	}()
	return p.Reader.Read(b)
}

// Close implements [io.Closer].
func (p *pieces) Close() error {
	p.done()
	return nil
}

// list lets a reply write itself to the connection, through WriteTo.
type list struct {
	write func(io.Writer) error
	left  int
	done  func()
}

// Close implements [io.Closer]: the framework calls it in the end.
func (l *list) Close() error {
	l.done()
	return nil
}

// errTooLong ends the connection of a reply that is longer than it said: what
// follows would be taken for the next reply.
var errTooLong = errors.New("the reply is longer than its Content-Length")

// WriteTo implements [io.WriterTo].
func (l *list) WriteTo(w io.Writer) (int64, error) {
	c := &counter{w: w, left: l.left}
	err := l.write(c)
	return c.n, err
}

// Read makes list an [io.Reader], which the framework asks for and, since
// there is a WriteTo, does not use.
func (l *list) Read([]byte) (int, error) { return 0, errors.ErrUnsupported }

// counter counts what is written, and lets through no more than was promised.
type counter struct {
	w    io.Writer
	n    int64
	left int
}

// Write implements [io.Writer].
func (c *counter) Write(p []byte) (int, error) {
	if len(p) > c.left {
		return 0, errTooLong
	}
	n, err := c.w.Write(p)
	c.n += int64(n)
	c.left -= n
	return n, err
}
