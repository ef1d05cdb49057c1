package harness

import (
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"
)

// TestLink holds a link, mends it, cuts it and mends it again.
func TestLink(t *testing.T) {
	echo, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer echo.Close()
	go func() {
		for {
			c, err := echo.Accept()
			if err != nil {
				return
			}
			go func() {
				_, _ = io.Copy(c, c)
				c.Close()
			}()
		}
	}()
	l := NewLink(t, "http://"+echo.Addr().String())
	dial := func() net.Conn {
		t.Helper()
		c, err := net.Dial("tcp", l.listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		return c
	}
	say := func(c net.Conn, limit time.Duration) error {
		_ = c.SetDeadline(time.Now().Add(requestTimeout)) // only what is read may be late
		if _, err := c.Write([]byte("x")); err != nil {
			return err
		}
		_ = c.SetReadDeadline(time.Now().Add(limit))
		_, err := io.ReadFull(c, make([]byte, 1))
		return err
	}
	c := dial()
	if err := say(c, requestTimeout); err != nil {
		t.Fatalf("as it begins: %v", err)
	}
	l.Hold()
	if err := say(c, 50*time.Millisecond); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("while it is held: %v", err)
	}
	l.Mend()
	_ = c.SetDeadline(time.Now().Add(requestTimeout))
	if _, err := io.ReadFull(c, make([]byte, 1)); err != nil {
		t.Errorf("what was held did not come: %v", err)
	}
	l.Cut()
	if err := say(c, requestTimeout); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("of a connection that was cut: %v", err)
	}
	if err := say(dial(), requestTimeout); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("of a new one while it is cut: %v", err)
	}
	l.Mend()
	if err := say(dial(), requestTimeout); err != nil {
		t.Errorf("after the cut: %v", err)
	}
}
