package documents

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/crd/builtin"
	"github.com/wasmgate/wasmgate/gateway/api"
	"github.com/wasmgate/wasmgate/gateway/api/reply"
	"github.com/wasmgate/wasmgate/gateway/catalog"
	"github.com/wasmgate/wasmgate/gateway/discovery"
	"github.com/wasmgate/wasmgate/gateway/health"
	"github.com/wasmgate/wasmgate/gateway/kinds/versionpriority/ordering"
	"github.com/wasmgate/wasmgate/gateway/metrics"
)

// site is all documents over the built-in kinds.
type site struct {
	t        *testing.T
	all      []api.Documents
	snapshot *catalog.Snapshot
	orders   *ordering.Orders
}

func newSite(t *testing.T) *site {
	t.Helper()
	builtins, err := builtin.All(builtin.Options{})
	if err != nil {
		t.Fatal(err)
	}
	h := health.New(nil, nil)
	h.Add("store", func(context.Context) error { return errors.New("out of order") }, health.Readyz)
	ready := make(chan struct{})
	close(ready)
	m := metrics.New()
	m.SLIs.HealthCheck("readyz", "store", false)
	m.Request("get", "", "v1", "configmaps", "", "resource").Done(metrics.Outcome{Code: 200, Took: time.Millisecond})
	s := &site{t: t, orders: &ordering.Orders{}, snapshot: &catalog.Snapshot{Serial: 1, Definitions: builtins}}
	s.all = All(Config{Profiling: true, Health: h, Metrics: m, Ready: ready, Orders: func() discovery.Order { return s.orders }})
	return s
}

// ask is the first reply of all documents; nil when there is none.
func (s *site) ask(r api.Request) *reply.Response {
	r.Path, r.Query, _ = strings.Cut(r.Path, "?")
	for _, d := range s.all {
		if resp := d.Serve(s.t.Context(), &r, s.snapshot); resp != nil {
			return s.written(resp)
		}
	}
	return nil
}

// written is a reply with its body in one piece, as it is sent.
func (s *site) written(resp *reply.Response) *reply.Response {
	if resp.Write == nil {
		return resp
	}
	var b bytes.Buffer
	if err := resp.Write(&b); err != nil || b.Len() != resp.Length || resp.Body != nil {
		s.t.Errorf("%d bytes of %d, %v", b.Len(), resp.Length, err)
	}
	out := *resp
	out.Body = b.Bytes()
	return &out
}

func (s *site) get(path string) *reply.Response { return s.ask(api.Request{Method: "GET", Path: path}) }

func header(r *reply.Response, name string) string {
	i := slices.IndexFunc(r.Headers, func(h reply.Header) bool { return h.Name == name })
	if i < 0 {
		return ""
	}
	return r.Headers[i].Value
}

const plain = "text/plain; charset=utf-8"

func TestPathsAndTypes(t *testing.T) {
	s := newSite(t)
	for _, c := range []struct {
		method, path string
		code         int // 0: nobody answers
		contentType  string
		part         string
	}{
		{"GET", "/livez", 200, plain, "ok"},
		{"GET", "/readyz", 500, plain, "[-]store failed"},
		{"GET", "/readyz?exclude=store", 200, plain, "ok"},
		{"GET", "/livez?verbose", 200, plain, "[+]ping ok"},
		{"GET", "/livez?%zz", 200, plain, "ok"},
		{"GET", "/version", 200, "application/json", `"gitVersion": "v1.36.3+wasmgate"`},
		{"GET", "/version/", 200, "application/json", `"major": "1"`},
		{"HEAD", "/version", 200, "application/json", `"minor": "36"`},
		{"POST", "/version", 0, "", ""},
		{"GET", "/versions", 0, "", ""},
		{"GET", "/metrics", 200, metrics.ContentType, "apiserver_request_total{"},
		{"POST", "/metrics", 0, "", ""},
		{"GET", "/metrics/x", 0, "", ""},
		{"GET", "/metrics/slis", 200, metrics.ContentType, "# HELP kubernetes_healthcheck [STABLE] "},
		{"POST", "/metrics/slis", 0, "", ""},
		{"GET", "/", 200, "application/json", `"/openapi/v3"`},
		{"POST", "/", 0, "", ""},
		{"GET", "/nothing", 0, "", ""},
		{"GET", "/api", 200, "application/json", `"APIVersions"`},
		{"GET", "/apis/", 200, "application/json", `"APIGroupList"`},
		{"HEAD", "/api/v1", 200, "application/json", `"configmaps"`},
		{"POST", "/api", 0, "", ""},
		{"GET", "/openapi/v2", 200, "application/json", `"swagger":"2.0"`},
		{"GET", "/openapi/v3", 200, "application/json", `"paths"`},
		{"GET", "/debug/pprof/heap", 200, "application/octet-stream", ""},
		{"GET", "/debug/pprof/", 200, "text/html; charset=utf-8", "goroutine?debug=1"},
		{"GET", "/debug/pprof/cmdline", 200, "text/plain; charset=utf-8", "test"},
		{"GET", "/debug/pprofx", 0, "", ""},
		{"GET", "/debug/pprof/nothing", 0, "", ""},
		{"GET", "/debug", 0, "", ""},
		{"POST", "/debug/pprof/heap", 0, "", ""},
	} {
		got := s.ask(api.Request{Method: c.method, Path: c.path})
		if (got == nil) != (c.code == 0) {
			t.Errorf("%s %s: %+v", c.method, c.path, got)
			continue
		}
		if got != nil && (got.Code != c.code || got.ContentType != c.contentType || !strings.Contains(string(got.Body), c.part) || len(got.Body) == 0) {
			t.Errorf("%s %s: %d %s %.200s", c.method, c.path, got.Code, got.ContentType, got.Body)
		}
	}
	if got := header(s.get("/livez"), "X-Content-Type-Options"); got != "nosniff" {
		t.Errorf("health: %q", got)
	}
	if got := s.ask(api.Request{Method: "GET", Path: "/api", Accept: "text/html"}); got == nil || got.Code != http.StatusNotAcceptable {
		t.Errorf("discovery as HTML: %+v", got)
	}
}

