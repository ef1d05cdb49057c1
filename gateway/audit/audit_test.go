package audit

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wasmgate/wasmgate/gateway/api"
	"github.com/wasmgate/wasmgate/gateway/authn"
)

func record(id string) *api.Audit {
	received := time.Date(2026, 11, 22, 10, 26, 49, 987981000, time.UTC)
	return &api.Audit{
		Keep: api.Keep{Level: api.KeepMetadata}, Stage: api.Complete,
		Request:  &api.Request{ID: id, Path: "/api/v1/namespaces/default/endpoints/none", UserAgent: "curl/7.88.1", Remote: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 5}},
		Info:     api.Info{Resource: true, Verb: "get", Version: "v1", Namespace: "default", Plural: "endpoints", Name: "none"},
		User:     &authn.User{Name: "admin", UID: "admin", Groups: []string{"system:masters", "system:authenticated"}},
		Received: received, At: received.Add(2683 * time.Microsecond), Code: 404,
		Status:      []byte(`{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"endpoints \"none\" not found","reason":"NotFound","details":{"name":"none","kind":"endpoints"},"code":404}`),
		Annotations: map[string]string{"authorization.k8s.io/decision": "allow", "authorization.k8s.io/reason": "", "k8s.io/deprecated": "true"},
	}
}

// A line is what kube-apiserver 1.36.3 wrote of the same request.
func TestLinesAreKubeAPIServers_VER06(t *testing.T) {
	const want = `{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"Metadata","auditID":"e11e3bd3-ad9d-47b0-8a97-428e09bfedbc","stage":"ResponseComplete","requestURI":"/api/v1/namespaces/default/endpoints/none","verb":"get","user":{"username":"admin","uid":"admin","groups":["system:masters","system:authenticated"]},"sourceIPs":["127.0.0.1"],"userAgent":"curl/7.88.1","objectRef":{"resource":"endpoints","namespace":"default","name":"none","apiVersion":"v1"},"responseStatus":{"metadata":{},"status":"Failure","message":"endpoints \"none\" not found","reason":"NotFound","details":{"name":"none","kind":"endpoints"},"code":404},"requestReceivedTimestamp":"2026-11-22T10:26:49.987981Z","stageTimestamp":"2026-11-22T10:26:49.990664Z","annotations":{"authorization.k8s.io/decision":"allow","authorization.k8s.io/reason":"","k8s.io/deprecated":"true"}}`
	got, err := (&event{record: record("e11e3bd3-ad9d-47b0-8a97-428e09bfedbc")}).json()
	if err != nil || string(got) != want {
		t.Errorf("%v\n%s\nwant\n%s", err, got, want)
	}
}

// What else a request may have, or lack.
func TestEvent(t *testing.T) {
	a := record("id")
	a.Request.Query, a.Request.UserAgent, a.Request.Remote = "watch=1&a=b", strings.Repeat("x", maxUserAgent+1), nil
	a.User, a.Impersonated = nil, &authn.User{Name: "ann", Extra: map[string][]string{"k": {"v"}}}
	a.Info, a.Stage, a.Code, a.Status = api.Info{Verb: "get", Path: "/"}, api.Started, 200, []byte("<html>")
	a.Constraint = "impersonate:user-info"
	e := eventOf(a)
	if e.AuthenticationMetadata == nil || e.AuthenticationMetadata.ImpersonationConstraint != "impersonate:user-info" || eventOf(record("id")).AuthenticationMetadata != nil {
		t.Errorf("%+v", e.AuthenticationMetadata)
	}
	if e.RequestURI != a.Request.Path+"?watch=1&a=b" || e.UserAgent != a.Request.UserAgent[:maxUserAgent]+"...TRUNCATED" || e.SourceIPs != nil ||
		e.User.Username != "" || e.ImpersonatedUser.Username != "ann" || e.ImpersonatedUser.Extra["k"][0] != "v" ||
		e.ObjectRef != nil || e.Stage != "ResponseStarted" || e.ResponseStatus.Code != 200 || e.ResponseStatus.Message != "" {
		t.Errorf("%+v", e)
	}
}

