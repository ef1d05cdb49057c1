package transport

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/wasmgate/wasmgate/gateway/api"
	"github.com/wasmgate/wasmgate/gateway/api/reply"
)

func streaming(f func(ctx context.Context, w reply.FrameWriter)) *reply.Response {
	return &reply.Response{Code: http.StatusOK, ContentType: "application/json", Stream: f}
}

func (r *running) open(path string) (*http.Response, context.CancelFunc) {
	r.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, r.url+path, nil)
	if err != nil {
		r.t.Fatal(err)
	}
	client := *r.client
	client.Timeout = 0
	resp, err := client.Do(req)
	if err != nil {
		cancel()
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { cancel(); _ = resp.Body.Close() })
	return resp, cancel
}

// Each frame reaches the client before the next one is made, and the head
// before the first.
func TestStream_Frames_WATCH01(t *testing.T) {
	next := make(chan []byte)
	r := run(t, func(*api.Request) *reply.Response {
		resp := streaming(func(_ context.Context, w reply.FrameWriter) {
			_ = w.Flush()
			for frame := range next {
				half := len(frame) / 2
				_, _ = w.Write(frame[:half])
				_, _ = w.Write(frame[half:])
				if err := w.Flush(); err != nil {
					t.Errorf("flush: %v", err)
				}
			}
		})
		resp.Headers = []reply.Header{{Name: "Warning", Value: `299 - "old"`}}
		return resp
	})
	resp, _ := r.open("/")
	if resp.StatusCode != 200 || !strings.EqualFold(strings.Join(resp.TransferEncoding, ","), "chunked") ||
		resp.Header.Get("Content-Type") != "application/json" || resp.Header.Get("Warning") != `299 - "old"` {
		t.Errorf("%d %v %v", resp.StatusCode, resp.TransferEncoding, resp.Header)
	}
	for i, size := range []int{1, 9, 15, 16, 17, 255, 256, 4095, 4096, 16 << 10, 16<<10 + 1, 70_000, 1 << 20, 3, 5 << 20, 1} {
		frame := bytes.Repeat([]byte{byte('a' + i)}, size)
		next <- frame
		got := make([]byte, size)
		if _, err := io.ReadFull(resp.Body, got); err != nil || !bytes.Equal(got, frame) {
			t.Fatalf("frame %d of %d bytes: %v", i, size, err)
		}
	}
	close(next)
	if rest, err := io.ReadAll(resp.Body); err != nil || len(rest) > 0 {
		t.Errorf("after the last frame: %q %v", rest, err)
	}
}

