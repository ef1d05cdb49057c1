package transport

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/valyala/fasthttp"
)

// Of any head that is accepted here and by another server, both think the same:
// where the body ends, what is asked for, and who asks.
func FuzzHead(f *testing.F) {
	for _, head := range []string{
		clientHead,
		"POST /a%20b?c=d HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nImpersonate-User: bob\r\nimpersonate-group: a\r\nImpersonate-Group: b\r\n\r\n",
		"PUT / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nImpersonate-Extra-a%2fb: c\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\nConnection: keep-alive, UPGRADE, x\r\n\r\n",
		"POST / HTTP/1.0\r\nContent-Length: 0\r\n\r\n",
		"POST / HTTP/1.1\r\nHost: h\r\nContent-Type: a\r\nContent-Length: 0\r\nUser-Agent: b\r\ncontent-type:\r\nuser-agent: c\r\n\r\n",
	} {
		f.Add([]byte(head))
	}
	s := &Server{options: Options{TLS: &tls.Config{}}}
	f.Fuzz(func(t *testing.T, raw []byte) {
		var ctx fasthttp.RequestCtx
		h := &ctx.Request.Header
		if h.Read(bufio.NewReaderSize(bytes.NewReader(raw), readBuffer)) != nil || look(h).wrong != "" {
			return
		}
		got := s.request(&ctx)
		if strings.Count(got.Path, "/") != bytes.Count(rawPath(h), []byte("/")) {
			t.Errorf("the path %q has other segments than %q", got.Path, rawPath(h))
		}
		as := impersonation(h)
		if as != nil && !look(h).impersonates {
			t.Errorf("an identity that was overlooked: %+v", as)
		}
		want, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(raw)))
		if err != nil {
			return
		}
		length := want.ContentLength
		if slices.Equal(want.TransferEncoding, []string{"chunked"}) {
			length = chunked
		}
		ours := int64(h.ContentLength())
		if ours == noBody {
			ours = 0
		}
		if ours != length {
			t.Errorf("the body has length %d here and %d elsewhere", ours, length)
		}
		if got.Method != want.Method || got.Authorization != want.Header.Get("Authorization") {
			t.Errorf("%s %q here, %s %q elsewhere", got.Method, got.Authorization, want.Method, want.Header.Get("Authorization"))
		}
		if theirs := want.Header.Get("Content-Type"); got.ContentType != theirs || got.UserAgent != want.UserAgent() {
			t.Errorf("%q %q here, %q %q elsewhere", got.ContentType, got.UserAgent, theirs, want.UserAgent())
		}
		if want.Close && !look(h).closes && !h.ConnectionClose() {
			t.Errorf("the connection goes on here, and elsewhere it ends: %q", want.Header["Connection"])
		}
		if as == nil {
			return
		}
		if as.User != first(want.Header["Impersonate-User"]) || as.UID != first(want.Header["Impersonate-Uid"]) || !reflect.DeepEqual(as.Groups, want.Header["Impersonate-Group"]) {
			t.Errorf("%+v here, %v elsewhere", as, want.Header)
		}
	})
}

// first is the first value that says anything.
func first(values []string) string {
	for _, v := range values {
		if v != "" {
			return v
		}
	}
	return ""
}

// A decoded path has the segments of the one that was sent.
func FuzzPath(f *testing.F) {
	for _, p := range []string{"/api/v1/namespaces/a%20b", "/a%2Fb", "/%zz", "/%", "/%2e%2e/a", "//", "/%ff%00"} {
		f.Add(p)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		if raw == "" { // there is no such request line
			return
		}
		var h fasthttp.RequestHeader
		h.SetRequestURI(raw)
		got, _ := path(&h)
		sent, _, _ := strings.Cut(raw, "?")
		if got == sent {
			return
		}
		decoded, err := url.PathUnescape(sent)
		if err != nil || got != decoded || strings.Count(got, "/") != strings.Count(sent, "/") {
			t.Errorf("%q became %q (%v)", sent, got, err)
		}
	})
}
