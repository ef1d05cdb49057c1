package audit

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
)

// kubeconfig is a file that names a server.
func kubeconfig(t *testing.T, url string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "kubeconfig")
	text := fmt.Sprintf(`{"apiVersion":"v1","kind":"Config","clusters":[{"name":"a","cluster":{"server":%q,"insecure-skip-tls-verify":true}}],"users":[{"name":"u","user":{"token":"secret"}}],"contexts":[{"name":"c","context":{"cluster":"a","user":"u"}}],"current-context":"c"}`, url)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// A server gets lists of all events, again if it failed, before the gateway ends.
func TestAServerGetsListsOfEvents(t *testing.T) {
	var calls, got atomic.Int32
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if calls.Add(1) == 1 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		var l auditv1.EventList
		if err := json.NewDecoder(r.Body).Decode(&l); err != nil || l.Kind != "EventList" || l.APIVersion != "audit.k8s.io/v1" || r.Header.Get("Authorization") != "Bearer secret" {
			t.Errorf("%+v %v", l.TypeMeta, err)
		}
		for _, e := range l.Items {
			if e.AuditID == "sent" && e.Verb == "get" {
				got.Add(1)
			}
		}
	}))
	defer s.Close()
	var c counts
	l, err := Open(Config{Server: &Server{Kubeconfig: kubeconfig(t, s.URL), Backoff: time.Millisecond, Passing: Passing{Mode: Batch, BufferSize: 100, MaxSize: 30, MaxWait: time.Hour, Throttle: true, QPS: 1000, Burst: 10}}, Metrics: &c})
	if err != nil {
		t.Fatal(err)
	}
	for range 70 {
		l.Audit(record("sent"))
	}
	if err := l.Close(t.Context()); err != nil || got.Load() != 70 || calls.Load() != 4 || len(c.lost) != 0 {
		t.Errorf("%v, %d got in %d calls, %+v", err, got.Load(), calls.Load(), c.lost)
	}
}

// A dead server holds nobody up, not even the end; what it did not get is counted.
func TestADeadServerHoldsNobodyUp(t *testing.T) {
	s := httptest.NewServer(http.NotFoundHandler())
	s.Close()
	var c counts
	l, err := Open(Config{Server: &Server{Kubeconfig: kubeconfig(t, s.URL), Backoff: time.Hour, Passing: Passing{Mode: Batch, BufferSize: 10, MaxSize: 1}}, Metrics: &c})
	if err != nil {
		t.Fatal(err)
	}
	for range 100 {
		l.Audit(record("x"))
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := l.Close(ctx); err != nil {
		t.Error(err)
	}
	if c.lost["buffered"]+c.lost["webhook"] != 100 || c.lost["webhook"] == 0 || l.Check(t.Context()) == nil {
		t.Errorf("%+v", c.lost)
	}
}

func TestWrongKubeconfigsAreRefused(t *testing.T) {
	var c counts
	for path, want := range map[string]string{"none": "--audit-webhook-config-file", kubeconfig(t, "ftp://x"): "cluster.server"} {
		if _, err := Open(Config{Server: &Server{Kubeconfig: path}, Metrics: &c}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// Somebody else is sent no events, and shown no credentials, as the server says so; and
// events are not had by a server that only says where to look.
func TestAServerThatRedirectsIsNotFollowed(t *testing.T) {
	var others atomic.Int32
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { others.Add(1) }))
	defer other.Close()
	for _, code := range []int{http.StatusFound, http.StatusTemporaryRedirect} {
		s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, other.URL, code) }))
		var c counts
		l, err := Open(Config{Server: &Server{Kubeconfig: kubeconfig(t, s.URL), Backoff: time.Millisecond, Passing: Passing{Mode: Batch, BufferSize: 10, MaxSize: 1}}, Metrics: &c})
		if err != nil {
			t.Fatal(err)
		}
		l.Audit(record("x"))
		if err := l.Close(t.Context()); err != nil || c.lost["webhook"] != 1 || l.Check(t.Context()) == nil {
			t.Errorf("%d: %v, %+v", code, err, c.lost)
		}
		s.Close()
	}
	if n := others.Load(); n > 0 {
		t.Errorf("somebody else was asked %d times", n)
	}
}

// hung is a sink that takes so many events, and then waits until it is told to give up.
type hung struct {
	file
	takes int
	asked chan struct{}
}

func (h *hung) send(ctx context.Context, events [][]byte) (int, error) {
	if h.takes--; h.takes >= 0 {
		return len(events), nil
	}
	close(h.asked)
	<-ctx.Done()
	return 0, ctx.Err()
}
func (*hung) close() error { return nil }

// The end waits for requests that wait for a server no longer than it may.
func TestAHungServerThatRequestsWaitForHoldsNoEndUp(t *testing.T) {
	for mode, goesOn := range map[string]bool{Blocking: true, Strict: false} {
		var c counts
		h := &hung{asked: make(chan struct{})}
		p := newPipe(h, Passing{Mode: mode}, Config{Metrics: &c})
		defer p.stop()
		took := make(chan bool, 1)
		go func() { took <- p.take(&event{record: record("x")}) }()
		<-h.asked
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		closed := make(chan error, 1)
		go func() { closed <- p.close(ctx) }()
		select {
		case err := <-closed:
			if on := <-took; err != nil || on != goesOn || c.lost["log"] != 1 {
				t.Errorf("%s: %v, the request goes on: %t, %+v", mode, err, on, c.lost)
			}
		case <-time.After(time.Minute): // nothing comes near it
			t.Fatalf("%s: the end waits for the server", mode)
		}
	}
}

// So it is where the end itself has something to tell.
func TestAHungServerDoesNotHoldUpWhatTheEndTells(t *testing.T) {
	var c counts
	l := &Trail{c: Config{Metrics: &c}}
	l.sinks = []*pipe{newPipe(&hung{takes: 1, asked: make(chan struct{})}, Passing{Mode: Blocking}, l.c)}
	defer l.sinks[0].stop()
	l.unknown.most, l.unknown.tell = 1, l.tellLeftOut
	for range 2 {
		a := record("x")
		a.User = nil
		l.Audit(a)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	closed := make(chan error, 1)
	go func() { closed <- l.Close(ctx) }()
	select {
	case err := <-closed:
		if err != nil || c.left != 1 || c.events != 2 || c.lost["log"] != 1 {
			t.Errorf("%v, %+v", err, &c)
		}
	case <-time.After(time.Minute): // nothing comes near it
		t.Fatal("the end waits for the server")
	}
}
