package transport

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/rs/zerolog"

	"github.com/wasmgate/wasmgate/gateway/api"
	"github.com/wasmgate/wasmgate/gateway/api/reply"
)

func TestReply_Plain_MT01(t *testing.T) {
	r := run(t, func(*api.Request) *reply.Response {
		return &reply.Response{
			Code: 201, ContentType: "application/json", Body: []byte(`{"a":1}`),
			Headers: []reply.Header{{Name: "Warning", Value: `299 - "one"`}, {Name: "Warning", Value: `299 - "two"`}, {Name: "Etag", Value: `"x"`}},
		}
	})
	for _, method := range []string{"GET", "HEAD"} {
		resp, body := r.do(method, "/", nil, nil)
		h := resp.Header
		if resp.StatusCode != 201 || h.Get("Content-Type") != "application/json" || h.Get("Cache-Control") != "no-cache, private" || h.Get("Etag") != `"x"` {
			t.Errorf("%s: %d %v", method, resp.StatusCode, h)
		}
		if got := h["Warning"]; !reflect.DeepEqual(got, []string{`299 - "one"`, `299 - "two"`}) {
			t.Errorf("warnings %q", got)
		}
		want := map[string]string{"GET": `{"a":1}`, "HEAD": ""}[method]
		if string(body) != want || resp.ContentLength != 7 {
			t.Errorf("%s: body %q, length %d", method, body, resp.ContentLength)
		}
	}
}

// Nobody but the handler says what a reply is: one without a type has none.
func TestReply_OfNoType(t *testing.T) {
	r := run(t, func(r *api.Request) *reply.Response {
		return map[string]*reply.Response{
			"/changed":   {Code: 200, Body: []byte("x")},
			"/unchanged": {Code: 304, Headers: []reply.Header{{Name: "Etag", Value: `"x"`}}},
		}[r.Path]
	})
	for path, code := range map[string]int{"/changed": 200, "/unchanged": 304} {
		if resp, _ := r.do("GET", path, nil, nil); resp.StatusCode != code || resp.Header["Content-Type"] != nil {
			t.Errorf("%s: %d, of type %q", path, resp.StatusCode, resp.Header["Content-Type"])
		}
	}
}

func TestReply_ListIsStreamed(t *testing.T) {
	piece := bytes.Repeat([]byte("x"), 40<<10)
	r := run(t, func(*api.Request) *reply.Response {
		return &reply.Response{Code: 200, ContentType: "application/json", Length: 50 * len(piece), Write: func(w io.Writer) error {
			for range 50 {
				if _, err := w.Write(piece); err != nil {
					return err
				}
			}
			return nil
		}}
	})
	for range 3 {
		resp, body := r.do("GET", "/", nil, nil)
		if resp.ContentLength != int64(50*len(piece)) || !bytes.Equal(body, bytes.Repeat(piece, 50)) {
			t.Errorf("length %d, %d bytes", resp.ContentLength, len(body))
		}
	}
	if resp, body := r.do("HEAD", "/", nil, nil); resp.ContentLength != int64(50*len(piece)) || len(body) > 0 {
		t.Errorf("HEAD: length %d, %d bytes", resp.ContentLength, len(body))
	}
}

// A list that is not as long as it said, or breaks, must look broken, and must
// not spill into the next reply.
func TestReply_BrokenListLooksBroken(t *testing.T) {
	r := run(t, func(r *api.Request) *reply.Response {
		resp := &reply.Response{Code: 200, ContentType: "application/json", Length: 1000}
		switch r.Path {
		case "/short":
			resp.Write = func(w io.Writer) error { _, err := w.Write(make([]byte, 900)); return err }
		case "/long":
			resp.Write = func(w io.Writer) error { _, err := w.Write(make([]byte, 1100)); return err }
		case "/error":
			resp.Write = func(w io.Writer) error { return io.ErrNoProgress }
		case "/panic":
			resp.Write = func(w io.Writer) error { panic("in Write") }
		default:
			return ok("{}")
		}
		return resp
	})
	for _, path := range []string{"/short", "/long", "/error", "/panic"} {
		if _, body, err := r.try("GET", path, nil, nil); err == nil {
			t.Errorf("%s: a complete reply of %d bytes", path, len(body))
		}
		if _, body := r.do("GET", "/", nil, nil); string(body) != "{}" {
			t.Errorf("after %s: %s", path, body)
		}
	}
}

