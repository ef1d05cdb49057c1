package transport

import (
	"bytes"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/rs/zerolog"

	"github.com/wasmgate/wasmgate/gateway/api"
	"github.com/wasmgate/wasmgate/gateway/api/reply"
)

func TestRequest_IsCarriedWhole(t *testing.T) {
	var got *api.Request
	r := run(t, func(r *api.Request) *reply.Response { got = r; return ok("{}") })
	r.do("PATCH", "/api/v1/namespaces/a%20%C3%A9/?dryRun=All&x=%20", strings.NewReader("body"), http.Header{
		"Accept": {"application/yaml", "application/json;q=0.5"}, "Content-Type": {"application/merge-patch+json"},
		"Authorization": {"Bearer token"}, "Accept-Encoding": {"br", "gzip"}, "If-None-Match": {`"tag"`}, "User-Agent": {"kubectl"},
		"Impersonate-User": {"bob"}, "Impersonate-Uid": {"7"}, "Impersonate-Group": {"dev", "ops"},
		"Impersonate-Extra-Example.com%2fScope": {"a", "b"}, "Impersonate-Extra-Bad%zz": {"c"},
	})
	want := &api.Request{
		Method: "PATCH", Path: "/api/v1/namespaces/a é/", Query: "dryRun=All&x=%20", Body: []byte("body"), BodyLength: 4,
		Accept: "application/yaml, application/json;q=0.5", ContentType: "application/merge-patch+json",
		Authorization: "Bearer token", AcceptEncoding: "br, gzip", IfNoneMatch: `"tag"`, UserAgent: "kubectl",
		Impersonate: &api.Impersonation{User: "bob", UID: "7", Groups: []string{"dev", "ops"},
			Extra: map[string][]string{"example.com/scope": {"a", "b"}, "bad%zz": {"c"}}},
	}
	if from := got.Remote; from == nil || !strings.HasPrefix(from.String(), "127.0.0.1:") {
		t.Errorf("it comes from %v", from)
	}
	if got.Remote, got.Context, got.Head = nil, nil, nil; !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	r.do("GET", "/", nil, nil)
	if got.Impersonate != nil || got.Body != nil {
		t.Errorf("something of the last request came back: %+v", got)
	}
}

// Any of the headers alone asks for another identity, and is not forgotten;
// empty ones ask for none, as in kube-apiserver.
func TestRequest_ImpersonationHeaders(t *testing.T) {
	var got *api.Request
	r := run(t, func(r *api.Request) *reply.Response { got = r; return ok("{}") })
	for header, want := range map[string]*api.Impersonation{
		"Impersonate-User: bob\r\nImpersonate-User: eve": {User: "bob"},
		"impersonate-uid: 7":                             {UID: "7"},
		"IMPERSONATE-GROUP: dev":                         {Groups: []string{"dev"}},
		"Impersonate-Extra-Scopes: x":                    {Extra: map[string][]string{"scopes": {"x"}}},
		"Impersonate-User:":                              nil,
		"Impersonate-Other: x":                           nil,
		"X-Impersonate-User: bob":                        nil,
	} {
		r.raw("GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n" + header + "\r\n\r\n")
		if !reflect.DeepEqual(got.Impersonate, want) {
			t.Errorf("%s: %+v, want %+v", header, got.Impersonate, want)
		}
	}
}

