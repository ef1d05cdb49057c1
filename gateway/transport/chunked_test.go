package transport

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/gateway/api"
	"github.com/wasmgate/wasmgate/gateway/api/reply"
)

// What goes around the bytes of a body is bounded; small chunks are not refused.
func TestChunks_AreMostlyBytes(t *testing.T) {
	r := run(t, func(r *api.Request) *reply.Response { return ok(fmt.Sprint(len(r.Body))) })
	const head = "POST / HTTP/1.1\r\nHost: h\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n"
	for name, c := range map[string]struct{ chunks, want string }{
		"chunks of a byte":      {strings.Repeat("1\r\nx\r\n", 100_000), "100000"},
		"extensions":            {strings.Repeat("10;name=value\r\n0123456789abcdef\r\n", 10_000), "160000"},
		"a long extension":      {"1;" + strings.Repeat("x", 1<<20) + "\r\nx\r\n", "malformed"},
		"a long one at the end": {"1\r\nx\r\n0;" + strings.Repeat("x", 1<<20), "malformed"},
	} {
		replies := r.raw(head + c.chunks + "0\r\n\r\n")
		if len(replies) != 1 {
			t.Errorf("%s: %d replies", name, len(replies))
			continue
		}
		code := http.StatusOK
		if c.want == "malformed" {
			code = http.StatusBadRequest
		}
		if got := text(t, replies[0]); replies[0].StatusCode != code || !strings.Contains(got, c.want) {
			t.Errorf("%s: %d %s", name, replies[0].StatusCode, got)
		}
	}
}

// A client may name the server in the target, as it would to a proxy.
func TestPath_OfAURL(t *testing.T) {
	r := run(t, func(r *api.Request) *reply.Response { return ok(r.Path + "|" + r.Query) })
	for target, want := range map[string]string{
		"https://h/api/v1?limit=1": "/api/v1|limit=1", "HTTPS://h:6443/a%20b": "/a b|", "http://h": "/|", "https://h?watch=1": "/|watch=1",
		"/api?x=https://h/y": "/api|x=https://h/y",
	} {
		replies := r.raw("GET " + target + " HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
		if len(replies) != 1 || text(t, replies[0]) != want {
			t.Errorf("%s: %+v, want %s", target, replies, want)
		}
	}
}
