package transport

import (
	"context"
	"errors"
	"net"
	"os"
	"sync/atomic"
	"time"
)

const (
	// lookFirst is how long a write to a client that takes nothing lasts until it is
	// looked at whether to go on, lookAgain how long until the next time. Moving a
	// deadline has a price: who takes what is sent has one moved each lookFirst.
	lookFirst = 5 * time.Second
	lookAgain = time.Second
	// streamWriteTimeout is how long a client may take nothing of a stream that does
	// not say itself how long it can wait.
	streamWriteTimeout = 30 * time.Second
	// streamCloseTimeout is what a client has to take the rest when a stream ends.
	streamCloseTimeout = 3 * time.Second
)

// below is a connection beneath TLS, which takes a write that ran out of time for
// broken for good: so the waiting is done here.
type below struct {
	net.Conn
	// parking, once the connection is a stream's, tells how long.
	parking atomic.Pointer[parking]
}

// Write implements [net.Conn].
func (b *below) Write(p []byte) (int, error) {
	if w := b.parking.Load(); w != nil {
		return w.write(b.Conn, p)
	}
	return b.Conn.Write(p)
}

// parking is how long a client of a stream is waited for that does not take what is
// sent: it is parked, where it is, until it reads again, its stream is over, or it is
// gone. Meanwhile it has a record of TLS, and what it shares with others.
type parking struct {
	// ctx ends when the client leaves, or streams have to end.
	ctx context.Context
	// keep, if not nil, tells whether a stream can still go on later. asked is keep
	// while the stream's goroutine is sending: only then may anybody call it, as the
	// goroutine that reads may be who writes, when TLS answers the client.
	keep  *func() bool
	asked atomic.Pointer[func() bool]

	// last is when all is over, once the stream has to end. As all that follows write,
	// it belongs to whoever TLS lets write.
	last time.Time
}

func (w *parking) hold(keep func() bool) { w.keep = &keep }

// ask allows keep to be called, or no more.
func (w *parking) ask(may bool) {
	if w.keep == nil {
		return
	}
	if may {
		w.asked.Store(w.keep)
	} else {
		w.asked.Store(nil)
	}
}

// write writes p for as long as the client is waited for.
func (w *parking) write(conn net.Conn, p []byte) (n int, err error) {
	for looks := 0; ; looks++ {
		var m int
		m, err = conn.Write(p[n:])
		n += m
		if err == nil || !errors.Is(err, os.ErrDeadlineExceeded) {
			return n, err
		}
		if m > 0 {
			looks = 0
		}
		if !w.wait(conn, looks) {
			return n, err
		}
	}
}

// wait moves the deadline of a write, or tells that there is no patience any more. The
// client has taken nothing for so many looks; the first may come of a deadline that
// passed before the write began.
func (w *parking) wait(conn net.Conn, looks int) bool {
	for {
		now, ending := time.Now(), w.ctx.Err() != nil
		until := now.Add(lookFirst)
		switch {
		case ending:
			if w.last.IsZero() {
				w.last = now.Add(streamCloseTimeout)
			}
			if until = w.last; looks > 1 || !now.Before(until) { // the parked are not waited for
				return false
			}
		case looks > 0:
			until = now.Add(lookAgain)
			if looks > 1 && !w.worth(conn, looks) {
				return false
			}
		}
		if conn.SetWriteDeadline(until) != nil {
			return false
		}
		if ending == (w.ctx.Err() != nil) { // else hurry may have been overruled
			return true
		}
	}
}

// worth tells whether a parked stream may go on later.
func (w *parking) worth(conn net.Conn, looks int) bool {
	keep := w.asked.Load()
	if keep == nil {
		return lookFirst+time.Duration(looks-1)*lookAgain < streamWriteTimeout
	}
	return (*keep)() && !silent(conn)
}

// hurry has whoever writes see that the stream has to end.
func (w *parking) hurry(conn net.Conn) {
	_ = conn.SetWriteDeadline(time.Unix(1, 0)) // a failure shows in the write
}