// The object that was sent says what the path does not, at every level; its body is there
// from Request on, and without managedFields when that is asked for.
func TestWhatWasSentSaysWhatItIsAbout(t *testing.T) {
	const sent = `{"metadata":{"name":"made","uid":"u","resourceVersion":"7","managedFields":[{"manager":"m"}],"namespace":"other"},"a":"<b>"}`
	a := record("id")
	a.Info.Verb, a.Info.Name, a.Sent, a.Replied = "create", "", []byte(sent), []byte(`{"items":[`+sent+`],"rows":[{"object":`+sent+`}]}`)
	e := eventOf(a)
	if r := e.ObjectRef; r.Name != "made" || r.UID != "u" || r.ResourceVersion != "7" || r.Namespace != "default" || e.RequestObject != nil || e.ResponseObject != nil {
		t.Errorf("%+v", e)
	}
	a.Level, a.Unmanaged = api.KeepRequest, true
	if e = eventOf(a); string(e.RequestObject.Raw) != strings.Replace(sent, `"managedFields":[{"manager":"m"}],`, "", 1) || e.ResponseObject != nil {
		t.Errorf("%s", e.RequestObject.Raw)
	}
	a.Level = api.KeepResponse
	if e = eventOf(a); strings.Contains(string(e.ResponseObject.Raw), "managed") || strings.Count(string(e.ResponseObject.Raw), `"made"`) != 2 || !json.Valid(e.ResponseObject.Raw) {
		t.Errorf("%s", e.ResponseObject.Raw)
	}
	a.Sent = []byte(strings.Replace(sent, "<b>", "\xff", 1)) // JSON all the same
	if e = eventOf(a); string(e.RequestObject.Raw) != strings.Replace(string(a.Sent), `"managedFields":[{"manager":"m"}],`, "", 1) {
		t.Errorf("%s", e.RequestObject.Raw)
	}
	a.Sent = []byte(`{"metadata":{"name":"made"`)
	if e = eventOf(a); e.RequestObject != nil || e.ObjectRef.Name != "" {
		t.Errorf("%+v", e)
	}
}

// counts are of what was kept, and what was lost.
type counts struct {
	mu               sync.Mutex
	events, rejected int
	left             int
	lost             map[string]int
	levels           map[string]int
}

func (c *counts) AuditEvent()    { c.mu.Lock(); c.events++; c.mu.Unlock() }
func (c *counts) AuditRejected() { c.mu.Lock(); c.rejected++; c.mu.Unlock() }
func (c *counts) AuditLeftOut()  { c.mu.Lock(); c.left++; c.mu.Unlock() }
func (c *counts) AuditLevel(level string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.levels == nil {
		c.levels = map[string]int{}
	}
	c.levels[level]++
}
func (c *counts) AuditErrors(plugin string, n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.lost == nil {
		c.lost = map[string]int{}
	}
	c.lost[plugin] += n
}

func batch(n int) Passing { return Passing{Mode: Batch, BufferSize: n, MaxSize: 400} }

