package transport

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/wasmgate/wasmgate/gateway/api"
	"github.com/wasmgate/wasmgate/gateway/api/reply"
)

// endless is a body that is never at its end.
type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

func TestBodyLimit(t *testing.T) {
	r := run(t, func(r *api.Request) *reply.Response {
		return ok(fmt.Sprint(len(r.Body)))
	})
	for name, c := range map[string]struct {
		method, path string
		body         io.Reader
		code         int
		want         string
	}{
		"at the limit":             {"POST", "/", bytes.NewReader(make([]byte, 1<<20)), 200, "1048576"},
		"one above":                {"POST", "/", bytes.NewReader(make([]byte, 1<<20+1)), 413, "limit is 1048576"},
		"far above, still sending": {"POST", "/", bytes.NewReader(make([]byte, 64<<20)), 413, "limit is 1048576"},
		"chunked, at the limit":    {"POST", "/", io.MultiReader(bytes.NewReader(make([]byte, 1<<20))), 200, "1048576"},
		"chunked, without end":     {"POST", "/", io.LimitReader(endless{}, 64<<20), 413, "limit is 1048576"},
		"large path":               {"PUT", "/large?fieldManager=x", bytes.NewReader(make([]byte, 4<<20)), 200, "4194304"},
		"chunked above by one":     {"POST", "/", io.MultiReader(bytes.NewReader(make([]byte, 1<<20+1))), 413, "limit is 1048576"},
		"above the large limit":    {"PUT", "/large", bytes.NewReader(make([]byte, 4<<20+1)), 413, "limit is 4194304"},
	} {
		t.Run(name, func(t *testing.T) {
			r := *r
			r.t = t
			resp, data := r.do(c.method, c.path, c.body, nil)
			if resp.StatusCode != c.code || !strings.Contains(string(data), c.want) {
				t.Errorf("%d %s, want %d %s", resp.StatusCode, data, c.code, c.want)
			}
		})
	}
}

// A body comes from the connection only when the handler asks for it: who may
// not do what is asked for costs no memory, and gets the answer at once.
func TestBody_IsNotReadUnlessAskedFor(t *testing.T) {
	r := run(t, nil, func(o *Options) {
		o.Handler = unread(func(*api.Request) *reply.Response { return reply.Failure(http.StatusUnauthorized, "Unauthorized") })
	})
	for name, head := range map[string]string{
		"length": "Content-Length: 67108864",
		"chunks": "Transfer-Encoding: chunked",
	} {
		c := r.dial()
		begin := "PUT /large HTTP/1.1\r\nHost: h\r\n" + head + "\r\n\r\n"
		if _, err := io.WriteString(c, begin+strings.Repeat("x", 16<<10)); err != nil {
			t.Fatal(err)
		}
		resp, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil || resp.StatusCode != http.StatusUnauthorized || !resp.Close {
			t.Errorf("%s: %+v %v", name, resp, err)
		}
		if used := r.server.options.Bodies.(*piece).used.Load(); used != 0 {
			t.Errorf("%s: %d bytes", name, used)
		}
	}
}

// A little that nobody read is thrown away, so that a refusal does not cost
// the connection; with more the connection ends. Never is it the next request.
func TestBody_LeftUnreadIsNoRequest(t *testing.T) {
	const inner = "GET /inner HTTP/1.1\r\nHost: h\r\n\r\n"
	fill := func(n int) string { return strings.Repeat(inner, n/len(inner)+1)[:n] }
	for name, c := range map[string]struct {
		head, body string
		served     int32
	}{
		"a little":           {"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 35", fill(35), 2},
		"just enough":        {fmt.Sprintf("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: %d", leftover), fill(leftover), 2},
		"too much":           {fmt.Sprintf("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: %d", 1<<20), fill(1 << 20), 1},
		"chunks":             {"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked", fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(inner), inner), 1},
		"GET":                {"GET / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked", fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(inner), inner), 1},
		"an invented method": {fmt.Sprintf("BREW / HTTP/1.1\r\nHost: h\r\nContent-Length: %d", 1<<20), fill(1 << 20), 1},
		"no body":            {"POST / HTTP/1.1\r\nHost: h", "", 2},
	} {
		t.Run(name, func(t *testing.T) {
			var served atomic.Int32
			r := run(t, nil, func(o *Options) {
				o.Handler = unread(func(r *api.Request) *reply.Response {
					served.Add(1)
					if r.Path == "/inner" {
						t.Error("a body was a request")
					}
					return ok("{}")
				})
			})
			r.raw(c.head + "\r\n\r\n" + c.body + "GET /last HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
			if served.Load() != c.served {
				t.Errorf("%d requests, want %d", served.Load(), c.served)
			}
		})
	}
}

