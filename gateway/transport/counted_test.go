package transport

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"github.com/wasmgate/wasmgate/gateway/api"
	"github.com/wasmgate/wasmgate/gateway/api/reply"
	"github.com/wasmgate/wasmgate/gateway/bounds"
)

// An address that has as many connections as it may is not even asked who it is. One
// that ends, or is somebody's by now, makes room, a stream's included.
func TestConnectionsOfAnAddressAreBounded(t *testing.T) {
	all := bounds.NewConnections(bounds.ConnectionLimits{PerAddress: 2})
	r := run(t, func(r *api.Request) *reply.Response {
		switch r.Path {
		case "/known":
			r.Connection.Belongs("alice", false)
		case "/stream":
			return &reply.Response{Code: 200, ContentType: "text/plain", Stream: func(ctx context.Context, w reply.FrameWriter) {
				_, _ = w.Write([]byte("x"))
				_ = w.Flush()
				<-ctx.Done()
			}}
		}
		return ok("{}")
	}, func(o *Options) { o.Connections = all })
	dial := func() *tls.Conn {
		t.Helper()
		c, err := tls.Dial("tcp", r.addr, r.tls)
		if err != nil {
			t.Fatal(err)
		}
		_ = c.SetDeadline(time.Now().Add(patience))
		return c
	}
	refused := func() {
		t.Helper()
		var network net.Error
		c, err := tls.DialWithDialer(&net.Dialer{Timeout: patience}, "tcp", r.addr, r.tls)
		if err == nil {
			_ = c.Close()
			t.Error("one too many")
		} else if errors.As(err, &network) && network.Timeout() {
			t.Error("it has to wait")
		}
	}
	say := func(c *tls.Conn, path, end string) {
		t.Helper()
		_, _ = io.WriteString(c, "GET "+path+" HTTP/1.1\r\nHost: h\r\n\r\n")
		var got []byte
		for b := make([]byte, 1); len(got) < len(end) || string(got[len(got)-len(end):]) != end; got = append(got, b...) {
			if _, err := c.Read(b); err != nil {
				t.Fatalf("%s: %v after %q", path, err, got)
			}
		}
	}
	one, two := dial(), dial()
	refused()
	say(one, "/known", "{}")
	three := dial()
	refused()
	say(two, "/stream", "x")
	refused()
	_ = two.Close()
	becomes(t, func() bool { return all.Count().Unidentified == 1 })
	four := dial()
	refused()
	for _, c := range []*tls.Conn{one, three, four} {
		_ = c.Close()
	}
	becomes(t, func() bool { return all.Count() == bounds.ConnectionCounts{RefusedAddress: 4} })
}

// becomes waits until something is so.
func becomes(t *testing.T, so func() bool) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		for !so() {
		}
	}()
	within(t, "what is waited for", done)
}

// A connection counts until it is closed, whatever is done before that.
func TestConnectionsCountUntilTheyAreClosed(t *testing.T) {
	for _, unread := range []bool{false, true} {
		all := bounds.NewConnections(bounds.ConnectionLimits{PerAddress: 1})
		here, there := net.Pipe()
		defer there.Close()
		atClose := -1
		raw := closing{here, func() { atClose = int(all.Count().Unidentified) }}
		c := &conn{raw: raw, Conn: tls.Server(raw, &tls.Config{}), unread: unread, counted: all.Open(raw.RemoteAddr())}
		_ = c.Close()
		if left := all.Count().Unidentified; atClose != 1 || left != 0 {
			t.Errorf("unread %v: %d are counted when it is closed, %d then", unread, atClose, left)
		}
	}
}

// closing tells when it is closed.
type closing struct {
	net.Conn
	closed func()
}

func (c closing) Close() error {
	c.closed()
	return c.Conn.Close()
}
