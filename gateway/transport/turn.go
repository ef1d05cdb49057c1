package transport

import (
	"errors"
	"os"
	"sync"
	"time"

	"github.com/wasmgate/wasmgate/deadline"
)

// turn is whose turn it is on a connection: the client's, of whom a request is
// awaited, or the handler's, during which nobody reads. A request that lasts is
// read beside, so that it ends when its client leaves; most are over before that.
type turn struct {
	mu sync.Mutex
	// until is the read deadline that was asked for.
	until time.Time
	// last is when waiting for a request ends whatever was asked for; zero for
	// never.
	last time.Time
	// request, if not nil, is the request being served.
	request *deadline.Until
	// quiet: all that the handler will read was read.
	quiet bool
	// seen: the request was there when somebody looked.
	seen bool
	// reading is closed when reading beside the handler is over; nil when nobody
	// does.
	reading chan struct{}

	// early is what was read beside a handler, and failed how that ended. They
	// belong to the reader beside, and after it to whoever serves the connection.
	early  []byte
	failed error
}

// mostEarly is how much is read beside a handler; who sends more meanwhile is
// not watched any further.
const mostEarly = 1 << 10

// begin is called when a request was read but for its body. It ends with its
// client.
func (c *conn) begin(request *deadline.Until) {
	t := &c.turn
	t.mu.Lock()
	defer t.mu.Unlock()
	t.request, t.quiet, t.seen = request, true, false
	if !t.last.IsZero() {
		_ = c.Conn.SetReadDeadline(t.until) // a failure shows in the read
	}
}

// end is called when a request was answered, or the connection is to become a
// stream's. It reports whether the client has left.
func (c *conn) end() (left bool) {
	c.listen()
	t := &c.turn
	t.mu.Lock()
	defer t.mu.Unlock()
	t.request = nil
	if !t.last.IsZero() {
		_ = c.Conn.SetReadDeadline(t.deadline())
	}
	return t.failed != nil
}

// listen is called before the handler reads.
func (c *conn) listen() {
	t := &c.turn
	t.mu.Lock()
	reading := t.reading
	t.quiet, t.reading = false, nil
	if reading != nil {
		_ = c.Conn.SetReadDeadline(time.Unix(1, 0)) // ends the read
	}
	t.mu.Unlock()
	if reading == nil {
		return
	}
	<-reading
	t.mu.Lock()
	defer t.mu.Unlock()
	_ = c.Conn.SetReadDeadline(t.deadline())
}

// hush is called when the handler has read all that it will read.
func (c *conn) hush() {
	t := &c.turn
	t.mu.Lock()
	defer t.mu.Unlock()
	t.quiet, t.seen = true, false
}

// look begins to read beside a handler that was already there at the last look.
func (t *turn) look(c *conn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.request == nil || !t.quiet || t.reading != nil || t.failed != nil || len(t.early) >= mostEarly {
		return
	}
	if !t.seen {
		t.seen = true
		return
	}
	_ = c.Conn.SetReadDeadline(time.Time{}) // the request has a time of its own
	t.reading = make(chan struct{})
	go t.read(c, t.request, t.reading)
}

// read reads until the client leaves, has sent much, or somebody else wants to
// read.
func (t *turn) read(c *conn, request *deadline.Until, done chan<- struct{}) {
	defer close(done)
	var piece [mostEarly]byte
	for len(t.early) < mostEarly {
		n, err := c.Conn.Read(piece[:mostEarly-len(t.early)])
		t.early = append(t.early, piece[:n]...)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return
		}
		if err != nil {
			t.failed = err
			request.End()
			return
		}
	}
}

// overheard is what was read beside a handler; early is false when there is
// nothing.
func (t *turn) overheard(p []byte) (n int, err error, early bool) {
	switch {
	case len(t.early) > 0:
		n = copy(p, t.early)
		if t.early = t.early[n:]; len(t.early) == 0 {
			t.early = nil
		}
		return n, nil, true
	case t.failed != nil:
		return 0, t.failed, true
	}
	return 0, nil, false
}

// expire ends the wait for a request at a time.
func (t *turn) expire(c *conn, at time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.last = at
	if t.request == nil {
		_ = c.Conn.SetReadDeadline(t.deadline())
	}
}

// deadline is what holds for a read.
func (t *turn) deadline() time.Time {
	if t.request != nil || t.last.IsZero() || !t.until.IsZero() && t.until.Before(t.last) {
		return t.until
	}
	return t.last
}

// SetReadDeadline implements [net.Conn].
func (c *conn) SetReadDeadline(at time.Time) error {
	t := &c.turn
	t.mu.Lock()
	defer t.mu.Unlock()
	t.until = at
	return c.Conn.SetReadDeadline(t.deadline())
}
