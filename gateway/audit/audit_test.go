package audit

import (
	"bytes"
	"encoding/json"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/wasmgate/wasmgate/gateway/api"
	"github.com/wasmgate/wasmgate/gateway/authn"
)

func record(id string) *api.Audit {
	received := time.Date(2026, 11, 22, 10, 26, 49, 987981000, time.UTC)
	return &api.Audit{
		Request:  &api.Request{ID: id, Path: "/api/v1/namespaces/default/endpoints/none", UserAgent: "curl/7.88.1", Remote: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 5}},
		Info:     api.Info{Resource: true, Verb: "get", Version: "v1", Namespace: "default", Plural: "endpoints", Name: "none"},
		User:     &authn.User{Name: "admin", UID: "admin", Groups: []string{"system:masters", "system:authenticated"}},
		Received: received, Answered: received.Add(2683 * time.Microsecond), Code: 404,
		Failure:     []byte(`{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"endpoints \"none\" not found","reason":"NotFound","details":{"name":"none","kind":"endpoints"},"code":404}`),
		Annotations: map[string]string{"authorization.k8s.io/decision": "allow", "authorization.k8s.io/reason": "", "k8s.io/deprecated": "true"},
	}
}

// A line is what kube-apiserver 1.36.3 wrote of the same request.
func TestLinesAreKubeAPIServers_VER06(t *testing.T) {
	const want = `{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"Metadata","auditID":"e11e3bd3-ad9d-47b0-8a97-428e09bfedbc","stage":"ResponseComplete","requestURI":"/api/v1/namespaces/default/endpoints/none","verb":"get","user":{"username":"admin","uid":"admin","groups":["system:masters","system:authenticated"]},"sourceIPs":["127.0.0.1"],"userAgent":"curl/7.88.1","objectRef":{"resource":"endpoints","namespace":"default","name":"none","apiVersion":"v1"},"responseStatus":{"metadata":{},"status":"Failure","message":"endpoints \"none\" not found","reason":"NotFound","details":{"name":"none","kind":"endpoints"},"code":404},"requestReceivedTimestamp":"2026-11-22T10:26:49.987981Z","stageTimestamp":"2026-11-22T10:26:49.990664Z","annotations":{"authorization.k8s.io/decision":"allow","authorization.k8s.io/reason":"","k8s.io/deprecated":"true"}}`
	got, err := json.Marshal(event(record("e11e3bd3-ad9d-47b0-8a97-428e09bfedbc")))
	if err != nil || string(got) != want {
		t.Errorf("%v\n%s\nwant\n%s", err, got, want)
	}
}

// What else a request may have, or lack.
func TestEvent(t *testing.T) {
	a := record("id")
	a.Request.Query, a.Request.UserAgent, a.Request.Remote = "watch=1&a=b", strings.Repeat("x", maxUserAgent+1), nil
	a.User, a.Impersonated = nil, &authn.User{Name: "ann", Extra: map[string][]string{"k": {"v"}}}
	a.Info, a.Begun, a.Code, a.Failure = api.Info{Verb: "get", Path: "/"}, true, 200, []byte("<html>")
	e := event(a)
	if e.RequestURI != a.Request.Path+"?watch=1&a=b" || e.UserAgent != a.Request.UserAgent[:maxUserAgent]+"...TRUNCATED" || e.SourceIPs != nil ||
		e.User.Username != "" || e.ImpersonatedUser.Username != "ann" || e.ImpersonatedUser.Extra["k"][0] != "v" ||
		e.ObjectRef != nil || e.Stage != "ResponseStarted" || e.ResponseStatus.Code != 200 || e.ResponseStatus.Message != "" {
		t.Errorf("%+v", e)
	}
}

// counts are of what was written, and what was lost.
type counts struct{ written, lost atomic.Int64 }

func (c *counts) count(written bool) {
	if written {
		c.written.Add(1)
	} else {
		c.lost.Add(1)
	}
}

func TestWhatIsKeptIsWrittenBeforeTheEnd(t *testing.T) {
	var c counts
	path := filepath.Join(t.TempDir(), "audit.log")
	for _, id := range []string{"one", "two"} { // the second adds to the first's
		l, err := Open(Config{Path: path, MaxMegabytes: 1, Counted: c.count})
		if err != nil {
			t.Fatal(err)
		}
		for range 50 {
			l.Audit(record(id))
		}
		if err := errors.Join(l.Close(), l.Close()); err != nil {
			t.Error(err)
		}
		l.Audit(record("late"))
	}
	text, err := os.ReadFile(path)
	if err != nil || bytes.Count(text, []byte("\n")) != 100 || !bytes.Contains(text, []byte(`"two"`)) || bytes.Contains(text, []byte("late")) || c.written.Load() != 100 || c.lost.Load() != 0 {
		t.Errorf("%d lines, %d written, %d lost, %v", bytes.Count(text, []byte("\n")), c.written.Load(), c.lost.Load(), err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file is for %v, %v", info.Mode(), err)
	}
	if _, err := Open(Config{Path: t.TempDir()}); err == nil {
		t.Error("a folder is a file")
	}
}

// slow is a file that takes nothing until it is told to.
type slow struct {
	release chan struct{}
	err     error
}

func (s slow) Write(p []byte) (int, error) { <-s.release; return len(p), s.err }
func (s slow) Close() error                { return nil }

// Nobody waits for the file: what does not fit into memory meanwhile is lost,
// and counted, as is what the file does not take.
func TestWhatCannotBeWrittenIsLost(t *testing.T) {
	for name, failure := range map[string]error{"slow": nil, "full": errors.New("no space")} {
		var c counts
		out := slow{make(chan struct{}), failure}
		l := &Log{c: Config{Counted: c.count, Log: zerolog.Nop()}, events: make(chan *api.Audit, 10), done: make(chan struct{}), out: out}
		for range 25 {
			l.Audit(record("x"))
		}
		if c.lost.Load() != 15 {
			t.Errorf("%s: %d lost", name, c.lost.Load())
		}
		go l.write()
		close(out.release)
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		if failed := c.lost.Load() - 15; c.written.Load()+failed != 10 || (failed > 0) != (failure != nil) {
			t.Errorf("%s: %d written, %d lost", name, c.written.Load(), c.lost.Load())
		}
	}
}
