package transport

import (
	"context"
	"io"
	"net"
	"strconv"
	"sync"
	"time"

	"github.com/valyala/fasthttp"

	"github.com/wasmgate/wasmgate/gateway/api"
)

func itoa(n int) string { return strconv.Itoa(n) }

// reply hands a response to the framework, or takes the connection over.
func (s *Server) reply(ctx *fasthttp.RequestCtx, r *api.Response) error {
	if r.Stream != nil {
		s.takeOver(ctx, r)
		return nil
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
	if r.Write != nil {
		ctx.Response.SetBodyStream(&list{write: r.Write}, r.Length)
		return nil
	}
	ctx.Response.SetBodyRaw(r.Body)
	return nil
}

// list lets a reply write itself to the connection. The framework uses
// WriteTo; Read serves it when it does not.
type list struct {
	write func(io.Writer) error
	once  sync.Once
	pipe  *io.PipeReader
}

// WriteTo implements [io.WriterTo].
func (l *list) WriteTo(w io.Writer) (int64, error) {
	c := &counter{w: w}
	err := l.write(c)
	return c.n, err
}

// Read implements [io.Reader].
func (l *list) Read(p []byte) (int, error) {
	l.once.Do(func() {
		r, w := io.Pipe()
		l.pipe = r
		go func() { _ = w.CloseWithError(l.write(w)) }() // the reader sees the error
	})
	return l.pipe.Read(p)
}

// Close implements [io.Closer]; the framework calls it when the reply is done.
func (l *list) Close() error {
	if l.pipe != nil {
		return l.pipe.Close()
	}
	return nil
}

type counter struct {
	w io.Writer
	n int64
}

func (c *counter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}

// takeOver sends a stream on the connection itself: the framework would not
// notice that the client left. A goroutine blocked in Read does, at once.
func (s *Server) takeOver(ctx *fasthttp.RequestCtx, r *api.Response) {
	s.streams.Add(1)
	ctx.HijackSetNoResponse(true)
	ctx.Hijack(func(conn net.Conn) {
		defer s.streams.Done()
		sctx, cancel := context.WithCancel(s.ctx)
		defer cancel()
		_ = conn.SetReadDeadline(time.Time{}) // a failure shows in the read
		go func() {
			defer cancel()
			var b [64]byte
			for {
				if _, err := conn.Read(b[:]); err != nil {
					return
				}
			}
		}()
		w := &chunks{conn: conn, buf: head(r)}
		w.start = len(w.buf)
		r.Stream(sctx, w)
		w.end()
		_ = conn.Close() // the stream is over either way
	})
}

// head is the response head of a stream.
func head(r *api.Response) []byte {
	b := append(make([]byte, 0, 4096), "HTTP/1.1 "...)
	b = strconv.AppendInt(b, int64(r.Code), 10)
	b = append(b, ' ')
	b = append(b, fasthttp.StatusMessage(r.Code)...)
	b = append(b, "\r\nCache-Control: no-cache, private\r\nContent-Type: "...)
	b = append(b, r.ContentType...)
	b = append(b, "\r\nDate: "...)
	b = fasthttp.AppendHTTPDate(b, time.Now())
	for _, x := range r.Headers {
		b = append(b, "\r\n"...)
		b = append(append(append(b, x.Name...), ": "...), x.Value...)
	}
	return append(b, "\r\nTransfer-Encoding: chunked\r\n\r\n"...)
}

// streamWriteTimeout is how long a client may take to accept what is sent;
// after that it is gone, and nobody else has waited for it. Moving a deadline
// has a price, so it is moved only now and then, and a client may have up to
// streamWriteSlack less.
const (
	streamWriteTimeout = 30 * time.Second
	streamWriteSlack   = 10 * time.Second
)

// keepBuffer is the most buffer that a quiet stream keeps.
const keepBuffer = 16 << 10

// sizeRoom is the space for a chunk's size line.
const sizeRoom = 10

// chunks implements [api.FrameWriter] on a connection: one chunk, one write.
type chunks struct {
	conn net.Conn
	buf  []byte
	// start is where the chunk under way begins in buf; before it is the
	// response head, until that is sent.
	start  int
	open   bool
	failed error
	// deadlineSet is when the write deadline was moved last.
	deadlineSet time.Time
}

// Write collects.
func (c *chunks) Write(p []byte) (int, error) {
	if !c.open {
		c.start = len(c.buf)
		c.buf = append(c.buf, make([]byte, sizeRoom)...)
		c.open = true
	}
	c.buf = append(c.buf, p...)
	return len(p), nil
}

// Flush sends what was collected.
func (c *chunks) Flush() error {
	if c.failed != nil || len(c.buf) == 0 {
		return c.failed
	}
	out := c.buf
	if c.open {
		size := len(c.buf) - c.start - sizeRoom
		var line [sizeRoom]byte
		l := append(strconv.AppendInt(line[:0], int64(size), 16), "\r\n"...)
		from := c.start + sizeRoom - len(l)
		copy(c.buf[from:], l)
		c.buf = append(c.buf, "\r\n"...)
		copy(c.buf[from-c.start:], c.buf[:c.start]) // the head, moved up to the chunk
		out = c.buf[from-c.start:]
	}
	return c.send(out)
}

func (c *chunks) send(out []byte) error {
	if now := time.Now(); now.Sub(c.deadlineSet) > streamWriteSlack {
		if c.failed = c.conn.SetWriteDeadline(now.Add(streamWriteTimeout)); c.failed != nil {
			return c.failed
		}
		c.deadlineSet = now
	}
	_, c.failed = c.conn.Write(out)
	if c.buf, c.open = c.buf[:0], false; cap(c.buf) > keepBuffer {
		c.buf = nil
	}
	return c.failed
}

// end closes the stream in a way that the client can tell from a broken one.
func (c *chunks) end() {
	if c.Flush() == nil {
		_ = c.send([]byte("0\r\n\r\n")) // the connection is closed next
	}
}
