package transport

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"

	"github.com/valyala/fasthttp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wasmgate/wasmgate/deadline"
)

// Memory bounds the bytes of all request bodies that are in memory. It is safe for
// concurrent use.
type Memory interface {
	// Take reserves n bytes, or none.
	Take(n int) bool
	// Give gives n bytes back.
	Give(n int)
	// Most is how many there can be for one body.
	Most() int
}

const (
	// firstPiece is how much of a body is made room for at once. More comes
	// as bytes arrive, so that a Content-Length alone takes no memory.
	firstPiece = 64 << 10
	// firstChunk is the same for a body of unknown length.
	firstChunk = 4 << 10
	// leftover is how much of an unread body is thrown away to keep the
	// connection.
	leftover = 8 << 10
	// retryAfter is how many seconds a client should wait whose body did not
	// fit into the budget.
	retryAfter = 1
)

// The lengths that the framework reports for bodies without one.
const (
	chunked = -1
	noBody  = -2
)

// body is the body of one request, which stays on the connection until the
// handler asks for it. It is used by one goroutine.
type body struct {
	ctx    *fasthttp.RequestCtx
	budget Memory
	// length is what the head said, or chunked.
	length int
	got    int
	// held is what was taken from the budget.
	held int
	// over: nothing of the body is left on the connection.
	over bool
	// client ends when the client of the request has left.
	client deadline.Until
	// conn is the connection; nil for one that is not this package's.
	conn *conn
	// coming, if not nil, is who passes it on. later: the reply begins before that is
	// over, so that the request ends with its reply.
	coming *coming
	later  bool
}

func newBody(ctx *fasthttp.RequestCtx, b Memory) *body {
	n := ctx.Request.Header.ContentLength()
	c, _ := ctx.Conn().(*conn)
	return &body{ctx: ctx, budget: b, length: n, over: n == 0 || n == noBody || !ctx.Request.IsBodyStream(), conn: c}
}

// bodyKey is where a request keeps its body.
type bodyKey struct{}

func bodyOf(ctx *fasthttp.RequestCtx) *body { return ctx.UserValue(bodyKey{}).(*body) }

// withBody is next for requests that end with their client, and whose body is
// finished, whatever the framework and the handler did about it.
func (s *Server) withBody(next fasthttp.RequestHandler) fasthttp.RequestHandler {
	return func(ctx *fasthttp.RequestCtx) {
		b := newBody(ctx, s.options.Bodies)
		ctx.SetUserValue(bodyKey{}, b)
		if b.conn != nil {
			b.conn.begin(&b.client)
		}
		if slices.Contains(methods, string(ctx.Method())) {
			next(ctx)
		} else { // which the framework would not hand on
			s.answer(ctx)
		}
		if b.later {
			ctx.SetConnectionClose()
			return
		}
		b.end()
	}
}

// end is called when the request was answered.
func (b *body) end() {
	if b.coming != nil {
		_ = b.coming.Close()
	}
	if b.conn != nil {
		if b.conn.end() {
			b.ctx.SetConnectionClose() // nobody waits for what was sent ahead
		}
		b.conn.body.end()
	}
	b.finish()
}

// read reads the whole body into memory of its own. It can be called once.
func (b *body) read(limit int) ([]byte, error) {
	if b.over {
		return nil, nil
	}
	limit = min(limit, b.budget.Most())
	if b.length > limit {
		return nil, tooLarge(limit)
	}
	if b.conn != nil {
		b.conn.listen()
		defer b.conn.hush()
	}
	end := b.length
	if end == chunked {
		end = limit + 1 // one byte more than there may be
	}
	if b.conn != nil && b.length == chunked {
		defer b.conn.body.end()
	}
	var data []byte
	for len(data) < end {
		if b.conn != nil && b.length == chunked {
			b.conn.body.allow(b.got)
		}
		if len(data) == cap(data) {
			var err error
			if data, err = b.grow(data, end); err != nil {
				return nil, err
			}
		}
		n, err := b.ctx.RequestBodyStream().Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
		b.got += n
		if err == io.EOF && b.whole() {
			b.over = true
			return data, nil
		}
		if err != nil {
			return nil, unreadable(err)
		}
	}
	if b.length == chunked {
		return nil, tooLarge(limit)
	}
	b.over = true
	return data, nil
}

// whole tells, at the end of what the framework reads, whether it is the end
// of the body. It takes the end of the connection for one, too.
func (b *body) whole() bool {
	if b.length != chunked {
		return b.got == b.length
	}
	return b.conn != nil && !b.conn.ended
}

// grow makes room for more of a body that will have at most end bytes.
func (b *body) grow(data []byte, end int) ([]byte, error) {
	size := 2 * cap(data)
	switch {
	case size > 0:
	case b.length == chunked:
		size = firstChunk
	default:
		size = firstPiece
	}
	size = min(size, end)
	if !b.budget.Take(size - cap(data)) {
		return nil, apierrors.NewTooManyRequests("the bodies of other requests take all the memory there is for them", retryAfter)
	}
	b.held += size - cap(data)
	return append(make([]byte, 0, size), data...), nil
}

// finish gives the memory back and sees to what nobody read: a little is
// thrown away, and for more the connection ends, since what follows would be
// taken for the next request.
func (b *body) finish() {
	b.budget.Give(b.held)
	b.held = 0
	if !b.over && !b.later && b.length >= 0 && b.length-b.got <= leftover {
		var piece [leftover]byte
		_, err := io.ReadFull(b.ctx.RequestBodyStream(), piece[:b.length-b.got])
		b.over = err == nil
	}
	if !b.over {
		b.ctx.SetConnectionClose()
		discardRest(b.ctx)
	}
}

func tooLarge(limit int) error {
	return apierrors.NewRequestEntityTooLargeError(fmt.Sprintf("limit is %d", limit))
}

// unreadable is the answer to a body that ended early or is no body. What was
// sent is not repeated.
func unreadable(err error) error {
	var timeout net.Error
	if errors.As(err, &timeout) && timeout.Timeout() {
		return &apierrors.StatusError{ErrStatus: metav1.Status{
			Status: metav1.StatusFailure, Code: http.StatusRequestTimeout, Reason: metav1.StatusReasonTimeout,
			Message: "the body of the request did not arrive in time",
		}}
	}
	return apierrors.NewBadRequest("the body of the request ended early or is malformed")
}

// Header implements [api.Head].
func (b *body) Header() http.Header {
	out := http.Header{}
	for k, v := range b.ctx.Request.Header.All() {
		out.Add(string(k), string(v))
	}
	return out
}