// What ended early, or is no body, is never taken for a whole one.
func TestBody_BrokenIsRefused(t *testing.T) {
	r := run(t, func(*api.Request) *reply.Response { t.Error("served"); return ok("{}") })
	for name, send := range map[string]string{
		"length, ended early":        "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 20000\r\n\r\n" + strings.Repeat("x", 19999),
		"length, nothing":            "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\n\r\n",
		"chunks, ended early":        "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab",
		"chunks, no last one":        "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n",
		"chunks, no trailers":        "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n",
		"chunks, half a trailer":     "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\nX: 1\r\n",
		"chunks, no size":            "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n",
		"chunks, longer than said":   "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nabc\r\n0\r\n\r\n",
		"chunks, a size beyond all":  "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\nab",
		"chunks, no end of trailers": "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\nX: " + strings.Repeat("x", 64<<10) + "\r\n\r\n",
	} {
		for how, end := range ends {
			t.Run(name+", "+how, func(t *testing.T) {
				r := *r
				r.t = t
				c := end(&r, send)
				resp, err := http.ReadResponse(bufio.NewReader(c), nil)
				if err != nil {
					t.Fatal(err)
				}
				if resp.StatusCode != http.StatusBadRequest || !resp.Close {
					t.Errorf("%d %s", resp.StatusCode, text(t, resp))
				}
			})
		}
	}
}

// ends are the ways in which a client says that it sends nothing more: as TLS has it, at once
// with the last of what it sends, and without a goodbye, as somebody on the way may do it.
var ends = map[string]func(r *running, send string) *tls.Conn{
	"said": func(r *running, send string) *tls.Conn {
		return r.sent(r.dial(), send, (*tls.Conn).CloseWrite)
	},
	"said at once": func(r *running, send string) *tls.Conn {
		below := &corked{Conn: r.plain(r.t, "")}
		older := r.tls.Clone() // in which the two are told apart before they are decrypted
		older.MaxVersion = tls.VersionTLS12
		c := tls.Client(below, older)
		if err := c.Handshake(); err != nil {
			r.t.Fatal(err)
		}
		below.holds = true
		r.sent(c, send, (*tls.Conn).CloseWrite)
		if err := below.SetWriteDeadline(time.Now().Add(patience)); err != nil { // CloseWrite lets it pass
			r.t.Fatal(err)
		}
		if _, err := below.Conn.Write(below.held); err != nil {
			r.t.Fatal(err)
		}
		return c
	},
	"cut": func(r *running, send string) *tls.Conn {
		return r.sent(r.dial(), send, func(c *tls.Conn) error { return c.NetConn().(*net.TCPConn).CloseWrite() })
	},
}

// sent is c after something was sent, and the end.
func (r *running) sent(c *tls.Conn, send string, end func(*tls.Conn) error) *tls.Conn {
	r.t.Helper()
	if _, err := io.WriteString(c, send); err != nil {
		r.t.Fatal(err)
	}
	if err := end(c); err != nil {
		r.t.Fatal(err)
	}
	return c
}

// corked is a connection that, once it holds, keeps what is to be sent.
type corked struct {
	net.Conn
	holds bool
	held  []byte
}

func (c *corked) Write(p []byte) (int, error) {
	if !c.holds {
		return c.Conn.Write(p)
	}
	c.held = append(c.held, p...)
	return len(p), nil
}

// A client that says at once that it has nothing more to send has sent it all.
func TestBody_OfAClientThatClosesItsSide(t *testing.T) {
	r := run(t, func(r *api.Request) *reply.Response { return ok(string(r.Body)) })
	for name, send := range map[string]string{
		"length": "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\nhi",
		"chunks": "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n",
	} {
		for how, end := range ends {
			c := end(r, send)
			if resp, err := http.ReadResponse(bufio.NewReader(c), nil); err != nil || resp.StatusCode != 200 || text(t, resp) != "hi" {
				t.Errorf("%s, %s: %+v %v", name, how, resp, err)
			}
		}
	}
}

// A form is a body like any other: nobody but the handler reads it, and it need not be one.
func TestBody_OfAForm(t *testing.T) {
	r := run(t, func(r *api.Request) *reply.Response { return ok(r.ContentType + " " + string(r.Body)) })
	const form = "multipart/form-data; boundary=x"
	for _, body := range []string{"--x\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nb\r\n--x--\r\n", "--x\r\nhalf", `{"kind":"Pod"}`} {
		for name, from := range map[string]io.Reader{"length": strings.NewReader(body), "chunks": io.MultiReader(strings.NewReader(body))} {
			if resp, got := r.do("POST", "/", from, http.Header{"Content-Type": {form}}); resp.StatusCode != 200 || string(got) != form+" "+body {
				t.Errorf("%s: %q: %d %q", name, body, resp.StatusCode, got)
			}
		}
	}
}

