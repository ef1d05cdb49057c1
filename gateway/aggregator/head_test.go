package aggregator

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"reflect"
	"testing"

	"github.com/wasmgate/wasmgate/gateway/api"
	"github.com/wasmgate/wasmgate/gateway/authn"
)

// asked is a request that bob sends for a path.
func asked(path string) *api.Call {
	return &api.Call{Request: &api.Request{Method: "GET", Path: path, Head: head{}}, User: &authn.User{Name: "bob"}}
}

// saying is who passes requests on to a server that answers each with a text, and closes.
func saying(t *testing.T, text string) *server {
	t.Helper()
	b := behind(t, nil)
	b.transport.Protocols = new(http.Protocols)
	b.transport.Protocols.SetHTTP1(true)
	b.transport.DialTLSContext = func(context.Context, string, string) (net.Conn, error) {
		here, there := net.Pipe()
		go func() {
			defer there.Close()
			if _, err := http.ReadRequest(bufio.NewReader(there)); err == nil {
				_, _ = io.WriteString(there, text)
			}
		}()
		return here, nil
	}
	return b
}

// Headers that servers believe are this gateway's to set, however they are called.
func TestNobodyElseSaysWhoAsks(t *testing.T) {
	s := New(Config{Believed: Believed{Names: []string{"X-Custom-User", "x-custom-group"}, Prefixes: []string{"X-Custom-Extra-"}}})
	b := &server{of: s, name: "v1.g", available: true}
	c := asked("/apis/g/v1/things")
	c.Head = head{"X-Custom-User": {"root"}, "X-Custom-Group": {"system:masters"}, "X-Custom-Extra-Scope": {"all"}, "X-Custom": {"stays"}}
	r := b.request(t.Context(), c, c.Head.Header(), "example:443")
	for _, name := range []string{"X-Custom-User", "X-Custom-Group", "X-Custom-Extra-Scope"} {
		if got := r.Header.Values(name); got != nil {
			t.Errorf("%s: %q is passed on", name, got)
		}
	}
	if r.Header.Get("X-Custom") != "stays" {
		t.Errorf("%v", r.Header)
	}
}

// What would be another request behind this server is not passed on: a path that leads
// elsewhere, and a user who would be somebody else there.
func TestWhatWouldBeAnotherRequestIsRefused(t *testing.T) {
	b := behind(t, func(http.ResponseWriter, *http.Request) {})
	user := func(u authn.User) *api.Call {
		c := asked("/apis/g/v1/things")
		c.User = &u
		return c
	}
	undecoded := asked("/apis/g/v1/things/a%2Fstatus")
	undecoded.Request.Undecoded = true
	for name, test := range map[string]struct {
		call *api.Call
		code int
	}{
		"a slash":       {undecoded, 400},
		"an escape":     {asked("/apis/g/v1/things/a%2Fstatus"), 200}, // that was sent as %252F
		"dots":          {asked("/apis/g/v1/namespaces/a/things/../../b/things"), 400},
		"a dot at last": {asked("/apis/g/v1/namespaces/a/."), 400},
		"more dots":     {asked("/apis/g/v1/things/..."), 200},
		"name":          {user(authn.User{Name: "root "}), 403},
		"uid":           {user(authn.User{Name: "bob", UID: "\t1"}), 403},
		"group":         {user(authn.User{Name: "bob", Groups: []string{"a", " system:masters"}}), 403},
		"extra":         {user(authn.User{Name: "bob", Extra: map[string][]string{"a": {"b\n"}}}), 403},
		"spaces inside": {user(authn.User{Name: "b o b", Groups: []string{"é", ""}}), 200},
	} {
		resp := b.Serve(t.Context(), test.call)
		if resp.Code != test.code {
			t.Errorf("%s: %d %s", name, resp.Code, resp.Body)
		}
		if resp.Reader != nil {
			_, _ = io.ReadAll(resp.Reader)
		}
	}
}

// A client that followed a redirect would show another server what it shows this one.
func TestRedirectsAreNotPassedOn(t *testing.T) {
	for text, want := range map[string]int{
		"301 Moved\r\nLocation: https://example.com/": 502, "307 Moved\r\nLocation: //example.com": 502,
		"304 Not Modified\r\nEtag: a": 304, "300 Choices": 300, "201 Created\r\nLocation: /a": 201,
		"042 Odd": 503, "000 Odd": 503, "999 Odd": 999,
	} {
		resp := saying(t, "HTTP/1.1 "+text+"\r\nContent-Length: 0\r\n\r\n").Serve(t.Context(), asked("/apis/g/v1/things"))
		if resp.Code != want {
			t.Errorf("%q: %d", text, resp.Code)
		}
		for _, h := range resp.Headers {
			if h.Name == "Location" && want == 502 {
				t.Errorf("%q: %v", text, h)
			}
		}
	}
}

