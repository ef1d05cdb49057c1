package transport

import (
	"context"
	"errors"
	"io"
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
	c := ctx.Conn().(*conn) // the listener makes no others
	chunks := r.Takes == nil && ctx.Request.Header.IsHTTP11()
	// A connection that breaks first is closed and never taken over.
	c.unstarted = sync.OnceFunc(func() {
		defer ended()
		s.letGo(r)
	})
	c.leave()
	ctx.HijackSetNoResponse(true)
	ctx.Hijack(func(all net.Conn) {
		c.unstarted = nil
		if r.Takes != nil { // the framework's memory may hold the first that is sent
			defer ended()
			s.carry(c, r, chunks, func(end func()) {
				_, _ = io.Copy(&onward{to: r.Takes, from: c.raw, patience: s.leftBehind, end: end}, all)
			})
			return
		}
		// The framework gives its memory for the connection, and for the request, to
		// others as soon as this function returns: an idle stream needs none of it.
		go func() {
			defer ended()
			s.carry(c, r, chunks, func(func()) { untilGone(c) })
		}()
	})
}

// carry sends a stream, and closes its connection. It is over when reading is, too, which
// may end the stream before.
func (s *Server) carry(c *conn, r *reply.Response, chunks bool, reading func(end func())) {
	ctx, cancel := context.WithCancel(s.ctx)
	left := make(chan struct{})
	go func() {
		defer close(left)
		defer cancel()
		defer s.survive()
		reading(cancel)
	}()
	if s.stream(ctx, c, r, chunks) != nil {
		_ = c.raw.Close() // what TLS has to say at the end would have to wait, too
	}
	cancel()
	_ = c.Close() // the stream is over either way
	<-left
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

// errBroke ends a stream whose client is to see that there was to be more.
var errBroke = errors.New("the stream broke off")

// stream sends a stream to its end, and tells why that did not go as it should. A panic
// leaves it without its last chunk, so that the client sees that something broke.
func (s *Server) stream(ctx context.Context, c *conn, r *reply.Response, chunks bool) error {
	defer s.survive()
	if s.ctx.Err() != nil {
		s.letGo(r)
		turnAway(c)
		return nil
	}
	w := &frames{conn: c, head: head(r, chunks), raw: !chunks, parking: &parking{ctx: ctx}}
	if err := c.raw.SetWriteDeadline(time.Now().Add(lookFirst)); err != nil {
		w.failed = err
	}
	c.below.parking.Store(w.parking)
	defer c.below.parking.Store(nil)
	defer context.AfterFunc(ctx, func() { w.parking.hurry(c.raw) })()
	r.Stream(ctx, w)
	if r.Broke != nil && r.Broke() {
		return errors.Join(w.Flush(), errBroke)
	}
	w.end()
	return w.failed
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

// Write implements [reply.FrameWriter].
func (nowhere) Write(p []byte) (int, error) { return len(p), nil }

// Frame implements [reply.FrameWriter].
func (nowhere) Frame(_, _ []byte, _ string) {}

// Hold implements [reply.FrameWriter].
func (nowhere) Hold(func() bool) {}

// Flush implements [reply.FrameWriter].
func (nowhere) Flush() error { return net.ErrClosed }

// head is the response head of a stream. The connection ends with it, and a
// client that is not told would send its next request there.
func head(r *reply.Response, chunks bool) []byte {
	b := make([]byte, 0, 512)
	if r.Takes != nil {
		return append(appendFields(appendLine(b, r.Code), r.Headers), "\r\n\r\n"...)
	}
	b = append(appendHead(b, r), "\r\nConnection: close"...)
	if chunks {
		b = append(b, "\r\nTransfer-Encoding: chunked"...)
	}
	return append(b, "\r\n\r\n"...)
}

// appendHead appends a response head but for its last fields.
func appendHead(b []byte, r *reply.Response) []byte {
	b = appendLine(b, r.Code)
	b = append(b, "\r\nCache-Control: no-cache, private\r\nContent-Type: "...)
	b = append(b, r.ContentType...)
	b = append(b, "\r\nDate: "...)
	b = fasthttp.AppendHTTPDate(b, time.Now())
	return appendFields(b, r.Headers)
}

// appendLine appends the first line of a response.
func appendLine(b []byte, code int) []byte {
	b = append(b, "HTTP/1.1 "...)
	b = strconv.AppendInt(b, int64(code), 10)
	b = append(b, ' ')
	return append(b, fasthttp.StatusMessage(code)...)
}

func appendFields(b []byte, all []reply.Header) []byte {
	for _, x := range all {
		b = append(b, "\r\n"...)
		b = append(append(append(b, x.Name...), ": "...), x.Value...)
	}
	return b
}