// A body that does not come, and one that is none, are the client's mistakes.
func TestBody_ErrorsOfReading(t *testing.T) {
	for err, code := range map[error]int32{os.ErrDeadlineExceeded: 408, io.ErrUnexpectedEOF: 400, syscall.ECONNRESET: 400, errors.New("secret"): 400} {
		var s apierrors.APIStatus
		if got := unreadable(err); !errors.As(got, &s) || s.Status().Code != code || strings.Contains(got.Error(), err.Error()) {
			t.Errorf("%v: %v", err, got)
		}
	}
}

// A client that asks before it sends its body is told to go on.
func TestBody_Expected(t *testing.T) {
	r := run(t, func(r *api.Request) *reply.Response { return ok(string(r.Body)) })
	for name, c := range map[string]struct{ head, body string }{
		"length":            {"Expect: 100-continue\r\nContent-Length: 2", "hi"},
		"chunks":            {"Expect: 100-continue\r\nTransfer-Encoding: chunked", "2\r\nhi\r\n0\r\n\r\n"},
		"one large letter":  {"Expect: 100-Continue\r\nContent-Length: 2", "hi"},
		"all large letters": {"EXPECT:  100-CONTINUE\r\nContent-Length: 2", "hi"},
	} {
		c2 := r.dial()
		in := bufio.NewReader(c2)
		if _, err := io.WriteString(c2, "POST / HTTP/1.1\r\nHost: h\r\n"+c.head+"\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		if line, err := in.ReadString('\n'); err != nil || !strings.HasPrefix(line, "HTTP/1.1 100 ") {
			t.Fatalf("%s: %q %v", name, line, err)
		}
		if _, err := in.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(c2, c.body); err != nil {
			t.Fatal(err)
		}
		if resp, err := http.ReadResponse(in, nil); err != nil || resp.StatusCode != 200 || text(t, resp) != "hi" {
			t.Errorf("%s: %+v %v", name, resp, err)
		}
	}
}

// Bodies together take no more memory than there is for them, and give it
// back, whatever became of them.
func TestBodies_ShareABudget(t *testing.T) {
	entered, leave := make(chan struct{}), make(chan struct{})
	r := run(t, func(r *api.Request) *reply.Response {
		if r.Path == "/held" {
			close(entered)
			<-leave
		}
		return ok(fmt.Sprint(len(r.Body)))
	}, func(o *Options) { o.Bodies = &piece{limit: 2 << 20} })
	mega := func() io.Reader { return bytes.NewReader(make([]byte, 1<<20)) }
	held := make(chan error, 1)
	go func() {
		_, data, err := r.try("POST", "/held", mega(), nil)
		if err == nil && string(data) != "1048576" {
			err = fmt.Errorf("%s", data)
		}
		held <- err
	}()
	within(t, "the first request", entered)
	if used := r.server.options.Bodies.(*piece).used.Load(); used != 1<<20 {
		t.Errorf("%d bytes used for one body of %d", used, 1<<20)
	}
	if resp, data := r.do("POST", "/", mega(), nil); resp.StatusCode != 200 {
		t.Errorf("one that just fits: %d %s", resp.StatusCode, data)
	}
	if resp, data := r.do("POST", "/large", bytes.NewReader(make([]byte, 1<<20+1)), nil); resp.StatusCode != http.StatusTooManyRequests || !bytes.Contains(data, []byte("memory")) {
		t.Errorf("one that does not: %d %s", resp.StatusCode, data)
	}
	close(leave)
	if err := <-held; err != nil {
		t.Error(err)
	}
	if resp, data := r.do("POST", "/large", bytes.NewReader(make([]byte, 2<<20)), nil); resp.StatusCode != 200 {
		t.Errorf("afterwards: %d %s", resp.StatusCode, data)
	}
	if used := r.server.options.Bodies.(*piece).used.Load(); used != 0 {
		t.Errorf("%d bytes never given back", used)
	}
}

// A Content-Length is a promise, and takes no memory until it is kept.
func TestBody_TakesMemoryAsItArrives(t *testing.T) {
	reading := make(chan struct{})
	r := run(t, nil, func(o *Options) {
		o.Handler = unread(func(r *api.Request) *reply.Response {
			close(reading)
			if _, err := r.ReadBody(64 << 20); err == nil {
				t.Error("half a body was read")
			}
			return ok("{}")
		})
	})
	c := r.dial()
	if _, err := io.WriteString(c, "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 67108864\r\n\r\n"+strings.Repeat("x", 8<<10)); err != nil {
		t.Fatal(err)
	}
	within(t, "the request", reading)
	if used := r.server.options.Bodies.(*piece).used.Load(); used > firstPiece {
		t.Errorf("%d bytes for 8192", used)
	}
	if err := c.CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if resp, err := http.ReadResponse(bufio.NewReader(c), nil); err != nil || resp.StatusCode != 200 {
		t.Errorf("%+v %v", resp, err)
	}
}
