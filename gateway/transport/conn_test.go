package transport

import (
	"io"
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/gateway/api"
	"github.com/wasmgate/wasmgate/gateway/api/reply"
)

// TestHandshake_PlainHTTPIsToldWhatIsWrong speaks HTTP to the HTTPS port.
func TestHandshake_PlainHTTPIsToldWhatIsWrong(t *testing.T) {
	r := run(t, func(*api.Request) *reply.Response {
		t.Error("a plain request reached the handler")
		return ok("")
	})
	for _, begin := range []string{"GET / HTTP/1.1\r\nHost: x\r\n\r\n", "POST /api HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n"} {
		c := r.plain(t, begin)
		reply := make([]byte, len(plainReply))
		if _, err := io.ReadFull(c, reply); err != nil || !strings.HasPrefix(string(reply), "HTTP/1.0 400 ") {
			t.Errorf("%q: got %q, %v", begin, reply, err)
		}
	}
}