// No segment of a path is more than itself: what the path names is what the
// identity was asked about.
func TestRequest_PathIsNotRewritten(t *testing.T) {
	r := run(t, func(r *api.Request) *reply.Response { return ok(r.Path) })
	for path, want := range map[string]string{
		"/a/b/":                 "/a/b/",
		"/a%20b":                "/a b",
		"/a%2Fb":                "/a%2Fb",
		"/a//b":                 "/a//b",
		"/a/../b":               "/a/../b",
		"/a/%2e%2e/b":           "/a/../b",
		"/a%252Fb":              "/a%2Fb",
		"/a+b":                  "/a+b",
		"/%ff":                  "/\xff",
		"/a%3Fb?c":              "/a?b",
		"/%61pi/v1/%6eodes?a=b": "/api/v1/nodes",
	} {
		replies := r.raw("GET " + path + " HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
		if len(replies) != 1 || text(t, replies[0]) != want {
			t.Errorf("%s: %v, want %q", path, replies, want)
		}
	}
}

// What was not decoded is told apart from what only looks so, and what nobody can decode
// is no request.
func TestRequest_EscapesOfPaths(t *testing.T) {
	r := run(t, func(r *api.Request) *reply.Response { return ok(fmt.Sprint(r.Undecoded)) })
	for path, want := range map[string]string{
		"/a%2Fb": "true", "/a%20b%2fc": "true", "https://h/a%2fb": "true", "/a%252Fb": "false", "/a%20b": "false", "/a?b%2Fc": "false", "/a?%zz": "false",
		"/a%zz": "400", "/a%2": "400", "/a%": "400", "/a%2Fb%": "400", "https://h/%zz": "400",
	} {
		replies := r.raw("GET " + path + " HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
		if len(replies) != 1 || want != fmt.Sprint(replies[0].StatusCode) && text(t, replies[0]) != want {
			t.Errorf("%s: %v, want %s", path, replies, want)
		}
	}
}

func TestRequest_BodyIsNotReusedMemory(t *testing.T) {
	var mu sync.Mutex
	var kept [][]byte
	r := run(t, func(r *api.Request) *reply.Response {
		mu.Lock()
		defer mu.Unlock()
		kept = append(kept, r.Body)
		return ok("{}")
	})
	sizes := []int{1, firstPiece - 1, firstPiece, 3*firstPiece + 1, 100}
	for i, n := range sizes {
		r.do("POST", "/", bytes.NewReader(bytes.Repeat([]byte{byte('a' + i)}, n)), nil)
	}
	for i, n := range sizes {
		if want := bytes.Repeat([]byte{byte('a' + i)}, n); !bytes.Equal(kept[i], want) {
			t.Errorf("body %d of %d bytes was overwritten", i, n)
		}
	}
}

func status(t *testing.T, resp *http.Response) (code int, message string) {
	t.Helper()
	var s struct {
		Kind, Status, Message string
		Code                  int
	}
	body := text(t, resp)
	if err := json.Unmarshal([]byte(body), &s); err != nil || s.Kind != "Status" || s.Status != "Failure" || s.Code != resp.StatusCode {
		t.Fatalf("not a Status: %d %s", resp.StatusCode, body)
	}
	if got := resp.Header.Get("Content-Type"); got != "application/json" {
		t.Errorf("Content-Type %q", got)
	}
	return s.Code, s.Message
}

func TestMalformedRequests_GetAStatus(t *testing.T) {
	r := run(t, func(*api.Request) *reply.Response { t.Error("served"); return ok("{}") })
	for name, c := range map[string]struct {
		send string
		code int
	}{
		"garbage":                 {"GARBAGE\r\n\r\n", 400},
		"huge head":               {"GET / HTTP/1.1\r\nHost: h\r\nX: " + strings.Repeat("x", 64<<10) + "\r\n\r\n", 431},
		"huge path":               {"GET /" + strings.Repeat("x", 64<<10) + " HTTP/1.1\r\nHost: h\r\n\r\n", 431},
		"two content lengths":     {"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab", 400},
		"bad content length":      {"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: -1\r\n\r\n", 400},
		"unknown encoding":        {"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: xchunked\r\n\r\n", 400},
		"zero byte in a name":     {"GET / HTTP/1.1\r\nHost: h\r\nBad\x00Key: 1\r\n\r\n", 400},
		"bad chunk size":          {"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", 400},
		"control character":       {"GET / HTTP/1.1\r\nHost: h\r\nX: a\x01b\r\n\r\n", 400},
		"negative chunk and more": {"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n\r\n", 400},
	} {
		t.Run(name, func(t *testing.T) {
			r := *r
			r.t = t
			replies := r.raw(c.send)
			if len(replies) != 1 {
				t.Fatalf("%d replies", len(replies))
			}
			if code, message := status(t, replies[0]); code != c.code || message != refusals[code] && code != 400 || message == "" {
				t.Errorf("%d %q, want %d", code, message, c.code)
			}
		})
	}
}

// What follows a request on its connection is the next request, or nothing:
// never a part of the first one's body.
func TestBodiesAreNeverRequests(t *testing.T) {
	inner := "GET /inner HTTP/1.1\r\nHost: h\r\n\r\n"
	for name, send := range map[string]string{
		"GET":         fmt.Sprintf("GET /outer HTTP/1.1\r\nHost: h\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s", len(inner), inner),
		"HEAD":        fmt.Sprintf("HEAD /outer HTTP/1.1\r\nHost: h\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s", len(inner), inner),
		"chunked GET": fmt.Sprintf("GET /outer HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n%x\r\n%s\r\n0\r\n\r\n", len(inner), inner),
	} {
		t.Run(name, func(t *testing.T) {
			var n atomic.Int32
			r := run(t, func(r *api.Request) *reply.Response {
				n.Add(1)
				if r.Path != "/outer" {
					t.Errorf("served %s", r.Path)
				}
				return ok("{}")
			})
			r.raw(send)
			if n.Load() != 1 {
				t.Errorf("%d requests", n.Load())
			}
		})
	}
}

func TestUnusualMethods_ReachTheHandler(t *testing.T) {
	r := run(t, func(r *api.Request) *reply.Response { return ok(r.Method) })
	for _, method := range []string{"OPTIONS", "TRACE", "DELETE", "BREW", "get"} {
		if _, body := r.do(method, "/", nil, nil); string(body) != method {
			t.Errorf("%s: %s", method, body)
		}
	}
}

func TestPanic_IsAStatusAndTheServerGoesOn(t *testing.T) {
	r := run(t, func(r *api.Request) *reply.Response {
		if r.Path == "/panic" {
			panic("handler")
		}
		return ok("{}")
	})
	resp, body := r.do("GET", "/panic", nil, nil)
	if resp.StatusCode != 500 || !bytes.Contains(body, []byte(`"kind":"Status"`)) {
		t.Errorf("%d %s", resp.StatusCode, body)
	}
	if resp, _ := r.do("GET", "/", nil, nil); resp.StatusCode != 200 {
		t.Errorf("afterwards: %d", resp.StatusCode)
	}
}

// flaky fails to accept a few times, as a process without free files does.
type flaky struct {
	net.Listener
	errs []error
}

func (f *flaky) Accept() (net.Conn, error) {
	if len(f.errs) > 0 {
		err := f.errs[0]
		f.errs = f.errs[1:]
		return nil, &net.OpError{Op: "accept", Err: os.NewSyscallError("accept4", err)}
	}
	return nil, net.ErrClosed
}

func TestAccept_OutlivesTooManyOpenFiles(t *testing.T) {
	f := &flaky{errs: []error{syscall.EMFILE, syscall.ECONNABORTED}}
	_, err := (&listener{Listener: f, log: zerolog.Nop()}).Accept()
	if !errors.Is(err, net.ErrClosed) || len(f.errs) > 0 {
		t.Errorf("%v, %d errors left", err, len(f.errs))
	}
	if passing(syscall.EINVAL) || passing(net.ErrClosed) {
		t.Error("a lasting error passes")
	}
}

// What a client said before on its connection is no part of what it says now.
func TestRequest_HeadersOfEachRequestAreItsOwn(t *testing.T) {
	var got []string
	r := run(t, func(r *api.Request) *reply.Response {
		got = append(got, strings.Join([]string{r.Method, r.Accept, r.ContentType, r.Authorization, r.UserAgent}, "|"))
		return ok("{}")
	})
	var send strings.Builder
	want := []string{"GET|a|b|c|d", "GET|a|b|c|d", "GET|a2|b2|c2|d2", "PUT||||", "GET|a|b|c|d"}
	for i, w := range want {
		f := strings.Split(w, "|")
		fmt.Fprintf(&send, "%s / HTTP/1.1\r\nHost: h\r\n", f[0])
		for j, name := range []string{"Accept", "Content-Type", "Authorization", "User-Agent"} {
			if f[j+1] != "" {
				fmt.Fprintf(&send, "%s: %s\r\n", name, f[j+1])
			}
		}
		if i == len(want)-1 {
			send.WriteString("Connection: close\r\n")
		}
		send.WriteString("\r\n")
	}
	r.raw(send.String())
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// The official C client gives all media types of patches that it knows, and means the
// first: so does what is said of a client twice, as for servers in Go.
func TestRequest_TheFirstOfRepeatedHeadersCounts_CLI01(t *testing.T) {
	var got *api.Request
	var head http.Header
	r := run(t, func(r *api.Request) *reply.Response { got, head = r, r.Head.Header(); return ok("{}") })
	for send, want := range map[string][2]string{
		"Content-Type: application/json-patch+json\r\ncontent-type: application/merge-patch+json\r\nContent-Type:\r\n": {"application/json-patch+json"},
		"Content-Type: \r\nContent-Type: application/json\r\n":                                                         {},
		"User-Agent:\tone/1 \r\nAccept: */*\r\nUSER-AGENT: two/2\r\n":                                                  {"", "one/1"},
	} {
		r.raw("PATCH / HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\nConnection: close\r\n" + send + "\r\n{}")
		if got := [2]string{got.ContentType, got.UserAgent}; got != want {
			t.Errorf("%q: %q, want %q", send, got, want)
		}
		if passed := [2]string{head.Get("Content-Type"), head.Get("User-Agent")}; passed != want {
			t.Errorf("%q: passed on as %q, want %q", send, passed, want)
		}
	}
}

// Certificates are asked for, and carried, only where some would be believed.
func TestRequest_ClientCertificates(t *testing.T) {
	for auth, want := range map[tls.ClientAuthType]int{tls.NoClientCert: 0, tls.RequestClientCert: 1} {
		got := -1
		r := run(t, func(r *api.Request) *reply.Response { got = len(r.ClientCerts); return ok("{}") },
			func(o *Options) { o.TLS.ClientAuth = auth })
		r.tls.Certificates = r.server.options.TLS.Certificates
		r.raw("GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
		if got != want {
			t.Errorf("%v: %d certificates", auth, got)
		}
	}
}