// Headers of replies stay those that they are: cookies are not joined.
func TestHeadersOfRepliesStayApart(t *testing.T) {
	const text = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nSet-Cookie: a=b, c\r\nSet-Cookie: d=e\r\nVary: a\r\nVary: b\r\n\r\n"
	resp := saying(t, text).Serve(t.Context(), asked("/apis/g/v1/things"))
	got := map[string][]string{}
	for _, h := range resp.Headers {
		got[h.Name] = append(got[h.Name], h.Value)
	}
	want := map[string][]string{"Set-Cookie": {"a=b, c", "d=e"}, "Vary": {"a, b"}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%q", got)
	}
}

// The reply to a HEAD has the length that the server says, or none, and no body that
// anybody waits for.
func TestRepliesToAHeadSayTheLength(t *testing.T) {
	for text, want := range map[string]int{"Content-Length: 5": 5, "Content-Length: 0": 0, "X: y": -1, "Transfer-Encoding: chunked": -1} {
		for _, subresource := range []string{"", "log"} {
			c := asked("/apis/g/v1/things/a")
			c.Method, c.Info = "HEAD", api.Info{Verb: "get", Resource: true, Subresource: subresource}
			resp := saying(t, "HTTP/1.1 200 OK\r\n"+text+"\r\n\r\n").Serve(t.Context(), c)
			got := -1
			if resp.Write != nil {
				got = resp.Length
			}
			if got != want || resp.Code != 200 || resp.Reader != nil || resp.Stream != nil {
				t.Errorf("%s: length %d, %+v", text, got, resp)
			}
		}
	}
}

// A conversation and what is followed last, as a watch does; the rest has a time.
func TestWhatIsFollowedLasts(t *testing.T) {
	b := behind(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "line\n") })
	for subresource, lasts := range map[string]bool{"log": true, "proxy": true, "scale": false, "": false} {
		c := asked("/apis/g/v1/namespaces/a/things/b/" + subresource)
		c.Info = api.Info{Verb: "get", Resource: true}
		c.Info.Subresource = subresource
		resp := b.Serve(t.Context(), c)
		if (resp.Stream != nil) != lasts || (resp.Reader != nil) == lasts {
			t.Errorf("%q: %+v", subresource, resp)
		}
		if lasts {
			resp.Stream(t.Context(), &sink{out: io.Discard})
		} else {
			_ = resp.Reader.(*passed).Close()
		}
	}
}

// Whether a server is there is not a matter of how much it has to say.
func TestWhoIsAskedWhetherItIsThereIsNotListenedTo(t *testing.T) {
	gone := make(chan struct{})
	b := behind(t, func(w http.ResponseWriter, r *http.Request) {
		defer close(gone)
		for r.Context().Err() == nil {
			_, _ = w.Write(make([]byte, 32<<10))
		}
	})
	if err := b.answers(t.Context(), "/apis/g/v1"); err != nil {
		t.Error(err)
	}
	<-gone
}

// CONNECT names no path over HTTP/2: the server would hear of another request than the one
// that was allowed. TRACE is passed on, without what was meant for this server.
func TestConnectIsNotPassedOn(t *testing.T) {
	heard := make(chan string, 2)
	b := behind(t, func(_ http.ResponseWriter, r *http.Request) { heard <- r.Method + " " + r.URL.Path })
	for method, want := range map[string]int{"CONNECT": http.StatusMethodNotAllowed, "TRACE": http.StatusOK} {
		c := asked("/apis/g/v1/things")
		c.Method = method
		resp := b.Serve(t.Context(), c)
		if resp.Reader != nil {
			_, _ = io.Copy(io.Discard, resp.Reader)
		}
		if resp.Code != want {
			t.Errorf("%s: %d %s", method, resp.Code, resp.Body)
		}
	}
	if got := <-heard; got != "TRACE /apis/g/v1/things" || len(heard) > 0 {
		t.Errorf("%q, and %d more", got, len(heard))
	}
}
