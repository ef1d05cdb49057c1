package filter

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/gateway/api"
	"github.com/wasmgate/wasmgate/gateway/api/reply"
	"github.com/wasmgate/wasmgate/gateway/authn"
	"github.com/wasmgate/wasmgate/gateway/bounds"
	"github.com/wasmgate/wasmgate/gateway/bounds/memory"
	"github.com/wasmgate/wasmgate/gateway/catalog"
	"github.com/wasmgate/wasmgate/gateway/catalog/catalogtest"
	"github.com/wasmgate/wasmgate/gateway/resource/engine"
	"github.com/wasmgate/wasmgate/storage/storagetest"
)

// elsewhere has another server for the group metrics.k8s.io.
type elsewhere struct{}

func (elsewhere) Find(group, _ string) api.Remote {
	if group == "metrics.k8s.io" {
		return elsewhere{}
	}
	return nil
}

func (elsewhere) Serve(context.Context, *api.Call) *reply.Response { return nil }

// upload is a content of at most 16 bytes; connected is a connection.
type upload struct{ api.Content }

func (upload) MaxBytes() int { return 16 }

type connected struct{ api.Connection }

// calls makes calls as the handler does.
func calls(t *testing.T) func(method, path string) *api.Call {
	store := storagetest.NewMemory()
	e := engine.New(engine.Options{Store: store, Catalog: catalog.New(catalog.Options{
		Store: store, Prefix: "/registry/", Builtins: catalogtest.Builtins(t), Compile: catalogtest.Compile,
	})})
	catalogtest.Run(t, e)
	pods, configMaps := schema.GroupResource{Resource: "pods"}, schema.GroupResource{Resource: "configmaps"}
	routes := &api.Routes{Engine: e, Elsewhere: elsewhere{}, Contents: map[api.ContentPath]api.Content{{GroupResource: configMaps, Subresource: "content"}: upload{}},
		Connections: map[api.ContentPath]api.Connection{{GroupResource: pods, Subresource: "exec"}: connected{}}}
	return func(method, path string) *api.Call {
		path, query, _ := strings.Cut(path, "?")
		c := &api.Call{Request: &api.Request{Method: method, Path: path, Query: query}, User: ann}
		passing(t, classify(routes), c, nil)
		return c
	}
}

// Bodies are read by what takes them, and what decoding them takes is taken before.
func TestBodiesAreReadAndWeighed(t *testing.T) {
	call := calls(t)
	const some = 300_000
	all := bounds.New(bounds.Limits{Bytes: some})
	cut := errors.New("cut")
	for name, c := range map[string]struct {
		method, path, body string
		most               int // bytes that are read
		code               int
		text               string
	}{
		"a question":        {"GET", "/api/v1/pods", "{}", 0, 200, ""},
		"an object":         {"POST", "/api/v1/namespaces/a/pods", "{}", 1000, 200, ""},
		"content":           {"PUT", "/api/v1/namespaces/a/configmaps/x/content", strings.Repeat("{", 500), 16, 200, ""},
		"no path of this":   {"POST", "/other", "{}", 0, 200, ""},
		"another server's":  {"GET", "/apis/metrics.k8s.io/v1/nodes", strings.Repeat("{", 500), 1000, 200, ""},
		"too heavy":         {"POST", "/api/v1/namespaces/a/pods", strings.Repeat("{}", 500), 1000, 413, "decoding the body takes about 0 MiB of memory, at most 0 MiB are allowed: send fewer values at a time"},
		"just":              {"POST", "/api/v1/namespaces/a/pods", strings.Repeat(" ", some*3/8/4), 1000, 200, ""},
		"one more":          {"POST", "/api/v1/namespaces/a/pods", strings.Repeat(" ", some*3/8/4+1), 1000, 413, "decoding the body"},
		"what is cut":       {"PUT", "/api/v1/namespaces/a/pods/x", "cut", 1000, 500, "cut"},
		"content, cut":      {"PUT", "/api/v1/namespaces/a/configmaps/x/content", "cut", 16, 500, "cut"},
		"another's, cut":    {"GET", "/apis/metrics.k8s.io/v1/nodes", "cut", 1000, 500, "cut"},
		"heavy by aliasing": {"POST", "/api/v1/namespaces/a/pods", "a: &a [" + strings.Repeat("x,", 20) + "]\nb: [" + strings.Repeat("*a,", 20) + "]", 1000, 413, "decoding the body"},
	} {
		x := call(c.method, c.path)
		if err := all.Enter(&x.Stay, "ann", false, bounds.Changes); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(c.body, "&") {
			x.ContentType = "application/yaml"
		}
		read := 0
		x.ReadBody = func(most int) ([]byte, error) {
			if read = most; c.body == "cut" {
				return nil, cut
			}
			return []byte(c.body), nil
		}
		resp, passed := passing(t, body(1000), x, &reply.Response{Code: 200})
		if resp.Code != c.code || passed != (c.code == 200) || read != c.most || !strings.Contains(string(resp.Body), c.text) {
			t.Errorf("%s: %d %s, %d bytes may be read", name, resp.Code, resp.Body, read)
		}
		if kept := string(x.Body) == c.body; kept != (c.most > 0 && c.body != "cut") {
			t.Errorf("%s: the body is %.40s", name, x.Body)
		}
		x.Stay.Leave()
	}
	if n := all.Bytes(); n != 0 {
		t.Errorf("%d bytes are still taken", n)
	}
}