func TestTheListOfPaths(t *testing.T) {
	s := newSite(t)
	s.snapshot.Definitions = append(slices.Clone(s.snapshot.Definitions), &crd.Definition{
		Group: "example.com", Plural: "tabs", Kind: "Tab", Versions: []*crd.Version{{Name: "v1", Served: true}, {Name: "v0"}},
	})
	var list struct{ Paths []string }
	if err := json.Unmarshal(s.get("/").Body, &list); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"/api", "/api/v1", "/apis", "/apis/coordination.k8s.io", "/apis/coordination.k8s.io/v1", "/apis/example.com/v1", "/healthz", "/livez", "/metrics", "/metrics/slis", "/openapi/v2", "/openapi/v3", "/readyz", "/version"} {
		if !slices.Contains(list.Paths, want) {
			t.Errorf("%s is missing", want)
		}
	}
	seen := map[string]bool{}
	for _, p := range list.Paths {
		if seen[p] || p == "/apis/" || p == "/apis//v1" || strings.HasSuffix(p, "/v0") {
			t.Errorf("%s should not be there, or not twice", p)
		}
		seen[p] = true
	}
}

func TestDocumentsAreCachedByTheirHash(t *testing.T) {
	s := newSite(t)
	const path = "/openapi/v3/api/v1"
	first := s.get(path)
	tag := header(first, "Etag")
	if tag == "" || header(first, "Vary") != "Accept" || header(first, "Cache-Control") != "" || header(first, "Location") != "" {
		t.Fatalf("%v", first.Headers)
	}
	if got := s.ask(api.Request{Method: "GET", Path: path, IfNoneMatch: tag}); got.Code != 304 || got.Body != nil {
		t.Errorf("If-None-Match: %d, %d bytes", got.Code, len(got.Body))
	}
	if got := s.ask(api.Request{Method: "GET", Path: path, IfNoneMatch: `"other"`}); got.Code != 200 || len(got.Body) == 0 {
		t.Errorf("another tag: %d", got.Code)
	}
	hash := strings.Trim(tag, `"`)
	right := s.get(path + "?hash=" + hash)
	expires, err := http.ParseTime(header(right, "Expires"))
	if right.Code != 200 || header(right, "Cache-Control") != "public, immutable" || err != nil || time.Until(expires) < 364*24*time.Hour {
		t.Errorf("the right hash: %d %v", right.Code, right.Headers)
	}
	wrong := s.get(path + "?hash=a%20b")
	if wrong.Code != 301 || wrong.Body != nil || header(wrong, "Location") != path+"?hash="+hash {
		t.Errorf("a wrong hash: %d %v", wrong.Code, wrong.Headers)
	}
	if got := s.get(path + "?hash=%zz"); got.Code != 200 || header(got, "Cache-Control") != "" {
		t.Errorf("a query that is none: %d", got.Code)
	}
	if got := s.get("/openapi/v2?hash=x"); got.Code != 200 || header(got, "Location") != "" {
		t.Errorf("a hash for another document: %d", got.Code)
	}
}

