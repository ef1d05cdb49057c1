package api

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/gateway/api/reply"
	"github.com/wasmgate/wasmgate/gateway/authn"
	"github.com/wasmgate/wasmgate/gateway/authz"
	"github.com/wasmgate/wasmgate/gateway/bounds"
)

// One user has no more requests under way than half of what there may be, and
// hinders neither others nor the probes; administrators always come in.
func TestRequestsUnderWayAreBounded(t *testing.T) {
	inside, release := make(chan struct{}), make(chan struct{})
	w := newWorld(t, within(bounds.New(bounds.Limits{Reading: 4, Changing: 4})), func(c *Setup) {
		c.Reviews = map[schema.GroupResource]Review{
			{Group: "authorization.k8s.io", Resource: "selfsubjectaccessreviews"}: func(context.Context, *authn.User, authn.Notes, map[string]any) error {
				inside <- struct{}{}
				<-release
				return nil
			},
		}
	})
	const review = `{"spec":{"nonResourceAttributes":{"path":"/","verb":"get"}}}`
	ask := func() *answer { return w.do("POST", selfReviews, review, "Authorization: Bearer bob") }
	replies := make(chan *answer, 2)
	for range 2 {
		go func() { replies <- ask() }()
		select {
		case <-inside:
		case <-time.After(patience):
			t.Fatal("no review is under way")
		}
	}
	refused := ask().want(429, "too many requests are under way")
	if s := fmt.Sprint(refused.Headers); !strings.Contains(s, "{Retry-After 1}") {
		t.Errorf("headers %s", s)
	}
	w.do("POST", widgets, a("one", `"size":1`)).want(201, "")
	w.do("GET", widgets+"/one", "").want(200, "")
	close(release)
	for range 2 {
		(<-replies).want(201, "")
	}
	go func() { <-inside }()
	ask().want(201, "")
}

// A watch counts until it has ended, and gives back its place then.
func TestWatchesOfAUserAreBounded(t *testing.T) {
	w := newWorld(t, within(bounds.New(bounds.Limits{Watches: 2})))
	w.asked.Authorizer = trusting{}
	const bob = "Authorization: Bearer bob"
	ctx, leave := context.WithCancel(t.Context())
	var ended []chan struct{}
	for range 2 {
		resp := w.Serve(request("GET", widgets+"?watch=1", "", bob))
		if resp.Stream == nil {
			t.Fatalf("%d", resp.Code)
		}
		done := make(chan struct{})
		ended = append(ended, done)
		go func() {
			defer close(done)
			resp.Stream(ctx, nowhere{})
		}()
	}
	w.do("GET", widgets+"?watch=1", "", bob).want(429, "--max-watches-per-user")
	w.do("GET", widgets, "", bob).want(200, "")
	var masters []*reply.Response // may have any number
	for range 3 {
		resp := w.Serve(request("GET", widgets+"?watch=1", ""))
		if resp.Stream == nil {
			t.Fatalf("%d for a master", resp.Code)
		}
		masters = append(masters, resp)
	}
	leave()
	for _, resp := range masters {
		resp.Stream(ctx, nowhere{})
	}
	for _, done := range ended {
		<-done
	}
	again := w.Serve(request("GET", widgets+"?watch=1", "", bob))
	if again.Stream == nil {
		t.Fatalf("%d after two have left", again.Code)
	}
	again.Stream(ctx, nowhere{})
	w.do("GET", widgets+"?watch=1&resourceVersion=nonsense", "").want(400, "")
}

// trusting lets everybody do everything.
type trusting struct{}

func (trusting) Authorize(context.Context, authz.Attributes) (bool, string, error) {
	return true, "", nil
}

func (f *frames) Frame(head, body []byte, tail string) {
	f.buf.WriteString(string(head) + string(body) + tail)
}
func (f *frames) Hold(func() bool) {}

// nowhere takes what a stream sends.
type nowhere struct{}

func (nowhere) Write(p []byte) (int, error) { return len(p), nil }
func (nowhere) Frame(_, _ []byte, _ string) {}
func (nowhere) Hold(func() bool)            {}
func (nowhere) Flush() error                { return nil }
