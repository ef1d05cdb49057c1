package aggregator

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/gateway/api"
	"github.com/wasmgate/wasmgate/gateway/authn"
)

// lasting is a request for what has no end of its own.
func lasting(verb, subresource string) *api.Call {
	return &api.Call{Request: &api.Request{Method: "GET", Path: "/apis/g/v1/things/a", Head: head{}}, User: &authn.User{Name: "bob"},
		Info: api.Info{Verb: verb, Resource: true, Subresource: subresource}}
}

// A server that breaks off in the middle is not taken for one that has said everything.
func TestStreamsThatBreakOff(t *testing.T) {
	for answer, broke := range map[string]bool{
		"Content-Length: 4\r\n\r\nsome":                            false,
		"Content-Length: 100\r\n\r\nsome":                          true,
		"Transfer-Encoding: chunked\r\n\r\n4\r\nsome\r\n0\r\n\r\n": false,
		"Transfer-Encoding: chunked\r\n\r\n4\r\nsome\r\n":          true,
		"Transfer-Encoding: chunked\r\n\r\n4\r\nsome\r\nnonsense":  true,
		"\r\nsome": false, // which has no other end
	} {
		for _, c := range []*api.Call{lasting("get", "log"), lasting("watch", "")} {
			resp := saying(t, "HTTP/1.1 200 OK\r\n"+answer).Serve(t.Context(), c)
			var got strings.Builder
			resp.Stream(t.Context(), &sink{out: &got})
			if got.String() != "some" || resp.Broke() != broke {
				t.Errorf("%q: %q, broke off: %t", answer, got.String(), resp.Broke())
			}
		}
	}
	for _, broke := range []bool{false, true} { // over HTTP/2
		b := behind(t, func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, "some")
			w.(http.Flusher).Flush()
			if broke {
				panic(http.ErrAbortHandler)
			}
		})
		resp := b.Serve(t.Context(), lasting("get", "log"))
		var got strings.Builder
		resp.Stream(t.Context(), &sink{out: &got})
		if got.String() != "some" || resp.Broke() != broke {
			t.Errorf("%q, broke off: %t, want %t", got.String(), resp.Broke(), broke)
		}
	}
}

// A client that leaves, or a gateway that stops, breaks off what would have been more, but
// for a watch, whose client goes on elsewhere.
func TestStreamsThatAreEnded(t *testing.T) {
	b := behind(t, func(w http.ResponseWriter, r *http.Request) {
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})
	for verb, broke := range map[string]bool{"watch": false, "get": true} {
		resp := b.Serve(t.Context(), lasting(verb, "log"))
		ctx, end := context.WithCancel(t.Context())
		end()
		resp.Stream(ctx, &sink{out: io.Discard})
		if resp.Broke() != broke {
			t.Errorf("%s: broke off: %t", verb, resp.Broke())
		}
	}
}