// read is a reply that reads so many bytes, and then as it is told.
type read struct {
	left int
	then func() error
}

func (r *read) Read(p []byte) (int, error) {
	if r.left == 0 {
		return 0, r.then()
	}
	n := min(r.left, len(p))
	r.left -= n
	return copy(p, bytes.Repeat([]byte("x"), n)), nil
}

// A reply of no known length leaves the connection to the next one when it is
// whole, and looks broken when it is not.
func TestReply_OfNoKnownLength(t *testing.T) {
	const size = 100_000
	r := run(t, func(r *api.Request) *reply.Response {
		then := map[string]func() error{
			"/whole": func() error { return io.EOF },
			"/error": func() error { return io.ErrNoProgress },
			"/panic": func() error { panic("in Read") },
		}[r.Path]
		if then == nil {
			return ok("{}")
		}
		return &reply.Response{Code: 200, ContentType: "application/yaml", Reader: &read{size, then}}
	})
	for _, path := range []string{"/error", "/panic", "/whole"} {
		resp, body, err := r.try("GET", path, nil, nil)
		if path == "/whole" && (err != nil || len(body) != size || resp.ContentLength != -1 || resp.Header.Get("Content-Type") != "application/yaml") {
			t.Errorf("%d bytes, %v", len(body), err)
		} else if path != "/whole" && err == nil {
			t.Errorf("%s: a complete reply of %d bytes", path, len(body))
		}
		if _, body := r.do("GET", "/", nil, nil); string(body) != "{}" {
			t.Errorf("after %s: %s", path, body)
		}
	}
	if all := r.raw("HEAD /whole HTTP/1.1\r\nHost: h\r\n\r\nHEAD / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"); len(all) != 2 || all[0].ContentLength != size {
		t.Errorf("HEAD: %+v", all)
	}
	for path, code := range map[string]int{"/whole": 200, "/error": 500} { // to who knows no chunks
		all := r.raw("GET " + path + " HTTP/1.0\r\nHost: h\r\n\r\n")
		if len(all) != 1 || all[0].StatusCode != code || len(all[0].TransferEncoding) > 0 || code == 200 && all[0].ContentLength != size {
			t.Errorf("HTTP/1.0 %s: %+v", path, all)
		}
	}
}

// Who knows no chunks is not waited for with all the memory there is, and gives back what
// there was of it; who wants no body takes none.
func TestReply_WholeRepliesAreBounded(t *testing.T) {
	memory := &piece{limit: 8 << 20}
	r := run(t, func(r *api.Request) *reply.Response {
		out := &reply.Response{Code: 200, ContentType: "text/plain", Reader: endless{}}
		if r.Path == "/large" {
			out.Reader = io.LimitReader(endless{}, 3<<20)
		}
		return out
	}, func(o *Options) { o.Bodies = memory })
	for range 3 {
		if all := r.raw("GET /large HTTP/1.0\r\nHost: h\r\n\r\n"); len(all) != 1 || all[0].ContentLength != 3<<20 {
			t.Fatalf("%+v", all)
		}
		if all := r.raw("GET /endless HTTP/1.0\r\nHost: h\r\n\r\n"); len(all) != 1 || all[0].StatusCode != 500 {
			t.Fatalf("%+v", all)
		}
	}
	if all := r.raw("HEAD /large HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"); len(all) != 1 || all[0].ContentLength != 3<<20 {
		t.Errorf("%+v", all)
	}
}

