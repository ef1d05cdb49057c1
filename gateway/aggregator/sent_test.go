package aggregator

import (
	"io"
	"net/http"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/wasmgate/wasmgate/gateway/api"
	"github.com/wasmgate/wasmgate/gateway/authn"
)

// coming is a request whose body comes as it comes.
func coming(body io.Reader, length int64) *api.Call {
	return &api.Call{Request: &api.Request{Method: "POST", Path: "/apis/g/v1/things", Head: head{}}, User: &authn.User{Name: "bob"}, Coming: io.NopCloser(body), Length: length}
}

// broken is a body that its client did not send to its end.
type broken struct{}

func (broken) Read([]byte) (int, error) {
	return 0, apierrors.NewRequestEntityTooLargeError("limit is 1")
}

// A body reaches the server while it comes, a refusal comes back before the body is sent,
// and what is wrong with a body is told to its client.
func TestBodiesAreSentOnAsTheyCome(t *testing.T) {
	b := behind(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Refuse") != "" {
			http.Error(w, "no more", http.StatusForbidden)
			return
		}
		first := make([]byte, 5)
		_, _ = io.ReadFull(r.Body, first)
		_, _ = w.Write(first)
		w.(http.Flusher).Flush()
		_, _ = io.Copy(w, r.Body)
	})
	from, to := io.Pipe()
	go func() { _, _ = io.WriteString(to, "first") }()
	resp := b.Serve(t.Context(), coming(from, -1))
	go func() {
		_, _ = io.WriteString(to, " second")
		_ = to.Close()
	}()
	if got, err := io.ReadAll(resp.Reader); err != nil || string(got) != "first second" || resp.Code != 200 {
		t.Errorf("%d %q %v", resp.Code, got, err)
	}
	endless, kept := io.Pipe()
	defer kept.Close()
	c := coming(endless, 1<<20)
	c.Head = head{"Refuse": {"yes"}}
	resp = b.Serve(t.Context(), c)
	if got, err := io.ReadAll(resp.Reader); err != nil || string(got) != "no more\n" || resp.Code != 403 {
		t.Errorf("%d %q %v", resp.Code, got, err)
	}
	if resp = b.Serve(t.Context(), coming(broken{}, -1)); resp.Code != 413 || !strings.Contains(string(resp.Body), "limit is 1") {
		t.Errorf("%d %s", resp.Code, resp.Body)
	}
}