// New definitions make new documents, and old snapshots do not bring old ones
// back.
func TestDocumentsFollowTheDefinitions_RES10(t *testing.T) {
	s := newSite(t)
	old := s.snapshot
	shows := func() bool { return strings.Contains(string(s.get("/apis").Body), "example.com") }
	if shows() {
		t.Fatal("shown before it is served")
	}
	more := append(slices.Clone(old.Definitions), &crd.Definition{
		Group: "example.com", Plural: "tabs", Singular: "tab", Kind: "Tab", ListKind: "TabList", Versions: []*crd.Version{{Name: "v1", Served: true}},
	})
	s.snapshot = &catalog.Snapshot{Serial: 1, Definitions: more}
	if shows() {
		t.Error("made again without a change")
	}
	s.snapshot = &catalog.Snapshot{Serial: 2, Definitions: more}
	if !shows() {
		t.Error("not shown")
	}
	s.snapshot = old
	if !shows() {
		t.Error("an older snapshot won")
	}
	s.orders = &ordering.Orders{}
	if !shows() {
		t.Error("an older snapshot won with another order")
	}
}

func TestProfileTime(t *testing.T) {
	for query, want := range map[string]time.Duration{
		"": 30 * time.Second, "seconds=5": 5 * time.Second, "seconds=1": time.Second, "seconds=0": 30 * time.Second, "seconds=-1": 30 * time.Second,
		"seconds=x": 30 * time.Second, "seconds=3600": maxProfile, "%zz": maxProfile,
	} {
		if got := profileTime(query); got != want {
			t.Errorf("%q: %s, want %s", query, got, want)
		}
	}
}

func TestProcessorProfile(t *testing.T) {
	s := newSite(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // it ends with the request
	got := profilePaths{true}.Serve(ctx, &api.Request{Method: "GET", Path: "/debug/pprof/profile", Query: "seconds=50"}, s.snapshot)
	if got == nil || got.Code != 200 || len(got.Body) == 0 || got.ContentType != "application/octet-stream" {
		t.Errorf("%+v", got)
	}
}

// scarce is memory for so many bytes.
type scarce struct{ most, asked int }

func (s *scarce) Room(_ context.Context, n int) error {
	if s.asked = n; n > s.most {
		return errors.New("no memory")
	}
	return nil
}

// What a profile or a trace takes is asked for as it comes, and ends it where there is
// no more: whole, or not at all.
func TestProfilesTakeMemory(t *testing.T) {
	s := newSite(t)
	for path, least := range map[string]int{"/debug/pprof/trace?seconds=0.01": 1000, "/debug/pprof/goroutine": 10, "/debug/pprof/heap": 10} {
		room := &scarce{most: 1 << 30}
		ask := func() *reply.Response {
			path, query, _ := strings.Cut(path, "?")
			return profilePaths{true}.Serve(t.Context(), &api.Request{Method: "GET", Path: path, Query: query, Memory: room}, s.snapshot)
		}
		if got := ask(); got.Code != 200 || len(got.Body) < least || room.asked < len(got.Body) {
			t.Errorf("%s: %d, %d bytes, asked for %d", path, got.Code, len(got.Body), room.asked)
		}
		room.most = 8
		if got := ask(); got.Code != 500 || !strings.Contains(string(got.Body), "no memory") {
			t.Errorf("%s without memory: %d %.100s", path, got.Code, got.Body)
		}
	}
	room := &scarce{most: 0}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	got := profilePaths{true}.Serve(ctx, &api.Request{Method: "GET", Path: "/debug/pprof/trace", Query: "seconds=50", Memory: room}, s.snapshot)
	if got.Code != 500 || ctx.Err() != nil {
		t.Errorf("a trace that has no memory goes on: %d, %v", got.Code, ctx.Err())
	}
}

// Profiles are read as text, too, and not at all where they are switched off.
func TestProfilesAreSwitchedOff(t *testing.T) {
	s := newSite(t)
	for _, path := range []string{"/debug/pprof", "/debug/pprof/", "/debug/pprof/heap", "/debug/pprof/profile", "/debug/pprof/trace", "/debug/pprof/cmdline"} {
		if got := (profilePaths{}).Serve(t.Context(), &api.Request{Method: "GET", Path: path}, s.snapshot); got != nil {
			t.Errorf("%s: %+v", path, got)
		}
	}
	got := profilePaths{true}.Serve(t.Context(), &api.Request{Method: "GET", Path: "/debug/pprof/goroutine", Query: "debug=1"}, s.snapshot)
	if got == nil || got.Code != 200 || !strings.HasPrefix(string(got.Body), "goroutine profile: total ") {
		t.Errorf("%+v", got)
	}
	got = profilePaths{true}.Serve(t.Context(), &api.Request{Method: "GET", Path: "/debug/pprof"}, s.snapshot)
	if got == nil || got.Code != 301 || len(got.Headers) != 1 || got.Headers[0].Value != "/debug/pprof/" {
		t.Errorf("%+v", got)
	}
}
