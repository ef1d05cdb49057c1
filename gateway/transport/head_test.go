package transport

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/rs/zerolog"

	"github.com/wasmgate/wasmgate/gateway/api"
	"github.com/wasmgate/wasmgate/gateway/api/reply"
	"github.com/wasmgate/wasmgate/test/logtest"
)

// Heads that two servers may read differently are refused, and what follows
// them is never a request.
func TestHeads_ThatAreAmbiguousAreRefused(t *testing.T) {
	r := run(t, func(r *api.Request) *reply.Response { t.Errorf("served %s", r.Path); return ok("{}") })
	const inner = "GET /inner HTTP/1.1\r\nHost: h\r\n\r\n"
	for name, c := range map[string]struct{ head, message string }{
		"space before the colon":        {"POST / HTTP/1.1\r\nHost: h\r\nContent-Length : 32\r\n", "a header name has a space"},
		"tab before the colon":          {"POST / HTTP/1.1\r\nHost: h\r\nContent-Length\t: 32\r\n", "the request is malformed"},
		"space in a harmless name":      {"GET / HTTP/1.1\r\nHost: h\r\nX Y: 1\r\n", "a header name has a space"},
		"folded line":                   {"POST / HTTP/1.1\r\nHost: h\r\nX: 1\r\n Content-Length: 32\r\n", ""},
		"length and chunks":             {"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 32\r\nTransfer-Encoding: chunked\r\n", "Content-Length and Transfer-Encoding exclude each other"},
		"chunks and length":             {"POST / HTTP/1.1\r\nHost: h\r\ntransfer-encoding: chunked\r\ncontent-length: 32\r\n", "Content-Length and Transfer-Encoding exclude each other"},
		"chunks in HTTP/1.0":            {"POST / HTTP/1.0\r\nHost: h\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n", "HTTP/1.0 has no Transfer-Encoding"},
		"chunks twice":                  {"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", "the length of the body is given more than once"},
		"identity":                      {"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: identity\r\nContent-Length: 32\r\n", "the only Transfer-Encoding is chunked"},
		"two lengths that are the same": {"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 32\r\nContent-Length: 32\r\n", "the request is malformed"},
		"no Host":                       {"GET / HTTP/1.1\r\n", "HTTP/1.1 needs a Host"},
		"two Hosts":                     {"GET / HTTP/1.1\r\nHost: h\r\nHost: h\r\n", "Host is given more than once"},
		"two Hosts in HTTP/1.0":         {"GET / HTTP/1.0\r\nHost: h\r\nhost: i\r\n", "Host is given more than once"},
		"a Host that is none":           {"GET / HTTP/1.1\r\nHost: a b\r\n", "the request is malformed"},
		"a path for a Host":             {"GET / HTTP/1.1\r\nHost: a/b\r\n", "the request is malformed"},
		"two users":                     {"GET / HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer a\r\nAuthorization: Bearer b\r\n", "Authorization is given more than once"},
		"a target that is no path":      {"GET api HTTP/1.1\r\nHost: h\r\n", "the target of the request is neither a path nor a URL"},
		"a URL of another scheme":       {"GET ftp://h/api HTTP/1.1\r\nHost: h\r\n", "the target of the request is neither a path nor a URL"},
		"a URL of no host":              {"GET https:///api HTTP/1.1\r\nHost: h\r\n", "the target of the request is neither a path nor a URL"},
		"HTTP/3.7":                      {"GET / HTTP/3.7\r\nHost: h\r\n", "505 the HTTP version is neither 1.0 nor 1.1"},
		"HTTP/0.9":                      {"GET / HTTP/0.9\r\nHost: h\r\n", "505 the HTTP version is neither 1.0 nor 1.1"},
		"an unknown Expect":             {"POST / HTTP/1.1\r\nHost: h\r\nExpect: 200-ok\r\nContent-Length: 32\r\n", "417 the only Expect is 100-continue"},
	} {
		t.Run(name, func(t *testing.T) {
			r := *r
			r.t = t
			replies := r.raw(c.head + "\r\n" + inner)
			if len(replies) != 1 {
				t.Fatalf("%d replies", len(replies))
			}
			want := http.StatusBadRequest
			if code, rest, ok := strings.Cut(c.message, " "); ok && len(code) == 3 && code[0] < 'A' {
				want, _ = strconv.Atoi(code)
				c.message = rest
			}
			if code, message := status(t, replies[0]); code != want || !strings.HasPrefix(message, c.message) {
				t.Errorf("%d %q, want %q", code, message, c.message)
			}
			if !replies[0].Close {
				t.Error("the connection goes on")
			}
		})
	}
}

// What is unusual in a good head stays allowed.
func TestHeads_ThatAreOnlyUnusual(t *testing.T) {
	r := run(t, func(r *api.Request) *reply.Response { return ok(string(r.Body)) })
	for name, send := range map[string]string{
		"capitals":          "POST / HTTP/1.1\r\nHOST: h\r\nCONTENT-LENGTH: 2\r\nConnection: close\r\n\r\nhi",
		"Chunked":           "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding:  Chunked \r\nConnection: close\r\n\r\n2\r\nhi\r\n0\r\n\r\n",
		"HTTP/1.0":          "POST / HTTP/1.0\r\nContent-Length: 2\r\n\r\nhi",
		"space in a value":  "POST / HTTP/1.1\r\nHost: h\r\nX: a : b\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi",
		"empty value":       "POST / HTTP/1.1\r\nHost: h\r\nX:\r\nContent-Length:2\r\nConnection: close\r\n\r\nhi",
		"chunk extensions":  "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n2;a=b\r\nhi\r\n0\r\n\r\n",
		"no name of a host": "POST / HTTP/1.1\r\nHost:\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi",
		"an address":        "POST / HTTP/1.1\r\nHost: [::1]:6443\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi",
		"name like another": "POST / HTTP/1.1\r\nHost: h\r\nX-Content-Length: 9\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi",
	} {
		if replies := r.raw(send); len(replies) != 1 || replies[0].StatusCode != 200 || text(t, replies[0]) != "hi" {
			t.Errorf("%s: %+v", name, replies)
		}
	}
}