// The first frame may be collected before the head was sent: it is moved to
// where the frame begins, whatever the length of the size line.
func TestStream_HeadTogetherWithTheFirstFrame(t *testing.T) {
	for _, size := range []int{0, 1, 15, 16, 4096, 65_535, 65_536, 1 << 20} {
		frame := strings.Repeat("f", size)
		r := run(t, func(*api.Request) *reply.Response {
			return streaming(func(_ context.Context, w reply.FrameWriter) {
				_, _ = io.WriteString(w, frame)
				_, _ = w.Write(nil) // no bytes are no chunk
				_ = w.Flush()
				_, _ = w.Write(nil)
				_ = w.Flush()
				_, _ = io.WriteString(w, "!") // goes out with the end
			})
		})
		c := r.dial()
		if _, err := io.WriteString(c, "GET / HTTP/1.1\r\nHost: h\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		raw, err := io.ReadAll(c)
		if err != nil {
			t.Fatal(err)
		}
		want := "\r\n\r\n1\r\n!\r\n0\r\n\r\n"
		if size > 0 {
			want = fmt.Sprintf("\r\n\r\n%x\r\n%s\r\n1\r\n!\r\n0\r\n\r\n", size, frame)
		}
		if !bytes.HasPrefix(raw, []byte("HTTP/1.1 200 OK\r\nCache-Control: ")) || !bytes.HasSuffix(raw, []byte(want)) {
			t.Errorf("size %d: %.200q", size, raw)
		}
	}
}

// Who knows no chunks is sent none: the reply ends with its connection.
func TestStream_ClientsThatKnowNoChunks(t *testing.T) {
	r := run(t, func(*api.Request) *reply.Response {
		return streaming(func(_ context.Context, w reply.FrameWriter) {
			_ = w.Flush()
			_, _ = io.WriteString(w, "one\n")
			_ = w.Flush()
			w.Frame([]byte("t"), []byte("w"), "o\n")
		})
	})
	for _, begin := range []string{"GET /stream HTTP/1.0\r\n\r\n", "GET /stream HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"} {
		all := r.raw(begin)
		if len(all) != 1 {
			t.Fatalf("%q: %d replies", begin, len(all))
		}
		if got := text(t, all[0]); got != "one\ntwo\n" || all[0].TransferEncoding != nil || !all[0].Close {
			t.Errorf("%q: %q, %+v", begin, got, all[0])
		}
	}
}

// A stream that breaks off has no end that anybody could take for one.
func TestStream_ThatBreaksOff(t *testing.T) {
	r := run(t, func(r *api.Request) *reply.Response {
		resp := streaming(func(_ context.Context, w reply.FrameWriter) {
			_, _ = io.WriteString(w, "some")
		})
		resp.Broke = func() bool { return r.Path == "/broken" }
		return resp
	})
	for path, want := range map[string]error{"/whole": nil, "/broken": io.ErrUnexpectedEOF} {
		resp, _ := r.open(path)
		if got, err := io.ReadAll(resp.Body); string(got) != "some" || !errors.Is(err, want) {
			t.Errorf("%s: %q, %v", path, got, err)
		}
	}
}

func TestStream_DepartedClientEndsIt(t *testing.T) {
	ended := make(chan struct{})
	r := run(t, func(*api.Request) *reply.Response {
		return streaming(func(ctx context.Context, w reply.FrameWriter) {
			_ = w.Flush()
			<-ctx.Done()
			close(ended)
		})
	})
	_, cancel := r.open("/")
	cancel()
	within(t, "the end of the stream", ended)
}

// What a client sends after its request is dropped: it is not a request, and
// the client has not left.
func TestStream_PipelinedBytesAreDropped(t *testing.T) {
	var paths []string
	sent, ended := make(chan struct{}), make(chan struct{})
	r := run(t, func(r *api.Request) *reply.Response {
		paths = append(paths, r.Path)
		return streaming(func(ctx context.Context, w reply.FrameWriter) {
			defer close(ended)
			<-sent
			_, _ = io.WriteString(w, "frame")
			_ = w.Flush()
			<-ctx.Done()
		})
	})
	c := r.dial()
	if _, err := io.WriteString(c, "GET /1 HTTP/1.1\r\nHost: h\r\n\r\n"+strings.Repeat("GET /2 HTTP/1.1\r\nHost: h\r\n\r\n", 2000)); err != nil {
		t.Fatal(err)
	}
	close(sent)
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	got := make([]byte, 5)
	if _, err := io.ReadFull(resp.Body, got); err != nil || string(got) != "frame" {
		t.Errorf("%q %v", got, err)
	}
	_ = c.Close()
	within(t, "the end of the stream", ended)
	if len(paths) != 1 {
		t.Errorf("served %q", paths)
	}
}

func TestStream_StuckClientHoldsUpNobody(t *testing.T) {
	stuck := make(chan struct{})
	frame := bytes.Repeat([]byte("x"), 1<<20)
	r := run(t, func(r *api.Request) *reply.Response {
		if r.Path == "/stuck" {
			return streaming(func(_ context.Context, w reply.FrameWriter) {
				for i := 0; ; i++ {
					if i == 8 { // several times what the sockets take in
						close(stuck)
					}
					_, _ = w.Write(frame)
					if w.Flush() != nil {
						return
					}
				}
			})
		}
		return streaming(func(_ context.Context, w reply.FrameWriter) {
			for range 20 {
				_, _ = w.Write(frame)
				_ = w.Flush()
			}
		})
	})
	c := r.dial()
	if _, err := io.WriteString(c, "GET /stuck HTTP/1.1\r\nHost: h\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	// The client reads 8 MiB, and then nothing more.
	if _, err := io.CopyN(io.Discard, c, 8<<20); err != nil {
		t.Fatal(err)
	}
	within(t, "filling the stuck client", stuck)
	resp, _ := r.open("/other")
	if n, err := io.Copy(io.Discard, resp.Body); err != nil || n != 20<<20 {
		t.Errorf("the other client got %d bytes: %v", n, err)
	}
	// The server does not wait for it the whole write timeout to stop.
	begin := time.Now()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := r.server.Shutdown(ctx); err != nil || time.Since(begin) > streamWriteTimeout/2 {
		t.Errorf("shutdown took %s: %v", time.Since(begin), err)
	}
}

// breaking is a listener whose connections break when they are told to.
type breaking struct {
	net.Listener
	broken *atomic.Bool
}

func (b breaking) Accept() (net.Conn, error) {
	c, err := b.Listener.Accept()
	return breakingConn{c, b.broken}, err
}

type breakingConn struct {
	net.Conn
	broken *atomic.Bool
}

func (c breakingConn) SetWriteDeadline(at time.Time) error {
	if c.broken.Load() {
		return net.ErrClosed
	}
	return c.Conn.SetWriteDeadline(at)
}

// A connection that breaks between the handler and the stream never becomes
// one: what the stream holds is let go, nobody is sent anything, and a shutdown
// does not wait for it, though it may panic.
func TestStream_ThatNeverBeginsIsLetGo(t *testing.T) {
	for name, last := range map[string]func(){"returns": func() {}, "panics": func() { panic("in Stream") }} {
		t.Run(name, func(t *testing.T) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			var broken atomic.Bool
			let := make(chan error, 1)
			r := runOn(t, breaking{l, &broken}, func(*api.Request) *reply.Response {
				broken.Store(true)
				return streaming(func(ctx context.Context, w reply.FrameWriter) {
					_, _ = io.WriteString(w, "frame")
					if w.Flush() == nil {
						t.Error("a frame was sent")
					}
					let <- ctx.Err()
					last()
				})
			})
			if replies := r.raw("GET / HTTP/1.1\r\nHost: h\r\n\r\n"); len(replies) != 0 {
				t.Errorf("%+v", replies)
			}
			ctx, cancel := context.WithTimeout(context.Background(), patience)
			defer cancel()
			if err := r.server.Shutdown(ctx); err != nil {
				t.Error(err)
			}
			select {
			case err := <-let:
				if err == nil {
					t.Error("its context goes on")
				}
			default:
				t.Error("the stream was never told that it is over")
			}
		})
	}
}

func TestStream_PanicEndsOnlyThatStream(t *testing.T) {
	r := run(t, func(r *api.Request) *reply.Response {
		if r.Path != "/panic" {
			return ok("{}")
		}
		return streaming(func(_ context.Context, w reply.FrameWriter) {
			_, _ = io.WriteString(w, "frame")
			_ = w.Flush()
			panic("in Stream")
		})
	})
	resp, _ := r.open("/panic")
	if got, err := io.ReadAll(resp.Body); string(got) != "frame" || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("%q %v, want a broken stream", got, err)
	}
	if _, body := r.do("GET", "/", nil, nil); string(body) != "{}" {
		t.Errorf("afterwards: %s", body)
	}
}

