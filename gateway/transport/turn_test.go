package transport

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/gateway/api"
	"github.com/wasmgate/wasmgate/gateway/api/reply"
)

// A request ends when its client leaves, in whatever way, with its body read or
// not.
func TestRequest_EndsWithItsClient(t *testing.T) {
	inside := make(chan *api.Request, 1)
	ended := make(chan error, 1)
	r := run(t, nil, func(o *Options) {
		o.Handler = unread(func(r *api.Request) *reply.Response {
			if r.Path == "/read" {
				if _, err := r.ReadBody(1 << 20); err != nil {
					t.Error(err)
				}
			}
			inside <- r
			<-r.Context.Done()
			ended <- r.Context.Err()
			return ok("{}")
		})
	})
	const post = "POST %s HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\n\r\n%s"
	for name, send := range map[string]string{
		"no body":               "GET / HTTP/1.1\r\nHost: h\r\n\r\n",
		"a body that was read":  fmt.Sprintf(post, "/read", "body"),
		"a body left unread":    fmt.Sprintf(post, "/", "body"),
		"half a body":           "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 9000\r\n\r\n" + strings.Repeat("x", 8500),
		"the next request sent": "GET / HTTP/1.1\r\nHost: h\r\n\r\nGET / HTTP/1.1\r\nHost: h\r\n\r\n",
	} {
		for how, leave := range map[string]func(c net.Conn) error{
			"closed": func(c net.Conn) error { return c.Close() },
			"reset": func(c net.Conn) error {
				raw := c.(interface{ NetConn() net.Conn }).NetConn().(*net.TCPConn)
				return errors.Join(raw.SetLinger(0), raw.Close())
			},
		} {
			c := r.dial()
			if _, err := io.WriteString(c, send); err != nil {
				t.Fatal(err)
			}
			request := <-inside
			if err := request.Context.Err(); err != nil {
				t.Errorf("%s: %v before the client left", name, err)
			}
			if err := leave(c); err != nil {
				t.Fatal(err)
			}
			gone := make(chan struct{})
			go func() {
				if err := <-ended; !errors.Is(err, context.Canceled) {
					t.Errorf("%s, %s: %v", name, how, err)
				}
				close(gone)
			}()
			within(t, name+", "+how, gone)
		}
	}
}

// A request that lasts, and whose connection is read meanwhile, loses nothing of
// what the client sends, in whatever pieces: not its own body, and not the next
// request.
func TestRequest_ThatLastsLosesNothing(t *testing.T) {
	inside, goOn := make(chan struct{}), make(chan struct{})
	r := run(t, nil, func(o *Options) {
		o.Handler = unread(func(req *api.Request) *reply.Response {
			beside := req.Path == "/first"
			if beside {
				inside <- struct{}{}
				<-goOn
			}
			var body []byte
			if req.ReadBody != nil {
				var err error
				if body, err = req.ReadBody(1 << 20); err != nil {
					return refusal(err)
				}
			}
			if beside { // and once more, behind the body
				inside <- struct{}{}
				<-goOn
			}
			if err := req.Context.Err(); err != nil {
				t.Errorf("%s: %v", req.Path, err)
			}
			return ok(fmt.Sprintf("%s %d", req.Path, len(body)))
		})
	})
	const ahead = 8 << 10 // so much of a body is read before the handler is asked
	for _, rest := range []int{0, 10, 700, 2 * mostEarly, 2*mostEarly + 2, 5000, 200_000} {
		c := r.dial()
		in := bufio.NewReader(c)
		write := func(text string) {
			if _, err := io.WriteString(c, text); err != nil {
				t.Fatal(err)
			}
		}
		size, half := ahead+rest, strings.Repeat("x", rest/2)
		write(fmt.Sprintf("POST /first HTTP/1.1\r\nHost: h\r\nContent-Length: %d\r\n\r\n%s", size, strings.Repeat("x", ahead)))
		within(t, "the request", inside)
		untilRead(t, r, true)
		write(half)
		goOn <- struct{}{}
		if rest > 0 {
			untilRead(t, r, false)
		}
		write(half)
		within(t, "the body", inside)
		untilRead(t, r, true)
		write("GET /second HTTP/1.1\r\nHo")
		goOn <- struct{}{}
		reply := func(want string) {
			resp, err := http.ReadResponse(in, nil)
			if err != nil {
				t.Fatal(err)
			}
			if got := text(t, resp); got != want {
				t.Errorf("%d bytes: %s, want %s", size, got, want)
			}
		}
		reply(fmt.Sprintf("/first %d", size))
		write("st: h\r\n\r\n")
		reply("/second 0")
		_ = c.Close()
	}
}

// untilRead waits until a connection is, or is not, read beside its handler.
func untilRead(t *testing.T, r *running, want bool) {
	t.Helper()
	s := &r.server.connections
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			s.mu.Lock()
			var is bool
			for c := range s.all {
				c.turn.mu.Lock()
				is = is || c.turn.reading != nil
				c.turn.mu.Unlock()
			}
			s.mu.Unlock()
			if is == want {
				return
			}
		}
	}()
	within(t, fmt.Sprintf("reading=%v", want), done)
}

// A stream that begins after a while gets its connection in order.
func TestRequest_ThatLastsBecomesAStream(t *testing.T) {
	inside, goOn := make(chan struct{}), make(chan struct{})
	left := make(chan struct{})
	r := run(t, func(*api.Request) *reply.Response {
		inside <- struct{}{}
		<-goOn
		return &reply.Response{Code: 200, ContentType: "application/json", Stream: func(ctx context.Context, w reply.FrameWriter) {
			_, _ = io.WriteString(w, "first")
			_ = w.Flush()
			<-ctx.Done()
			close(left)
		}}
	})
	c := r.dial()
	if _, err := io.WriteString(c, "GET / HTTP/1.1\r\nHost: h\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	<-inside
	untilRead(t, r, true)
	goOn <- struct{}{}
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	piece := make([]byte, 5)
	if _, err := io.ReadFull(resp.Body, piece); err != nil || string(piece) != "first" {
		t.Fatalf("%q %v", piece, err)
	}
	_ = c.Close()
	within(t, "the end of the stream", left)
}
