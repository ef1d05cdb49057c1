package transport

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/gateway/api"
	"github.com/wasmgate/wasmgate/gateway/api/reply"
)

// held is a reply that holds something until it is closed.
type held struct {
	io.Reader
	ends chan<- string
}

func (h held) Close() error {
	h.ends <- "closed"
	return errors.New("whatever it says")
}

// panicking is a reply that fails without an error.
type panicking struct{}

func (panicking) Read([]byte) (int, error) { panic("in Read") }

// What a reply holds is let go of before it counts as sent, whatever ended it: else its
// source would go on for nobody, while others have its place.
func TestReply_IsClosedBeforeItIsDone(t *testing.T) {
	ends := make(chan string, 10)
	from := map[string]io.Reader{
		"/whole": strings.NewReader("whole"), "/endless": endless{}, "/panic": panicking{},
		"/error": io.MultiReader(strings.NewReader("some"), &read{then: func() error { return io.ErrNoProgress }}),
	}
	r := run(t, func(r *api.Request) *reply.Response {
		return &reply.Response{Code: 200, ContentType: "text/plain", Reader: held{from[r.Path], ends}, Done: func() { ends <- "done" }}
	})
	for _, request := range []string{
		"GET /whole HTTP/1.1", "GET /endless HTTP/1.1", "GET /panic HTTP/1.1", "GET /error HTTP/1.1",
		"GET /whole HTTP/1.0", "GET /endless HTTP/1.0", "GET /panic HTTP/1.0", "GET /error HTTP/1.0",
		"HEAD /whole HTTP/1.1", "HEAD /panic HTTP/1.1", "HEAD /error HTTP/1.1",
	} {
		c := r.dial()
		if _, err := io.WriteString(c, request+"\r\nHost: h\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(c, make([]byte, 20)); err != nil && !strings.Contains(request, "/panic") {
			t.Fatal(request, err)
		}
		_ = c.Close() // in the middle of what has no end
		for _, want := range []string{"closed", "done"} {
			ended := make(chan struct{})
			var got string
			go func() {
				got = <-ends
				close(ended)
			}()
			if within(t, request+": "+want, ended); got != want {
				t.Errorf("%s: %s, want %s", request, got, want)
			}
		}
	}
	if len(ends) > 0 {
		t.Errorf("%s once more", <-ends)
	}
}
