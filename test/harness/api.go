package harness

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// requestTimeout bounds one request, so that a server that never answers fails
// a test instead of hanging it.
const requestTimeout = 60 * time.Second

// API is a plain HTTP client for one test. A request that gets no reply at all
// fails the test.
type API struct {
	t testing.TB
	s *Server
	// Token replaces the server's administrator token; "-" sends none.
	Token string
	// Patience is how long a request may take; zero means a minute.
	Patience time.Duration
}

// API returns a plain HTTP client for a test.
func (s *Server) API(t testing.TB) *API { return &API{t: t, s: s} }

// Reply is an HTTP reply as it came.
type Reply struct {
	t      testing.TB
	what   string
	Code   int
	Header http.Header
	Body   []byte
}

// Do sends a request. body is nil, a string or []byte (sent as they are), or
// anything else, which is sent as JSON. headers are names and values in turn;
// without a Content-Type a body is application/json.
func (a *API) Do(method, path string, body any, headers ...string) *Reply {
	a.t.Helper()
	r, err := a.Try(method, path, body, headers...)
	if err != nil {
		a.t.Fatalf("%s %s: %v", method, path, err)
	}
	return r
}

// Try is Do for requests that may get no reply.
func (a *API) Try(method, path string, body any, headers ...string) (*Reply, error) {
	ctx, cancel := context.WithTimeout(context.Background(), cmp.Or(a.Patience, requestTimeout))
	defer cancel()
	resp, err := a.send(ctx, method, path, body, headers)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	return &Reply{t: a.t, what: method + " " + path, Code: resp.StatusCode, Header: resp.Header, Body: b}, nil
}

// Open sends a GET that lasts until ctx ends and returns the reply, whose body
// the caller reads and closes.
func (a *API) Open(ctx context.Context, path string) (*http.Response, error) {
	return a.send(ctx, http.MethodGet, path, nil, nil)
}

// Leave sends a request, and leaves before there is a reply: when left returns.
func (a *API) Leave(method, path string, body any, left func()) {
	a.t.Helper()
	ctx, cancel := context.WithCancel(a.t.Context())
	go func() {
		defer cancel()
		left()
	}()
	if resp, err := a.send(ctx, method, path, body, nil); err == nil {
		resp.Body.Close()
		a.t.Errorf("%s %s was answered with %s", method, path, resp.Status)
	}
}

func (a *API) send(ctx context.Context, method, path string, body any, headers []string) (*http.Response, error) {
	if len(headers)%2 != 0 {
		return nil, errors.New("headers must be names and values in turn")
	}
	text, err := encode(body)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, method, a.s.URL+path, strings.NewReader(text))
	if err != nil {
		return nil, err
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	switch a.Token {
	case "":
		req.Header.Set("Authorization", "Bearer "+a.s.Token)
	case "-":
	default:
		req.Header.Set("Authorization", "Bearer "+a.Token)
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	return a.s.client.Do(req)
}

func encode(body any) (string, error) {
	switch b := body.(type) {
	case nil:
		return "", nil
	case string:
		return b, nil
	case []byte:
		return string(b), nil
	}
	b, err := json.Marshal(body)
	return string(b), err
}

// Get sends a GET.
func (a *API) Get(path string, headers ...string) *Reply {
	a.t.Helper()
	return a.Do(http.MethodGet, path, nil, headers...)
}

// Post sends a POST.
func (a *API) Post(path string, body any, headers ...string) *Reply {
	a.t.Helper()
	return a.Do(http.MethodPost, path, body, headers...)
}

// Put sends a PUT.
func (a *API) Put(path string, body any, headers ...string) *Reply {
	a.t.Helper()
	return a.Do(http.MethodPut, path, body, headers...)
}

// Merge sends a JSON merge patch.
func (a *API) Merge(path string, body any) *Reply {
	a.t.Helper()
	return a.Do(http.MethodPatch, path, body, "Content-Type", "application/merge-patch+json")
}

// Delete sends a DELETE without a body.
func (a *API) Delete(path string) *Reply {
	a.t.Helper()
	return a.Do(http.MethodDelete, path, nil)
}

// Eventually asks again until ok accepts the reply, and returns that.
func (a *API) Eventually(path string, ok func(*Reply) bool) *Reply {
	a.t.Helper()
	var last *Reply
	Eventually(a.t, "GET "+path, func() bool {
		r, err := a.Try(http.MethodGet, path, nil)
		if err == nil {
			last = r
		}
		return err == nil && ok(r)
	})
	return last
}

// patience is how long what happens by itself may take: a large module is compiled in half
// a minute by two cores that have nothing else to do.
const patience = 4 * time.Minute

// Eventually polls until ok, and fails the test when that takes too long.
func Eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	if !Poll(patience, ok) {
		t.Fatalf("%s: not as expected after %s", what, patience)
	}
}

// Poll tries ok until it is true, which it returns, or time is up.
func Poll(limit time.Duration, ok func() bool) bool {
	deadline := time.Now().Add(limit)
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for !ok() {
		if time.Now().After(deadline) {
			return false
		}
		<-tick.C
	}
	return true
}
