package transport

import (
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// coming is a body that is passed on as it comes, by a goroutine that may outlast the
// answer: from its Close on the connection is the server's again.
type coming struct {
	of    *body
	limit int
	// closed: nobody may read any more. ended: all was read.
	closed, ended atomic.Bool

	mu     sync.Mutex // held while reading
	failed error
}

// open implements OpenBody of [api.Request].
func (b *body) open(limit int) (io.ReadCloser, int64, error) {
	if b.length > limit {
		return nil, 0, tooLarge(limit)
	}
	if !b.budget.Take(firstPiece) { // about what who passes it on needs
		return nil, 0, apierrors.NewTooManyRequests("the bodies of other requests take all the memory there is for them", retryAfter)
	}
	b.held += firstPiece
	b.conn.listen()
	b.coming = &coming{of: b, limit: limit}
	return b.coming, int64(b.length), nil
}

// Read implements [io.Reader]. Its errors are status errors.
func (i *coming) Read(p []byte) (int, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	b := i.of
	switch {
	case i.closed.Load():
		return 0, net.ErrClosed
	case i.failed != nil:
		return 0, i.failed
	case b.over:
		return 0, io.EOF
	}
	if b.length == chunked {
		p = p[:min(len(p), i.limit+1-b.got)]
		b.conn.body.allow(b.got)
	}
	n, err := b.ctx.RequestBodyStream().Read(p)
	b.got += n
	switch {
	case b.got > i.limit:
		i.failed = tooLarge(i.limit)
	case b.got == b.length, err == io.EOF && b.whole():
		b.over = true
		i.ended.Store(true)
		b.conn.hush()
		return n, io.EOF
	case err != nil:
		i.failed = unreadable(err)
	}
	return n, i.failed
}

// Close implements [io.Closer]. No read is under way when it returns.
func (i *coming) Close() error {
	interrupts := !i.closed.Swap(true) && !i.ended.Load()
	if interrupts {
		i.of.conn.interrupt()
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if interrupts {
		i.of.conn.resume()
	}
	return nil
}

// interrupt ends a read that the handler began, resume lets it read again.
func (c *conn) interrupt() {
	c.turn.mu.Lock()
	defer c.turn.mu.Unlock()
	_ = c.Conn.SetReadDeadline(time.Unix(1, 0)) // a failure shows in the read
}

func (c *conn) resume() {
	c.turn.mu.Lock()
	defer c.turn.mu.Unlock()
	_ = c.Conn.SetReadDeadline(c.turn.deadline())
}