// Others that decode leave less; without bounds anything goes.
func TestBodiesWaitForNobody(t *testing.T) {
	call := calls(t)
	all := bounds.New(bounds.Limits{Bytes: 40_000})
	send := func(stay *bounds.Bounds, user string) (*reply.Response, bool) {
		x := call("POST", "/api/v1/namespaces/a/pods")
		if stay != nil {
			if err := stay.Enter(&x.Stay, user, true, bounds.Changes); err != nil {
				t.Fatal(err)
			}
		}
		x.ReadBody = func(int) ([]byte, error) { return bytes.Repeat([]byte(" "), 3_500), nil }
		return passing(t, body(10_000), x, &reply.Response{Code: 200})
	}
	for i, want := range []bool{true, true, false} {
		if resp, passed := send(all, "ann"); passed != want || !passed && (resp.Code != 429 || !strings.Contains(string(resp.Body), "decoding the bodies of other requests takes all the memory there is for it")) {
			t.Errorf("%d: %d %s", i, resp.Code, resp.Body)
		}
	}
	if _, passed := send(nil, ""); !passed {
		t.Error("without bounds it is refused")
	}
}

// What another server answers is passed on as it comes, where it comes.
func TestBodiesThatArePassedOn(t *testing.T) {
	call := calls(t)
	whole, cut := io.NopCloser(strings.NewReader("x")), errors.New("cut")
	for name, fails := range map[string]error{"it comes": nil, "it does not": cut} {
		x := call("POST", "/apis/metrics.k8s.io/v1/nodes")
		x.ReadBody = func(int) ([]byte, error) { t.Error("it was read"); return nil, nil }
		x.OpenBody = func(most int) (io.ReadCloser, int64, error) { return whole, int64(most), fails }
		resp, passed := passing(t, body(1000), x, &reply.Response{Code: 200})
		if passed != (fails == nil) || resp.Code != map[bool]int{true: 200, false: 500}[passed] || x.Coming != whole || x.Length != 1000 || x.Body != nil {
			t.Errorf("%s: %d, %d bytes", name, resp.Code, x.Length)
		}
	}
}

// Who takes too much does not come in; what is open to everybody does.
func TestEnter(t *testing.T) {
	call := calls(t)
	root := &authn.User{Name: "root", Groups: []string{authn.Masters}}
	all := bounds.New(bounds.Limits{Reading: 2, Changing: 2, Watches: 1})
	for _, c := range []struct {
		method, path string
		user         *authn.User
		code         int
	}{
		{"GET", "/api/v1/pods", ann, 200}, {"GET", "/api/v1/namespaces/a/pods/x", ann, 429}, {"GET", "/api/v1/pods", ann, 429}, {"GET", "/livez", ann, 200}, {"POST", "/livez", ann, 429},
		{"GET", "/api/v1/pods", root, 200}, {"GET", "/api/v1/nodes", root, 200},
		{"POST", "/api/v1/namespaces/a/pods", ann, 200}, {"DELETE", "/api/v1/namespaces/a/pods/x", ann, 429},
		{"GET", "/api/v1/pods?watch=1", ann, 200}, {"GET", "/api/v1/pods?watch=1", ann, 429},
	} {
		x := call(c.method, c.path)
		x.User = c.user
		resp, passed := passing(t, enter(all), x, &reply.Response{Code: 200})
		if resp.Code != c.code || passed != (c.code == 200) || !passed && !slices.Contains(resp.Headers, reply.Header{Name: "Retry-After", Value: "1"}) {
			t.Errorf("%s %s by %s: %d, want %d; %v", c.method, c.path, c.user.Name, resp.Code, c.code, resp.Headers)
		}
	}
	upgrade := call("GET", "/apis/metrics.k8s.io/v1/nodes")
	if upgrade.Upgrade = true; kind(upgrade) != bounds.Lasts {
		t.Error("what is connected to another server does not last")
	}
	if _, passed := passing(t, enter(nil), call("GET", "/api/v1/pods"), nil); !passed {
		t.Error("without bounds nobody comes in")
	}
}