func TestShutdown_EndsStreamsCleanly(t *testing.T) {
	r := run(t, func(*api.Request) *reply.Response {
		return streaming(func(ctx context.Context, w reply.FrameWriter) {
			_ = w.Flush()
			<-ctx.Done()
			_, _ = io.WriteString(w, "last")
		})
	})
	const clients = 20
	var open []*http.Response
	for range clients {
		resp, _ := r.open("/")
		open = append(open, resp)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := r.server.Shutdown(ctx); err != nil {
		t.Fatal(err)
	}
	for i, resp := range open {
		if got, err := io.ReadAll(resp.Body); string(got) != "last" || err != nil {
			t.Errorf("client %d: %q %v", i, got, err)
		}
	}
}

// A stream that is asked for while the server stops is turned away: one that
// ended as soon as it began would look like a loss to clients. It still ends.
func TestShutdown_TurnsStreamsAway(t *testing.T) {
	asked, stopping := make(chan struct{}), make(chan struct{})
	var ended atomic.Int64
	r := run(t, func(*api.Request) *reply.Response {
		close(asked)
		<-stopping
		return streaming(func(_ context.Context, w reply.FrameWriter) {
			defer ended.Add(1)
			if w.Flush() == nil {
				t.Error("the head was sent")
			}
		})
	})
	replies := make(chan []*http.Response, 1)
	go func() { replies <- r.raw("GET / HTTP/1.1\r\nHost: h\r\n\r\n") }()
	<-asked
	done := make(chan error, 1)
	go func() { done <- r.server.Shutdown(t.Context()) }()
	<-r.server.ctx.Done()
	close(stopping)
	got := <-replies
	if len(got) != 1 {
		t.Fatalf("%+v", got)
	}
	body, err := io.ReadAll(got[0].Body)
	if err != nil || got[0].StatusCode != 429 || got[0].Header.Get("Retry-After") != "1" || !strings.Contains(string(body), "shutting down") {
		t.Errorf("%+v %s %v", got[0], body, err)
	}
	if err := <-done; err != nil || ended.Load() != 1 {
		t.Errorf("%v; %d streams ended", err, ended.Load())
	}
}

// Streams that end hand their memory to the next connections.
func TestStream_ManyInARow(t *testing.T) {
	r := run(t, func(r *api.Request) *reply.Response {
		if r.Path == "/plain" {
			return ok(`"` + string(r.Body) + `"`)
		}
		return streaming(func(_ context.Context, w reply.FrameWriter) { _, _ = io.WriteString(w, r.Query) })
	})
	done := make(chan error, 8)
	for g := range cap(done) {
		go func() {
			for i := range 50 {
				want := fmt.Sprintf("%d-%d", g, i)
				_, got, err := r.try("GET", "/stream?"+want, nil, nil)
				if err != nil || string(got) != want {
					done <- fmt.Errorf("stream: %q, want %q: %w", got, want, err)
					return
				}
				if _, got, err = r.try("POST", "/plain", strings.NewReader(want), nil); err != nil || string(got) != `"`+want+`"` {
					done <- fmt.Errorf("plain: %q, want %q: %w", got, want, err)
					return
				}
			}
			done <- nil
		}()
	}
	for range cap(done) {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}
