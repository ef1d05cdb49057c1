package server

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"runtime"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/version"

	"github.com/wasmgate/wasmgate/gateway/api"
	"github.com/wasmgate/wasmgate/gateway/discovery"
	"github.com/wasmgate/wasmgate/gateway/health"
	"github.com/wasmgate/wasmgate/gateway/metrics"
	"github.com/wasmgate/wasmgate/gateway/openapi"
	"github.com/wasmgate/wasmgate/gateway/resource"
)

// Version is the Kubernetes version whose API is served; clients choose
// behaviour by it.
const (
	kubernetesMajor   = "1"
	kubernetesMinor   = "36"
	kubernetesVersion = "v1.36.3"
)

// documents are the paths that are not about objects, in the order in which
// they are asked.
func (g *gateway) documents() []api.Documents {
	return []api.Documents{healthPaths{g.health}, versionPath(), metricsPath{g.metrics}, profilePaths{}, &derived{ready: g.engine.Ready()}, rootPaths{}}
}

type healthPaths struct{ registry *health.Registry }

// Serve implements api.Documents.
func (h healthPaths) Serve(ctx context.Context, r *api.Request, _ *resource.Snapshot) *api.Response {
	values, err := url.ParseQuery(r.Query)
	if err != nil {
		values = nil
	}
	_, verbose := values["verbose"]
	status, body, ok := h.registry.Serve(ctx, r.Path, verbose, values["exclude"])
	if !ok {
		return nil
	}
	return &api.Response{
		Code: status, ContentType: "text/plain; charset=utf-8", Body: []byte(body),
		Headers: []api.Header{{Name: "X-Content-Type-Options", Value: "nosniff"}},
	}
}

// static is a document that never changes.
type static struct {
	path        string
	contentType string
	body        []byte
}

// Serve implements api.Documents.
func (s static) Serve(_ context.Context, r *api.Request, _ *resource.Snapshot) *api.Response {
	if strings.TrimSuffix(r.Path, "/") != s.path || r.Method != http.MethodGet && r.Method != http.MethodHead {
		return nil
	}
	return &api.Response{Code: http.StatusOK, ContentType: s.contentType, Body: s.body}
}

func versionPath() static {
	body, err := json.MarshalIndent(version.Info{
		Major: kubernetesMajor, Minor: kubernetesMinor, GitVersion: kubernetesVersion + "+wasmgate",
		GitTreeState: "clean", GoVersion: runtime.Version(), Compiler: runtime.Compiler, Platform: runtime.GOOS + "/" + runtime.GOARCH,
	}, "", "  ")
	if err != nil { // a struct of strings always encodes
		body = []byte("{}")
	}
	return static{"/version", "application/json", body}
}

type metricsPath struct{ m *metrics.Metrics }

// Serve implements api.Documents.
func (m metricsPath) Serve(_ context.Context, r *api.Request, _ *resource.Snapshot) *api.Response {
	if r.Path != "/metrics" || r.Method != http.MethodGet {
		return nil
	}
	body, err := m.m.Render()
	if err != nil {
		return &api.Response{Code: http.StatusInternalServerError, ContentType: "text/plain; charset=utf-8", Body: []byte(err.Error() + "\n")}
	}
	return &api.Response{Code: http.StatusOK, ContentType: metrics.ContentType, Body: body}
}

// derived serves what follows from the definitions: discovery and OpenAPI. A
// change of definitions makes new documents, which are filled on first use.
type derived struct {
	ready <-chan struct{}

	mu        sync.Mutex
	serial    uint64
	discovery *discovery.Documents
	openapi   *openapi.Documents
}

func (d *derived) of(s *resource.Snapshot) (*discovery.Documents, *openapi.Documents) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.discovery == nil || s.Serial > d.serial {
		d.discovery = discovery.New(s.Definitions, discovery.Options{})
		d.openapi = openapi.New(s.Definitions, d.openapi)
		d.serial = s.Serial
	}
	return d.discovery, d.openapi
}

func (d *derived) isReady() bool {
	select {
	case <-d.ready:
		return true
	default:
		return false
	}
}

// Serve implements api.Documents.
func (d *derived) Serve(_ context.Context, r *api.Request, s *resource.Snapshot) *api.Response {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		return nil
	}
	if !d.isReady() && (strings.HasPrefix(r.Path, "/api") || strings.HasPrefix(r.Path, "/openapi")) {
		return api.Unavailable() // half the groups would look like all of them
	}
	disco, open := d.of(s)
	path := strings.TrimSuffix(r.Path, "/")
	body, contentType, etag, ok := disco.Lookup(path, r.Accept)
	if !ok {
		if body, contentType, etag, ok = open.Lookup(path, r.Accept); !ok {
			return nil
		}
	}
	if contentType == "" {
		return api.NotAcceptable()
	}
	resp := &api.Response{Code: http.StatusOK, ContentType: contentType, Body: body}
	if etag != "" {
		resp.Headers = []api.Header{{Name: "Etag", Value: etag}, {Name: "Vary", Value: "Accept"}}
		if r.IfNoneMatch == etag {
			resp.Code, resp.Body = http.StatusNotModified, nil
		}
		pin(r, path, strings.Trim(etag, `"`), resp)
	}
	return resp
}

// pin answers requests that name the document's hash: the right one may be
// kept for ever, any other is told the right one.
func pin(r *api.Request, path, hash string, resp *api.Response) {
	values, err := url.ParseQuery(r.Query)
	if err != nil || !values.Has("hash") || !strings.HasPrefix(path, "/openapi/v3/") {
		return
	}
	if values.Get("hash") == hash {
		resp.Headers = append(resp.Headers, api.Header{Name: "Cache-Control", Value: "public, immutable"},
			api.Header{Name: "Expires", Value: time.Now().Add(365 * 24 * time.Hour).UTC().Format(http.TimeFormat)})
		return
	}
	resp.Code, resp.Body = http.StatusMovedPermanently, nil
	resp.Headers = append(resp.Headers, api.Header{Name: "Location", Value: path + "?hash=" + url.QueryEscape(hash)})
}

// rootPaths lists where a reader can go from here.
type rootPaths struct{}

// Serve implements api.Documents.
func (rootPaths) Serve(_ context.Context, r *api.Request, s *resource.Snapshot) *api.Response {
	if r.Path != "/" || r.Method != http.MethodGet {
		return nil
	}
	paths := []string{"/api", "/api/v1", "/apis"}
	seen := map[string]bool{}
	for _, d := range s.Definitions {
		for _, v := range d.Versions {
			for _, p := range []string{"/apis/" + d.Group, "/apis/" + d.Group + "/" + v.Name} {
				if d.Group != "" && v.Served && !seen[p] {
					seen[p] = true
					paths = append(paths, p)
				}
			}
		}
	}
	paths = append(paths, "/healthz", "/livez", "/metrics", "/openapi/v2", "/openapi/v3", "/readyz", "/version")
	body, err := json.MarshalIndent(map[string][]string{"paths": paths}, "", "  ")
	if err != nil {
		return nil
	}
	return &api.Response{Code: http.StatusOK, ContentType: "application/json", Body: body}
}