// A list takes what its reply takes: at first what it is about to, then what its body has.
func TestListsTakeMemory(t *testing.T) {
	budget := memory.New(64 << 20)
	all := bounds.New(bounds.Limits{Lists: budget.For(memory.Lists)})
	used := func() int64 { u, _, _ := budget.Uses(); return u[memory.Lists] }
	call := calls(t)
	x := call("GET", "/api/v1/pods")
	resp := enter(all)(func(context.Context, *api.Call) *reply.Response {
		if used() == 0 {
			t.Error("nothing is taken before")
		}
		return &reply.Response{Code: 200, Body: make([]byte, 5000)}
	})(t.Context(), x)
	taken := used()
	x.Stay.Leave()
	small := call("GET", "/api/v1/pods")
	passing(t, enter(all), small, &reply.Response{Code: 200})
	if resp.Code != 200 || taken-used() != 5000 {
		t.Errorf("%d, %d bytes are taken, and %d without a body", resp.Code, taken, used())
	}
	small.Stay.Leave()
	huge := call("GET", "/api/v1/pods")
	if resp, passed := passing(t, enter(all), huge, &reply.Response{Code: 200, Body: make([]byte, 128<<20)}); !passed || resp.Code != 429 || !strings.Contains(string(resp.Body), "other requests take all the memory") {
		t.Errorf("a body for which there is no room: %d %.100s", resp.Code, resp.Body)
	}
	huge.Stay.Leave()
	for left := int(budget.Total()); left > 0; { // whatever there is
		if !budget.For(memory.Lists).Take(left) {
			left /= 2
		}
	}
	gone, leave := context.WithCancel(t.Context())
	leave()
	for path, want := range map[string]bool{"/api/v1/pods": false, "/api/v1/namespaces/a/pods/x": true} {
		passed := false
		enter(all)(func(context.Context, *api.Call) *reply.Response {
			passed = true
			return &reply.Response{Body: make([]byte, 1<<20)}
		})(gone, call("GET", path))
		if passed != want {
			t.Errorf("without memory for lists %s passes: %v", path, passed)
		}
	}
}

// What a request took is given back when its reply was sent, which is at once where that
// takes no time.
func TestLeave(t *testing.T) {
	all := bounds.New(bounds.Limits{Bytes: 1 << 20})
	frames := func(context.Context, reply.FrameWriter) {}
	write := func(io.Writer) error { return nil }
	for name, c := range map[string]struct {
		resp  reply.Response
		lasts bool
	}{
		"small": {reply.Response{Body: make([]byte, api.LargeReply)}, false}, "large": {reply.Response{Body: make([]byte, api.LargeReply+1)}, true},
		"a stream": {reply.Response{Stream: frames}, true}, "written": {reply.Response{Write: write}, true}, "read": {reply.Response{Reader: strings.NewReader("")}, true},
	} {
		x, length := about("get"), len(c.resp.Body)
		resp := leave(func(_ context.Context, x *api.Call) *reply.Response {
			if all.Enter(&x.Stay, "ann", false, bounds.Reads) != nil || !x.Stay.Take(100) {
				t.Fatal("there is no room")
			}
			return &c.resp
		})(t.Context(), x)
		if (all.Bytes() == 100) != c.lasts {
			t.Errorf("%s: %d bytes are taken", name, all.Bytes())
		}
		switch {
		case resp.Stream != nil:
			resp.Stream(t.Context(), nil)
		case resp.Done != nil:
			resp.Done()
		}
		if all.Bytes() != 0 {
			t.Errorf("%s: %d bytes are not given back", name, all.Bytes())
		}
		if name == "large" {
			var out bytes.Buffer
			if err := resp.Write(&out); err != nil || out.Len() != length || resp.Length != length || resp.Body != nil {
				t.Errorf("%d of %d bytes, %v", out.Len(), length, err)
			}
			if err := resp.Write(broken{}); err == nil {
				t.Error("a connection that breaks is none")
			}
		}
	}
	func() {
		defer func() { _ = recover() }()
		leave(func(_ context.Context, x *api.Call) *reply.Response {
			_ = all.Enter(&x.Stay, "ann", false, bounds.Reads)
			x.Stay.Take(100)
			panic("as it does")
		})(t.Context(), about("get"))
	}()
	if all.Bytes() != 0 {
		t.Error("what a panic took is not given back")
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }
