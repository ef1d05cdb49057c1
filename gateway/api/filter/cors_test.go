package filter

import (
	"context"
	"net/http"
	"regexp"
	"slices"
	"testing"

	"github.com/wasmgate/wasmgate/gateway/api/reply"
)

// head has headers.
type head http.Header

func (h head) Header() http.Header { return http.Header(h) }

// Pages of origins that are allowed are let in, and what is asked ahead for them is
// answered; all others are what they were.
func TestCORS(t *testing.T) {
	origins := []*regexp.Regexp{regexp.MustCompile(`^https://a\.example$`), regexp.MustCompile(`//b\.example(:|$)`)}
	for _, c := range []struct {
		method, origin string
		code           int
		allowed        string
	}{
		{"GET", "", 200, ""}, {"GET", "https://a.example", 200, "https://a.example"}, {"GET", "https://a.example.evil", 200, ""},
		{"GET", "http://b.example:80", 200, "http://b.example:80"}, {"OPTIONS", "https://a.example", 204, "https://a.example"}, {"OPTIONS", "https://evil", 200, ""},
	} {
		call := about("list")
		call.Method, call.Head = c.method, head{"Origin": {c.origin}}
		resp, passed := passing(t, cors(origins), call, &reply.Response{Code: 200})
		if resp.Code != c.code || passed != (c.code == 200) {
			t.Errorf("%s from %q: %d, passed: %t", c.method, c.origin, resp.Code, passed)
		}
		at := slices.IndexFunc(resp.Headers, func(h reply.Header) bool { return h.Name == "Access-Control-Allow-Origin" })
		if c.allowed == "" && len(resp.Headers) > 0 || c.allowed != "" && (at < 0 || resp.Headers[at].Value != c.allowed || len(resp.Headers) != 5) {
			t.Errorf("%s from %q: %v", c.method, c.origin, resp.Headers)
		}
	}
	if resp, passed := passing(t, cors(origins), about("list"), &reply.Response{Code: 200}); !passed || resp.Headers != nil {
		t.Errorf("without a head: %v", resp.Headers)
	}
}

// As many connections are closed as are to be, and none of what lasts.
func TestGoaway(t *testing.T) {
	for _, c := range []struct {
		chance, drawn float64
		lasts, closed bool
	}{{0, 0, false, false}, {0.02, 0.019, false, true}, {0.02, 0.02, false, false}, {0.02, 0, true, false}} {
		resp := &reply.Response{Code: 200}
		if c.lasts {
			resp.Stream = func(context.Context, reply.FrameWriter) {}
		}
		resp, passed := passing(t, goaway(c.chance, func() float64 { return c.drawn }), about("list"), resp)
		if got := slices.Equal(resp.Headers, []reply.Header{{Name: "Connection", Value: "close"}}); !passed || got != c.closed {
			t.Errorf("%+v: %v", c, resp.Headers)
		}
	}
}
