package transport

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"testing/synctest"
	"time"
)

// parked is a stream's write to a client that reads nothing.
type parked struct {
	there net.Conn
	leave context.CancelFunc
	asked int
	ended chan error
	began time.Time
}

// park begins to write p; keep, if not nil, is what the stream says.
func park(t *testing.T, p []byte, keep func() bool) *parked {
	here, there := net.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	c := &parked{there: there, leave: cancel, ended: make(chan error, 1), began: time.Now()}
	w := &parking{ctx: ctx}
	if keep != nil {
		w.hold(func() bool { c.asked++; return keep() })
	}
	b := &below{Conn: here}
	b.parking.Store(w)
	t.Cleanup(func() { cancel(); _ = there.Close(); _ = here.Close() })
	context.AfterFunc(ctx, func() { w.hurry(here) })
	if err := here.SetWriteDeadline(c.began.Add(lookFirst)); err != nil {
		t.Fatal(err)
	}
	go func() {
		w.ask(true)
		defer w.ask(false)
		_, err := b.Write(p)
		c.ended <- err
	}()
	return c
}

// took is how long it took until the write was given up.
func (p *parked) took(t *testing.T) time.Duration {
	if err := <-p.ended; !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("it ended with %v", err)
	}
	return time.Since(p.began)
}

// However long a client does not read, what it is sent arrives when it reads again, if
// only its stream can go on: this is asked now and then.
func TestParked_GoesOn_WATCH02(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		data := bytes.Repeat([]byte("0123456789"), 1000)
		p := park(t, data, func() bool { return true })
		<-time.After(10 * time.Minute) // by the bubble's clock, as below
		got := make([]byte, len(data))
		for from := 0; from < len(got); from += 1000 { // and it is slow
			if _, err := io.ReadFull(p.there, got[from:from+1000]); err != nil {
				t.Fatal(err)
			}
			<-time.After(20 * time.Second)
		}
		if err := <-p.ended; err != nil || !bytes.Equal(got, data) {
			t.Errorf("%v, the same bytes: %t", err, bytes.Equal(got, data))
		}
		if p.asked < 500 || p.asked > 1000 {
			t.Errorf("asked %d times", p.asked)
		}
	})
}

// A client is given up as soon as it is known to have missed something; where nobody
// knows, after some time.
func TestParked_IsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		p := park(t, []byte("x"), func() bool { return time.Since(began) < time.Minute })
		if d := p.took(t); d < time.Minute || d > time.Minute+2*lookAgain {
			t.Errorf("after %s", d)
		}
		p = park(t, []byte("x"), nil)
		if d := p.took(t); d != streamWriteTimeout+lookFirst { // the first look only begins to count
			t.Errorf("who does not say: after %s", d)
		}
	})
}

// A stream that has to end is given some time by who reads, and none when parked.
func TestParked_ThatHasToEndIsNotWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, c := range []struct{ rest, want time.Duration }{
			{0, streamCloseTimeout}, {lookFirst / 2, streamCloseTimeout}, {time.Minute, 0},
		} {
			p := park(t, []byte("x"), func() bool { return true })
			<-time.After(c.rest) // by the bubble's clock
			p.leave()
			if d := p.took(t) - c.rest; d != c.want {
				t.Errorf("after %s of waiting it took %s, want %s", c.rest, d, c.want)
			}
		}
	})
}