// The reply to a HEAD may say a length, though nothing of it is sent, or none.
func TestReply_LengthOfWhatIsNotSent(t *testing.T) {
	r := run(t, func(r *api.Request) *reply.Response {
		if r.Path == "/none" {
			return &reply.Response{Code: 200, ContentType: "text/plain"}
		}
		return &reply.Response{Code: 200, ContentType: "text/plain", Length: 1 << 20, Write: func(io.Writer) error { return nil }}
	})
	all := r.raw("HEAD /none HTTP/1.1\r\nHost: h\r\n\r\nHEAD /some HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
	if len(all) != 2 || all[0].Header.Get("Content-Length") != "" || all[1].Header.Get("Content-Length") != "1048576" {
		t.Errorf("%+v", all)
	}
}

func TestReply_PipelinedRequestsAreAnsweredInOrder(t *testing.T) {
	r := run(t, func(r *api.Request) *reply.Response { return ok(r.Path) })
	var send strings.Builder
	for i := range 5 {
		fmt.Fprintf(&send, "GET /%d HTTP/1.1\r\nHost: h\r\n\r\n", i)
	}
	send.WriteString("GET /5 HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
	replies := r.raw(send.String())
	if len(replies) != 6 {
		t.Fatalf("%d replies", len(replies))
	}
	for i, resp := range replies {
		if got := text(t, resp); got != fmt.Sprintf("/%d", i) {
			t.Errorf("reply %d is %s", i, got)
		}
	}
}

func TestShutdown_BeforeServe(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := New(Options{TLS: &tls.Config{}, Log: zerolog.Nop()})
	if err := s.Shutdown(context.Background()); err != nil {
		t.Fatal(err)
	}
	if err := s.Serve(l); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Accept(); err == nil {
		t.Error("the listener is still open")
	}
}

func TestShutdown_WaitsForRequestsUnderWay(t *testing.T) {
	inside, finish := make(chan struct{}), make(chan struct{})
	r := run(t, func(*api.Request) *reply.Response {
		close(inside)
		<-finish
		return ok("done")
	})
	replied := make(chan string, 1)
	go func() {
		_, body, err := r.try("GET", "/", nil, nil)
		replied <- fmt.Sprintf("%s %v", body, err)
	}()
	within(t, "the request", inside)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := r.server.Shutdown(ctx); err == nil {
		t.Error("shutdown did not tell of the request under way")
	}
	if _, err := net.Dial("tcp", r.addr); err == nil {
		t.Error("connections are still taken")
	}
	close(finish)
	if got := <-replied; got != "done <nil>" && !strings.HasPrefix(got, "done") {
		t.Errorf("reply %q", got)
	}
}

// counting counts what is written to the connections of a listener.
type counting struct {
	net.Listener
	writes *atomic.Int32
}

func (c counting) Accept() (net.Conn, error) {
	conn, err := c.Listener.Accept()
	return countingConn{conn, c.writes}, err
}

type countingConn struct {
	net.Conn
	writes *atomic.Int32
}

func (c countingConn) Write(p []byte) (int, error) {
	c.writes.Add(1)
	return c.Conn.Write(p)
}

// A reply that fits into one TLS record is one write to the connection.
func TestReply_OfUsualSizeIsOneWrite(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var writes atomic.Int32
	body := strings.Repeat("x", 15<<10)
	r := runOn(t, counting{l, &writes}, func(*api.Request) *reply.Response { return ok(body) })
	c := r.dial()
	in := bufio.NewReader(c)
	get := func() {
		if _, err := io.WriteString(c, "GET / HTTP/1.1\r\nHost: h\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		resp, err := http.ReadResponse(in, nil)
		if err != nil || text(t, resp) != body {
			t.Fatalf("%+v %v", resp, err)
		}
	}
	get() // and the handshake
	before := writes.Load()
	get()
	if n := writes.Load() - before; n != 1 {
		t.Errorf("%d writes", n)
	}
}
