package transport

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/wasmgate/wasmgate/gateway/api"
	"github.com/wasmgate/wasmgate/gateway/api/reply"
)

// relaying serves requests whose bodies come piece by piece, with what f makes of them.
func relaying(t *testing.T, f func(io.ReadCloser, int64) *reply.Response) *running {
	return run(t, nil, func(o *Options) {
		o.Handler = unread(func(r *api.Request) *reply.Response {
			if r.OpenBody == nil {
				_, _ = r.ReadBody(bodyLimit)
				return ok("small")
			}
			body, length, err := r.OpenBody(bodyLimit)
			if err != nil {
				return refusal(err)
			}
			return f(body, length)
		})
	})
}

// Large bodies, and those of no known length, come as they are sent.
func TestComing_PiecesComeAsTheyAreSent(t *testing.T) {
	first := make(chan struct{})
	r := relaying(t, func(body io.ReadCloser, _ int64) *reply.Response {
		one := make([]byte, 5)
		if _, err := io.ReadFull(body, one); err != nil || string(one) != "first" {
			t.Errorf("%q %v", one, err)
		}
		close(first)
		rest, err := io.ReadAll(body)
		if err != nil {
			return refusal(err)
		}
		return ok(string(rest))
	})
	from, to := io.Pipe()
	go func() {
		_, _ = io.WriteString(to, "first")
		<-first // no more is sent before that came
		_, _ = io.WriteString(to, "second")
		_ = to.Close()
	}()
	if resp, got := r.do("POST", "/", from, nil); resp.StatusCode != 200 || string(got) != "second" {
		t.Errorf("%d %s", resp.StatusCode, got)
	}
	for size, want := range map[int]string{10: "small", firstPiece: "small", firstPiece + 1: strings.Repeat("a", firstPiece-4), bodyLimit: strings.Repeat("a", bodyLimit-5)} {
		first = make(chan struct{})
		body := "first" + strings.Repeat("a", max(size-5, 5))
		if resp, got := r.do("POST", "/", strings.NewReader(body[:size]), http.Header{"Expect": {"100-continue"}}); resp.StatusCode != 200 || string(got) != want || resp.Close {
			t.Errorf("%d bytes: %d %.50s", size, resp.StatusCode, got)
		}
	}
}

// What is larger than it may be, or ends early, is refused as where bodies are read.
func TestComing_Refusals(t *testing.T) {
	failures := make(chan error, 1)
	r := relaying(t, func(body io.ReadCloser, _ int64) *reply.Response {
		_, err := io.Copy(io.Discard, body)
		failures <- err
		if err != nil {
			return refusal(err)
		}
		return ok("")
	})
	large := bytes.Repeat([]byte("a"), bodyLimit+1)
	if resp, got := r.do("POST", "/", bytes.NewReader(large), nil); resp.StatusCode != 413 {
		t.Errorf("%d %s", resp.StatusCode, got)
	}
	if resp, got := r.do("POST", "/", io.MultiReader(bytes.NewReader(large)), nil); resp.StatusCode != 413 {
		t.Errorf("in chunks: %d %s", resp.StatusCode, got)
	}
	<-failures
	c := r.dial()
	if _, err := io.WriteString(c, "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 100000\r\n\r\n"+strings.Repeat("a", 50_000)); err != nil {
		t.Fatal(err)
	}
	_ = c.Close()
	if err := <-failures; !apierrors.IsBadRequest(err) {
		t.Errorf("a client that left: %v", err)
	}
}

// A reply may come before its body, while somebody still reads that, and end it.
func TestComing_RepliesBeforeTheBody(t *testing.T) {
	memory := &piece{limit: 1 << 20}
	ended := make(chan error, 1)
	r := relaying(t, func(body io.ReadCloser, _ int64) *reply.Response {
		from, to := io.Pipe() // says what it hears
		go func() {
			_, err := io.Copy(to, body)
			_ = to.CloseWithError(err)
			ended <- err
		}()
		return &reply.Response{Code: 200, ContentType: "text/plain", Reader: io.LimitReader(from, 10), Done: func() { _ = from.Close() }}
	})
	r.server.options.Bodies = memory
	c := r.dial()
	if _, err := io.WriteString(c, "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n"); err != nil {
		t.Fatal(err)
	}
	heard := make([]byte, 1<<10)
	all := ""
	for !strings.Contains(all, "hello") {
		n, err := c.Read(heard)
		if all += string(heard[:n]); err != nil {
			t.Fatal(all, err)
		}
	}
	if _, err := io.WriteString(c, "e\r\nagain and more\r\n"); err != nil {
		t.Fatal(err)
	}
	rest, err := io.ReadAll(c)
	if all += string(rest); err != nil || !strings.Contains(all, "Connection: close") || !strings.HasSuffix(all, "0\r\n\r\n") || !strings.Contains(all, "again") {
		t.Errorf("%q %v", all, err)
	}
	if memory.used.Load() != 0 {
		t.Errorf("%d bytes of memory are not given back", memory.used.Load())
	}
	if err := <-ended; err == nil {
		t.Error("all of the body came")
	}
}