// A header is what came before the body: behind a proxy that checks headers
// and forwards trailers, anything else would let a client be anybody.
func TestTrailers_AreNotHeaders(t *testing.T) {
	got := make(chan *api.Request, 2)
	r := run(t, func(r *api.Request) *reply.Response { got <- r; return ok("{}") })
	const trailers = "Impersonate-User: admin\r\nImpersonate-Group: system:masters\r\nIf-None-Match: x\r\nAccept: application/yaml\r\n"
	replies := r.raw("POST /first HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nTrailer: Impersonate-User, Impersonate-Group, If-None-Match, Accept\r\n\r\n" +
		"2\r\nhi\r\n0\r\n" + trailers + "\r\nGET /second HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
	if len(replies) != 2 {
		t.Fatalf("%d replies", len(replies))
	}
	for _, path := range []string{"/first", "/second"} {
		if r := <-got; r.Path != path || r.Impersonate != nil || r.IfNoneMatch != "" || r.Accept != "" {
			t.Errorf("%s: %+v", path, r)
		}
	}
}

// A head that cannot be read may hold a token: neither the reply nor the log
// repeats any of it.
func TestMalformedHeads_AreNotRepeated(t *testing.T) {
	var log logtest.Log
	r := run(t, func(*api.Request) *reply.Response { t.Error("served"); return ok("{}") },
		func(o *Options) { o.Log = zerolog.New(&log).Level(zerolog.TraceLevel) })
	const secret = "c2VjcmV0"
	for name, send := range map[string]string{
		"no version":        "GET /?token=" + secret + "\r\nHost: h\r\nAuthorization: Bearer " + secret + "\r\n\r\n",
		"bad method":        "G@T / HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer " + secret + "\r\n\r\n",
		"bad version":       "GET / HTTP/9\r\nAuthorization: Bearer " + secret + "\r\n\r\n",
		"bad value":         "GET / HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer " + secret + "\x01\r\n\r\n",
		"bad name":          "GET / HTTP/1.1\r\nHost: h\r\n" + secret + "\x00: x\r\n\r\n",
		"bad encoding":      "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: " + secret + "\r\n\r\n",
		"bad length":        "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: " + secret + "\r\n\r\n",
		"no colon":          "GET / HTTP/1.1\r\nHost: h\r\n" + secret + "\r\n\r\n",
		"timeout in a name": "GET / HTTP/1.1\r\nHost: h\r\ntimeout" + secret + "\x00: x\r\n\r\n",
		"bad chunk":         "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\nx" + secret + "\r\n",
		"too large":         "GET / HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer " + strings.Repeat(secret, 4<<10) + "\r\n\r\n",
	} {
		replies := r.raw(send)
		if len(replies) != 1 {
			t.Errorf("%s: %d replies", name, len(replies))
			continue
		}
		if all := text(t, replies[0]); strings.Contains(all, secret) || !strings.Contains(all, `"kind":"Status"`) {
			t.Errorf("%s: %.300s", name, all)
		}
	}
	if all := log.String(); strings.Contains(all, secret) {
		t.Errorf("in the log: %s", all)
	}
}

// What the framework logs about a connection tells of the network only.
func TestLog_RepeatsNothingThatWasSent(t *testing.T) {
	for err, want := range map[error]string{
		errors.New("in secret"):                           "*errors.errorString",
		fmt.Errorf("reading: %w", io.EOF):                 "reading: EOF",
		fmt.Errorf("reading: %w", io.ErrUnexpectedEOF):    "reading: unexpected EOF",
		&net.OpError{Op: "read", Err: syscall.ECONNRESET}: "read: connection reset by peer",
	} {
		var log logtest.Log
		quiet{zerolog.New(&log)}.Printf("error of %q: %v", "127.0.0.1", err)
		if got := log.String(); !strings.Contains(got, want) || !strings.Contains(got, "127.0.0.1") || strings.Contains(got, "secret") {
			t.Errorf("%v: %s", err, got)
		}
	}
}

// What is said of the connection is heard in whichever of the headers it is.
func TestHead_Connection_CLI01(t *testing.T) {
	r := run(t, func(r *api.Request) *reply.Response { return ok(fmt.Sprint(r.Upgrade)) })
	for _, c := range []struct {
		said            string
		upgrade, closes bool
	}{
		{"Connection: Upgrade", true, false},
		{"Connection: keep-alive\r\nConnection: Upgrade", true, false},
		{"connection: keep-alive ,\tUPGRADE", true, false},
		{"Connection: close\r\nConnection: upgrade", true, true},
		{"Connection: upgraded, no upgrade, \"upgrade\"", false, false},
		{"Connection: Close", false, true},
		{"Connection: keep-alive, close", false, true},
		{"Connection: close\r\nConnection: X-Hop", false, true},
		{"Connection: closed,,keep-alive", false, false},
		{"Connection:", false, false},
		{"X: upgrade, close", false, false},
	} {
		all := r.raw("GET / HTTP/1.1\r\nHost: h\r\n" + c.said + "\r\n\r\nGET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
		answered := 2
		if c.closes {
			answered = 1
		}
		if len(all) != answered || text(t, all[0]) != fmt.Sprint(c.upgrade) || all[0].Close != c.closes {
			t.Errorf("%q: %d replies, of which the first is %+v", c.said, len(all), all)
		}
	}
}
