package transport

import (
	"crypto/tls"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/wasmgate/wasmgate/gateway/api"
	"github.com/wasmgate/wasmgate/gateway/api/reply"
)

// What never becomes a request leaves a trace: who sent it, and what was wrong. Who
// only looks whether the port is open leaves none.
func TestRefusals_AreTold(t *testing.T) {
	refused := make(chan Refusal, 10)
	r := run(t, func(*api.Request) *reply.Response { t.Error("served"); return ok("{}") },
		func(o *Options) { o.Refused = func(r Refusal) { refused <- r } })
	const secret = "c2VjcmV0"
	plain := func(send string) { _, _ = io.ReadAll(r.plain(t, send)) } // any end of it will do
	_ = r.plain(t, "").Close()
	for name, c := range map[string]struct {
		send func()
		want Refusal
	}{
		"no head": {func() { r.raw("G@T /" + secret + "\r\n\r\n") }, Refusal{Code: 400, Message: "the request is malformed"}},
		"two lengths": {func() {
			r.raw("POST /a%20b HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n")
		}, Refusal{Method: "POST", Path: "/a b", Code: 400, Message: "Content-Length and Transfer-Encoding exclude each other"}},
		"too large":  {func() { r.raw("GET / HTTP/1.1\r\nHost: h\r\nX: " + strings.Repeat(secret, 4<<10) + "\r\n\r\n") }, Refusal{Code: 431, Message: refusals[431]}},
		"plain HTTP": {func() { plain("GET / HTTP/1.1\r\n\r\n") }, Refusal{Code: 400, Message: "plain HTTP, where TLS has to be"}},
		"no TLS":     {func() { plain(secret) }, Refusal{Message: "no TLS connection: "}},
		"old TLS": {func() {
			old := r.tls.Clone()
			old.MaxVersion = tls.VersionTLS11
			old.MinVersion = tls.VersionTLS10
			if c, err := tls.Dial("tcp", r.addr, old); err == nil {
				_ = c.Close()
				t.Error("TLS 1.1 will do")
			}
		}, Refusal{Message: "no TLS connection: "}},
	} {
		c.send()
		select {
		case got := <-refused:
			if got.Remote == nil || got.Method != c.want.Method || got.Path != c.want.Path || got.Code != c.want.Code || !strings.HasPrefix(got.Message, c.want.Message) || strings.Contains(got.Message, secret) {
				t.Errorf("%s: %+v, want %+v", name, got, c.want)
			}
		case <-time.After(patience):
			t.Errorf("%s: no trace", name)
		}
	}
	select {
	case more := <-refused:
		t.Errorf("%+v", more)
	default:
	}
}