func TestWhatIsKeptIsWrittenBeforeTheEnd(t *testing.T) {
	var c counts
	path := filepath.Join(t.TempDir(), "audit.log")
	for _, id := range []string{"one", "two"} { // the second adds to the first's
		l, err := Open(Config{File: &File{Path: path, MaxMegabytes: 1, Format: FormatJSON, Passing: batch(100)}, Metrics: &c})
		if err != nil {
			t.Fatal(err)
		}
		for range 50 {
			l.Audit(record(id))
		}
		if err := errors.Join(l.Check(t.Context()), l.Close(t.Context()), l.Close(t.Context())); err != nil {
			t.Error(err)
		}
		l.Audit(record("late"))
	}
	text, err := os.ReadFile(path)
	if err != nil || bytes.Count(text, []byte("\n")) != 100 || !bytes.Contains(text, []byte(`"two"`)) || bytes.Contains(text, []byte("late")) || c.events != 102 || c.lost["buffered"] != 2 {
		t.Errorf("%d lines, %+v, %v", bytes.Count(text, []byte("\n")), &c, err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file is for %v, %v", info.Mode(), err)
	}
	if _, err := Open(Config{File: &File{Path: t.TempDir(), Passing: batch(1)}, Metrics: &c}); err == nil || !strings.Contains(err.Error(), "--audit-log-path") {
		t.Errorf("a folder is a file: %v", err)
	}
}

// slow is a file that takes nothing until it is told to.
type slow struct {
	release chan struct{}
	err     error
}

func (s slow) Write(p []byte) (int, error) {
	<-s.release
	if s.err != nil {
		return 0, s.err
	}
	return len(p), nil
}
func (s slow) Close() error { return nil }

// Nobody waits for the file: what does not fit into memory meanwhile is lost,
// counted and told, as is what the file does not take.
func TestWhatCannotBeWrittenIsLost(t *testing.T) {
	for name, failure := range map[string]error{"slow": nil, "full": errors.New("no space")} {
		var c counts
		out := slow{make(chan struct{}), failure}
		l := &Trail{c: Config{Metrics: &c}}
		l.sinks = []*pipe{newPipe(&file{out: out}, batch(10), l.c)}
		for range 450 + 10 + 15 {
			l.Audit(record("x"))
		}
		if l.Check(t.Context()) == nil {
			t.Errorf("%s: it is well", name)
		}
		overflown := c.lost["buffered"]
		close(out.release)
		if err := l.Close(context.Background()); err != nil {
			t.Error(err)
		}
		if overflown < 475-400-11 || c.events != 475 || (c.lost["log"] == 475-overflown) != (failure != nil) {
			t.Errorf("%s: %+v", name, c.lost)
		}
	}
}

// room is a disk that has so many bytes left for each write, and takes what fits.
type room struct {
	bytes.Buffer
	left []int
}

func (r *room) Write(p []byte) (int, error) {
	n := min(r.left[0], len(p))
	r.left = r.left[1:]
	_, _ = r.Buffer.Write(p[:n])
	if n < len(p) {
		return n, errors.New("no space")
	}
	return n, nil
}
func (r *room) Close() error { return nil }

// What a full disk has of events is known to the line: one that was torn counts as
// lost, and is ended before the next, which is no event either.
func TestATornLineIsNoEvent(t *testing.T) {
	disk := &room{left: []int{5, 0, 3, 1, 100}}
	f := &file{out: disk}
	for i, want := range []int{1, 0, 0, 0, 2} {
		sent, err := f.send(t.Context(), [][]byte{[]byte("abc"), []byte("def")})
		if sent != want || (err == nil) != (want == 2) {
			t.Errorf("send %d: %d, %v", i, sent, err)
		}
	}
	if got, want := disk.String(), "abc\nd\nab\nabc\ndef\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// Requests wait for the file where that is asked for, and are refused where that is.
func TestModes(t *testing.T) {
	for mode, refused := range map[string]bool{Blocking: false, Strict: true} {
		var c counts
		full := slow{make(chan struct{}), errors.New("no space")}
		close(full.release)
		l := &Trail{c: Config{Metrics: &c}}
		l.sinks = []*pipe{newPipe(&file{out: full}, Passing{Mode: mode}, l.c)}
		a := record("x")
		a.Stage = api.Received
		if l.Audit(a) == refused || c.lost["log"] != 1 || c.rejected == 1 != refused || l.Check(t.Context()) == nil {
			t.Errorf("%s: %+v", mode, &c)
		}
	}
}

// While the gateway stops events are lost, and counted, and no request is refused for it.
func TestNobodyIsRefusedWhileTheGatewayStops(t *testing.T) {
	for _, mode := range []string{Batch, Blocking, Strict} {
		var c counts
		p := newPipe(&file{out: slow{}}, Passing{Mode: mode, BufferSize: 1, MaxSize: 1}, Config{Metrics: &c})
		if err := p.close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if !p.take(&event{record: record("late")}) || c.lost["buffered"] != 1 {
			t.Errorf("%s: %+v", mode, &c)
		}
	}
}

// An event that is too large loses its bodies, and is lost if that does not help.
func TestLargeEventsAreTruncated(t *testing.T) {
	var c counts
	var out bytes.Buffer
	p := newPipe(&file{out: stdout{&out}}, Passing{Mode: Blocking, Truncate: true, MaxEventBytes: 2000, MaxBatchBytes: 2000}, Config{Metrics: &c})
	a := record("large")
	a.Level, a.Sent = api.KeepRequest, []byte(`"`+strings.Repeat("x", 3000)+`"`)
	p.take(&event{record: a})
	if got := out.String(); !strings.Contains(got, `"audit.k8s.io/truncated":"true"`) || strings.Contains(got, "requestObject") {
		t.Error(got)
	}
	a = record("larger")
	a.Request.Query = strings.Repeat("x", 3000)
	p.take(&event{record: a})
	if c.lost["truncate"] != 1 || strings.Contains(out.String(), "larger") {
		t.Errorf("%+v", c.lost)
	}
}
