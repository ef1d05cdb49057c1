package transport

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/wasmgate/wasmgate/deadline"
	"github.com/wasmgate/wasmgate/gateway/api"
	"github.com/wasmgate/wasmgate/gateway/api/reply"
)

// Connections on which nothing is being answered hold up no shutdown: not those
// that never sent a request, and not half a request. Who asked for nothing is
// told nothing, since an HTTP client would take it for the reply to another.
func TestShutdown_WaitsForNoRequestThatMayNeverCome(t *testing.T) {
	for name, c := range map[string]struct {
		send string // "-" for not even a handshake
		told bool
	}{
		"no handshake":    {"-", false},
		"no request":      {"", false},
		"half a head":     {"GET / HTTP/1.1\r\nHos", true},
		"half a body":     {"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\nx", true},
		"a request, half": {"GET / HTTP/1.1\r\nHost: h\r\n\r\nGET / HT", true},
	} {
		t.Run(name, func(t *testing.T) {
			answered := make(chan struct{}, 1)
			r := run(t, func(*api.Request) *reply.Response {
				answered <- struct{}{}
				return ok("{}")
			})
			conn := net.Conn(nil)
			if c.send == "-" {
				plain, err := net.Dial("tcp", r.addr)
				if err != nil {
					t.Fatal(err)
				}
				defer plain.Close()
				conn = plain
			} else {
				secure := r.dial()
				if err := secure.Handshake(); err != nil {
					t.Fatal(err)
				}
				if _, err := io.WriteString(secure, c.send); err != nil {
					t.Fatal(err)
				}
				conn = secure
			}
			untilAccepted(t, r)
			if strings.HasSuffix(c.send, "HT") {
				<-answered // the whole request before it
			}
			ctx, cancel := context.WithTimeout(t.Context(), min(patience, headTimeout/2)) // or the framework would end it
			defer cancel()
			if err := r.server.Shutdown(ctx); err != nil {
				t.Fatal(err)
			}
			if err := conn.SetReadDeadline(time.Now().Add(patience)); err != nil {
				t.Fatal(err)
			}
			got, _ := io.ReadAll(conn)
			if told := len(got) > 0; told != c.told {
				t.Errorf("told %q", got)
			}
		})
	}
}

// untilAccepted waits until there is a connection.
func untilAccepted(t *testing.T, r *running) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		for n := 0; n == 0; {
			r.server.connections.mu.Lock()
			n = len(r.server.connections.all)
			r.server.connections.mu.Unlock()
		}
	}()
	within(t, "a connection", done)
}

// A request that is being answered gets its time, and its body.
func TestShutdown_LetsABodyCome(t *testing.T) {
	inside := make(chan struct{})
	r := run(t, nil, func(o *Options) {
		o.Handler = unread(func(r *api.Request) *reply.Response {
			close(inside)
			body, err := r.ReadBody(1 << 20)
			if err != nil {
				return refusal(err)
			}
			return ok(fmt.Sprint(len(body)))
		})
	})
	const size = 20_000 // more than the framework reads ahead
	c := r.dial()
	if _, err := fmt.Fprintf(c, "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: %d\r\n\r\n%s", size, make([]byte, size/2)); err != nil {
		t.Fatal(err)
	}
	within(t, "the request", inside)
	stopped := make(chan error, 1)
	go func() { stopped <- r.server.Shutdown(t.Context()) }()
	<-r.server.ctx.Done()
	late := time.NewTimer(lastWait * 3 / 2) // it is longer than who waits for a request is given
	defer late.Stop()
	<-late.C
	if _, err := c.Write(make([]byte, size/2)); err != nil {
		t.Fatal(err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil || text(t, resp) != fmt.Sprint(size) {
		t.Errorf("%+v %v", resp, err)
	}
	if err := <-stopped; err != nil {
		t.Error(err)
	}
}

// A client that leaves while the server stops is not waited for.
func TestShutdown_WorkEndsWithItsClient(t *testing.T) {
	inside := make(chan struct{})
	r := run(t, func(r *api.Request) *reply.Response {
		close(inside)
		<-r.Context.Done()
		return ok("{}")
	})
	c := r.dial()
	if _, err := io.WriteString(c, "GET / HTTP/1.1\r\nHost: h\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	within(t, "the request", inside)
	stopped := make(chan error, 1)
	go func() { stopped <- r.server.Shutdown(t.Context()) }()
	<-r.server.ctx.Done()
	_ = c.Close()
	if err := <-stopped; err != nil {
		t.Error(err)
	}
}

// A server that was stopped before it began, or is once more, serves nothing, and leaves no
// listener behind.
func TestServe_AfterShutdown(t *testing.T) {
	r := run(t, func(*api.Request) *reply.Response { return ok("{}") })
	r.do("GET", "/", nil, nil)
	never := New(r.server.options)
	for name, s := range map[string]*Server{"served": r.server, "never served": never} {
		if err := s.Shutdown(t.Context()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		served := make(chan error, 1)
		go func() { served <- s.Serve(l) }()
		select {
		case err := <-served:
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
		case <-time.After(patience):
			t.Errorf("%s: it serves", name)
		}
		if c, err := net.Dial("tcp", l.Addr().String()); err == nil {
			_ = c.Close()
			t.Errorf("%s: somebody listens", name)
		}
	}
}

// timed is a connection that knows until when it is read.
type timed struct {
	net.Conn
	until time.Time
}

func (d *timed) SetReadDeadline(at time.Time) error {
	d.until = at
	return nil
}

// Once the server stops, a request is waited for no longer than until a time; one that has
// come by then has the time for its body that it would have had.
func TestShutdown_GivesARequestThatCameItsTime(t *testing.T) {
	here, there := net.Pipe()
	defer here.Close()
	defer there.Close()
	raw := &timed{Conn: here}
	c := &conn{raw: raw, Conn: tls.Server(raw, &tls.Config{})}
	now := time.Now()
	soon, last, late := now.Add(time.Second), now.Add(time.Minute), now.Add(time.Hour)
	var request deadline.Until
	for _, step := range []struct {
		name string
		do   func()
		want time.Time
	}{
		{"it waits", func() { _ = c.SetReadDeadline(late) }, late},
		{"a request comes", func() { c.begin(&request) }, late},
		{"the server stops", func() { c.turn.expire(c, last) }, late},
		{"the request is answered", func() { c.end() }, last},
		{"the next one comes", func() { c.begin(&request) }, late},
		{"it is answered", func() { c.end() }, last},
		{"it waits shortly", func() { _ = c.SetReadDeadline(soon) }, soon},
		{"it waits for ever", func() { _ = c.SetReadDeadline(time.Time{}) }, last},
		{"the server stops while it waits", func() { c.turn.expire(c, soon) }, soon},
	} {
		if step.do(); !raw.until.Equal(step.want) {
			t.Errorf("%s: it is read until %s, want %s", step.name, raw.until.Sub(now), step.want.Sub(now))
		}
	}
}
