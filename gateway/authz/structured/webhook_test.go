package structured

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/wasmgate/wasmgate/gateway/authn"
	"github.com/wasmgate/wasmgate/gateway/authz"
)

func write(t *testing.T, text string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// nobody is an authorizer that knows nothing.
type nobody struct{}

func (nobody) Authorize(context.Context, authz.Attributes) (bool, string, error) {
	return false, "", nil
}

func (nobody) Rules(*authn.User, string) ([]rbacv1.PolicyRule, error) { return nil, nil }

// A server that does not answer is given up after the time that the file gives it, and
// then the file says what that means.
func TestServersThatDoNotAnswer(t *testing.T) {
	end := make(chan struct{})
	silent := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-end }))
	defer silent.Close()
	defer close(end)
	kubeconfig := write(t, `{"apiVersion":"v1","kind":"Config","clusters":[{"name":"c","cluster":{"server":"`+silent.URL+`"}}],"contexts":[{"name":"c","context":{"cluster":"c"}}],"current-context":"c"}`)
	for policy, want := range map[string]authz.Decision{"Deny": authz.Deny, "NoOpinion": authz.NoOpinion} {
		c, err := New(Config{First: nobody{}, Gateway: "one", Path: write(t, fmt.Sprintf(`{"apiVersion":"apiserver.config.k8s.io/v1","kind":"AuthorizationConfiguration","authorizers":[{"type":"Webhook","name":"silent",
			"webhook":{"timeout":"50ms","authorizedTTL":"1s","unauthorizedTTL":"1s","subjectAccessReviewVersion":"v1","matchConditionSubjectAccessReviewVersion":"v1",
			"failurePolicy":%q,"connectionInfo":{"type":"KubeConfigFile","kubeConfigFile":%q}}}]}`, policy, kubeconfig))})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		decision, _, err := c.Judge(ctx, authz.Attributes{User: &authn.User{Name: "u"}, Verb: "get", Path: "/x"})
		if ctx.Err() != nil || decision != want || err == nil { // it says so in one of two ways, as it happens
			t.Errorf("%s: %v, %v, %v", policy, decision, err, ctx.Err())
		}
	}
}

// Nobody else is asked as a server says so, nor is one read that has no end of what it
// says: both are failures to answer.
func TestServersThatAreHostile(t *testing.T) {
	var others atomic.Int32
	var said atomic.Int64
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { others.Add(1) }))
	defer other.Close()
	for name, h := range map[string]http.HandlerFunc{
		"redirects": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
		},
		"endless": func(w http.ResponseWriter, _ *http.Request) {
			for piece := make([]byte, 64<<10); said.Load() < 64<<20; {
				n, err := w.Write(piece)
				if said.Add(int64(n)); err != nil {
					return
				}
			}
		},
	} {
		s := httptest.NewServer(h)
		kubeconfig := write(t, `{"apiVersion":"v1","kind":"Config","clusters":[{"name":"c","cluster":{"server":"`+s.URL+`"}}],"contexts":[{"name":"c","context":{"cluster":"c"}}],"current-context":"c"}`)
		c, err := New(Config{First: nobody{}, Gateway: "one", Path: write(t, fmt.Sprintf(`{"apiVersion":"apiserver.config.k8s.io/v1","kind":"AuthorizationConfiguration","authorizers":[{"type":"Webhook","name":%q,
			"webhook":{"timeout":"20s","authorizedTTL":"1s","unauthorizedTTL":"1s","subjectAccessReviewVersion":"v1","matchConditionSubjectAccessReviewVersion":"v1",
			"failurePolicy":"Deny","connectionInfo":{"type":"KubeConfigFile","kubeConfigFile":%q}}}]}`, name, kubeconfig))})
		if err != nil {
			t.Fatal(err)
		}
		decision, _, err := c.Judge(t.Context(), authz.Attributes{User: &authn.User{Name: "u"}, Verb: "get", Path: "/x"})
		if decision != authz.Deny || err == nil {
			t.Errorf("%s: %v, %v", name, decision, err)
		}
		s.Close()
	}
	if n := said.Load(); others.Load() > 0 || n == 0 || n > 24<<20 {
		t.Errorf("somebody else was asked %d times, and %d bytes were taken", others.Load(), n)
	}
}

// Who is told that a server did not answer is not told what it is shown.
func TestWhatServersAreShownIsNotTold(t *testing.T) {
	usual := backoff
	backoff.Duration = time.Millisecond // it is tried five times
	defer func() { backoff = usual }()
	s := httptest.NewServer(http.NotFoundHandler())
	s.Close()
	kubeconfig := write(t, `{"apiVersion":"v1","kind":"Config","clusters":[{"name":"c","cluster":{"server":"`+strings.Replace(s.URL, "://", "://secret@", 1)+`"}}],"contexts":[{"name":"c","context":{"cluster":"c"}}],"current-context":"c"}`)
	c, err := New(Config{First: nobody{}, Flags: Modes([]string{"Webhook"}, Webhook{Path: kubeconfig, Version: "v1"})})
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = c.Judge(t.Context(), authz.Attributes{User: &authn.User{Name: "u"}, Verb: "get", Path: "/x"})
	if text := fmt.Sprint(err); strings.Contains(text, "secret") || !strings.Contains(text, strings.Replace(s.URL, "://", "://...@", 1)) {
		t.Error(text)
	}
}
