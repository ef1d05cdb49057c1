package aggregator

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/rs/zerolog"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/gateway/controller/controllertest"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest/realengine"
	"github.com/wasmgate/wasmgate/gateway/discovery/openapi"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
)

// describing is a server with a description of version 2.
type describing struct {
	code             atomic.Int32
	etag, body       atomic.Value // strings
	asked, unchanged atomic.Int32
	wrong            atomic.Value // what was wrong with a request
}

func (d *describing) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	d.asked.Add(1)
	if r.URL.Path != "/openapi/v2" || r.Header.Get("X-Remote-User") != "system:aggregator" || r.Header.Get("X-Remote-Group") != "" || r.Header.Get("Accept") != "application/json" {
		d.wrong.Store(fmt.Sprintf("%s %v", r.URL, r.Header))
	}
	etag := d.etag.Load().(string)
	if etag != "" && r.Header.Get("If-None-Match") == etag {
		d.unchanged.Add(1)
		w.WriteHeader(http.StatusNotModified)
		return
	}
	if etag != "" {
		w.Header().Set("Etag", etag)
	}
	w.WriteHeader(int(d.code.Load()))
	_, _ = w.Write([]byte(d.body.Load().(string)))
}

func (d *describing) says(code int32, etag, body string) {
	d.code.Store(code)
	d.etag.Store(etag)
	d.body.Store(body)
}

const version2Of = `{"swagger":"2.0","paths":{"/apis/g.example.com/v1/%s":{"get":{"responses":{"200":{"description":"OK"}}}}}}`

// engineWith makes servers of which one, of g.example.com/v1, is s.
func engineWith(t *testing.T, s http.Handler, log *bytes.Buffer) (*Servers, *realengine.Engine) {
	t.Helper()
	e := realengine.Start(t)
	server := httptest.NewTLSServer(s)
	t.Cleanup(server.Close)
	_, port, err := net.SplitHostPort(server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.ParseInt(port, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	controllertest.MustCreate(t, e, gvr.Namespaces, controllertest.NamespaceTree("work"))
	controllertest.MustCreate(t, e, services, map[string]any{"metadata": map[string]any{"namespace": "work", "name": "ext"}, "spec": map[string]any{"type": "ExternalName", "externalName": "localhost"}})
	controllertest.MustCreate(t, e, apiServices, map[string]any{"metadata": map[string]any{"name": "v1.g.example.com"}, "spec": map[string]any{
		"group": "g.example.com", "version": "v1", "groupPriorityMinimum": int64(10), "versionPriority": int64(10), "insecureSkipTLSVerify": true,
		"service": map[string]any{"namespace": "work", "name": "ext", "port": n},
	}})
	if err := e.Fresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	obj := controllertest.MustGet(t, e, apiServices, "", "v1.g.example.com")
	obj.Object["status"] = map[string]any{"conditions": []any{map[string]any{"type": "Available", "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z"}}}
	if _, err := e.Update(t.Context(), apiServices, "status", obj); err != nil {
		t.Fatal(err)
	}
	out := New(Config{Objects: e, Certificate: certificate, Log: zerolog.New(log)})
	if err := e.Fresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := out.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	return out, e
}

// published is what is known of the description of the one server.
func published(t *testing.T, s *Servers) *openapi.Foreign {
	t.Helper()
	s.publish()
	if all := *s.Others(); len(all) > 0 {
		return all[0].V2
	}
	return nil
}

// A description is read when it changed, as its ETag or its bytes tell; the last good one
// stays while its server has none that is good, and says so once in the log. It goes with
// the APIService, or when the server has none.
func TestDescriptionsOfVersion2(t *testing.T) {
	d, log := &describing{}, &bytes.Buffer{}
	d.says(200, `"a"`, fmt.Sprintf(version2Of, "a"))
	s, e := engineWith(t, d, log)
	ask := func(well bool) *openapi.Foreign {
		t.Helper()
		if got := s.askV2(t.Context()); got != well {
			t.Errorf("all is well: %t; the log: %s", got, log)
		}
		return published(t, s)
	}
	first := ask(true)
	if first == nil || ask(true) != first || d.unchanged.Load() != 1 {
		t.Fatalf("%v, unchanged %d", first, d.unchanged.Load())
	}
	d.says(200, "", fmt.Sprintf(version2Of, "b"))
	second := ask(true)
	if second == first || second == nil || ask(true) != second {
		t.Error("another one is not read, or the same is again")
	}
	for what, says := range map[string]func(){
		"is bad":               func() { d.says(200, `"bad"`, `{"swagger":"2.0","paths":7}`) },
		"bad status":           func() { d.says(503, "", "no") },
		"is larger than":       func() { d.says(200, "", strings.Repeat(" ", maxDocument+1)) },
		"bad status from http": func() { d.says(403, "", fmt.Sprintf(version2Of, "c")) },
	} {
		log.Reset()
		says()
		well := what == "is bad"
		if one, two := ask(well), ask(well); one != second || two != second || strings.Count(log.String(), "\n") != 1 || !strings.Contains(log.String(), what) {
			t.Errorf("%s: the log: %s", what, log)
		}
	}
	d.says(404, "", "")
	if ask(true) != nil {
		t.Error("what the server has no more is kept")
	}
	d.says(200, "", fmt.Sprintf(version2Of, "d"))
	if ask(true) == nil || d.wrong.Load() != nil {
		t.Errorf("asked wrongly: %v", d.wrong.Load())
	}
	if err := e.Delete(t.Context(), apiServices, "", "v1.g.example.com", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := e.Fresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.update(t.Context(), "v1.g.example.com"); err != nil || published(t, s) != nil || len(s.found.described) != 0 {
		t.Errorf("it is not gone with the APIService: %v", err)
	}
}

// A server that is not there, or that another one took the place of, is not asked, or is
// anew; what it described stays as long as it is the same that is named.
func TestDescriptionsOfServersThatAreGone(t *testing.T) {
	d, log := &describing{}, &bytes.Buffer{}
	d.says(200, `"a"`, fmt.Sprintf(version2Of, "a"))
	s, _ := engineWith(t, d, log)
	s.askV2(t.Context())
	before, asked := published(t, s), d.asked.Load()
	gv := schema.GroupVersion{Group: "g.example.com", Version: "v1"}
	b := *(*s.now.Load())[gv]
	b.available = false
	s.now.Store(&map[schema.GroupVersion]*server{gv: &b, {Version: "v1"}: {available: true}})
	if !s.askV2(t.Context()) || d.asked.Load() != asked || before == nil {
		t.Errorf("asked %d times", d.asked.Load()-asked)
	}
	if all := *s.Others(); all[len(all)-1].V2 != before {
		t.Error("what it described is gone")
	}
	c := b
	c.spec.Service = c.spec.Service.DeepCopy()
	c.spec.Service.Name = "another"
	s.now.Store(&map[schema.GroupVersion]*server{gv: &c})
	if published(t, s) != nil {
		t.Error("another server is said to describe it")
	}
}
