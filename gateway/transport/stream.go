package transport

import (
	"context"
	"net"
	"runtime/debug"
	"strconv"
	"sync"
	"time"

	"github.com/valyala/fasthttp"

	"github.com/wasmgate/wasmgate/gateway/api/reply"
)

// takeOver sends a stream on the connection itself: the framework would not
// notice that the client left. A goroutine blocked in Read does, at once.
func (s *Server) takeOver(ctx *fasthttp.RequestCtx, r *reply.Response) {
	s.streams.Add(1)
	ended := sync.OnceFunc(s.streams.Done)
	taken, ours := ctx.Conn().(*conn)
	if ours { // a connection that breaks first is closed and never taken over
		taken.unstarted = sync.OnceFunc(func() {
			defer ended()
			s.letGo(r)
		})
		taken.leave()
	}
	ctx.HijackSetNoResponse(true)
	ctx.Hijack(func(conn net.Conn) {
		if ours {
			taken.unstarted = nil
		}
		defer ended()
		sctx, cancel := context.WithCancel(s.ctx)
		left := make(chan struct{})
		go func() {
			defer close(left)
			defer cancel()
			untilGone(conn)
		}()
		s.stream(sctx, conn, r)
		cancel()
		_ = conn.Close() // the stream is over either way
		// The framework gives the connection's memory to others as soon as
		// this function returns, so nobody may still be reading into it.
		<-left
	})
}

// untilGone reads, and drops, what a client sends until it leaves.
func untilGone(conn net.Conn) {
	var b [64]byte
	for {
		if _, err := conn.Read(b[:]); err != nil {
			return
		}
	}
}

// letGo ends a stream that nobody will read. Only the stream knows what it holds.
func (s *Server) letGo(r *reply.Response) {
	defer s.survive()
	ctx, cancel := context.WithCancel(s.ctx)
	cancel()
	r.Stream(ctx, nowhere{})
}

// survive, deferred, makes a panic the end of one stream only.
func (s *Server) survive() {
	if p := recover(); p != nil {
		s.options.Log.Error().Interface("panic", p).Bytes("stack", debug.Stack()).Msg("stream failed")
	}
}

// stream sends a stream to its end. A panic leaves it without its last chunk, so
// that the client sees that something broke.
func (s *Server) stream(ctx context.Context, conn net.Conn, r *reply.Response) {
	defer s.survive()
	if s.ctx.Err() != nil {
		s.letGo(r)
		turnAway(conn)
		return
	}
	w := &chunks{conn: conn, buf: head(r), closing: s.ctx.Done()}
	stop := context.AfterFunc(s.ctx, w.hurry)
	defer stop()
	r.Stream(ctx, w)
	w.end()
}

// turnAway answers a stream that was asked for while the server stops: a stream
// that ends as soon as it begins would make clients believe that they missed
// something, and list everything again.
func turnAway(conn net.Conn) {
	r := reply.Stopping()
	b := appendHead(make([]byte, 0, 1024), r)
	b = append(b, "\r\nConnection: close\r\nContent-Length: "...)
	b = append(strconv.AppendInt(b, int64(len(r.Body)), 10), "\r\n\r\n"...)
	_ = conn.SetWriteDeadline(time.Now().Add(streamCloseTimeout))
	_, _ = conn.Write(append(b, r.Body...)) // who is gone need not be told
}

// nowhere takes nothing.
type nowhere struct{}

// Write implements [io.Writer].
func (nowhere) Write(p []byte) (int, error) { return len(p), nil }

// Flush implements [reply.FrameWriter].
func (nowhere) Flush() error { return net.ErrClosed }

// head is the response head of a stream. The connection ends with it, and a
// client that is not told would send its next request there.
func head(r *reply.Response) []byte {
	b := appendHead(make([]byte, 0, 4096), r)
	return append(b, "\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n"...)
}

// appendHead appends a response head but for its last fields.
func appendHead(b []byte, r *reply.Response) []byte {
	b = append(b, "HTTP/1.1 "...)
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
	return b
}

// streamWriteTimeout is how long a client may take to accept what is sent;
// after that it is gone, and nobody else has waited for it. Moving a deadline
// has a price, so it is moved only now and then, and a client may have up to
// streamWriteSlack less. When the server stops, it has streamCloseTimeout.
const (
	streamWriteTimeout = 30 * time.Second
	streamWriteSlack   = 10 * time.Second
	streamCloseTimeout = 3 * time.Second
)

// keepBuffer is the most buffer that a quiet stream keeps.
const keepBuffer = 16 << 10

// sizeRoom is the space for a chunk's size line: eight hexadecimal digits.
const sizeRoom = 10

// chunks implements [reply.FrameWriter] on a connection: one chunk, one write.
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
	// closing is closed when the server stops.
	closing <-chan struct{}
}

// Write collects.
func (c *chunks) Write(p []byte) (int, error) {
	if len(p) == 0 { // a chunk of no bytes would end the reply
		return 0, nil
	}
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
	now := time.Now()
	timeout := streamWriteTimeout
	select {
	case <-c.closing:
		timeout = streamCloseTimeout
		c.deadlineSet = time.Time{}
	default:
	}
	if now.Sub(c.deadlineSet) > streamWriteSlack {
		if c.failed = c.conn.SetWriteDeadline(now.Add(timeout)); c.failed != nil {
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

// hurry gives a write that is under way when the server stops less time. It
// is called from another goroutine.
func (c *chunks) hurry() {
	_ = c.conn.SetWriteDeadline(time.Now().Add(streamCloseTimeout)) // a failure shows in the write
}

// end closes the stream in a way that the client can tell from a broken one.
func (c *chunks) end() {
	if c.Flush() == nil {
		_ = c.send([]byte("0\r\n\r\n")) // the connection is closed next
	}
}
