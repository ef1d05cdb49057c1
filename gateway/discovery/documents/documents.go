// Package documents owns the replies that are not objects: health, version,
// metrics, profiles, discovery, OpenAPI and the list of paths.
//
// It must not know connections, verbs on objects, or how what it shows is
// found out.
package documents

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/version"

	"github.com/wasmgate/wasmgate/gateway/api"
	"github.com/wasmgate/wasmgate/gateway/api/reply"
	"github.com/wasmgate/wasmgate/gateway/catalog"
	"github.com/wasmgate/wasmgate/gateway/discovery"
	"github.com/wasmgate/wasmgate/gateway/health"
	"github.com/wasmgate/wasmgate/gateway/metrics"
	"github.com/wasmgate/wasmgate/lifecycle"
)

// Config is what is shown. All fields but Profiling and Release are required.
type Config struct {
	Health  *health.Registry
	Metrics *metrics.Metrics
	// Ready is closed when all that is stored is served; before that, discovery
	// and OpenAPI are refused.
	Ready <-chan struct{}
	// Orders returns the orders of versions in force, the same while they are.
	Orders func() discovery.Order
	// Release is the one that is emulated; zero means the current one.
	Release lifecycle.Release
	// Others are what other servers serve, the same while that is so; nil for nothing.
	Others func() *discovery.Others
	// Profiling serves /debug/pprof.
	Profiling bool
	// Kinds are documents that kinds give, by path.
	Kinds map[string]reply.Response
	// Report is told of what cannot be shown, and why.
	Report func(error)
}

// All are the documents, in the order in which they are asked.
func All(c Config) []api.Documents {
	running := versionOf(c.Release, lifecycle.Built())
	metrics.ShowBuild(c.Metrics, running)
	return []api.Documents{healthPaths{c.Health}, versionPath(running), fixed(c.Kinds), metricsPaths{c.Metrics}, profilePaths{c.Profiling}, &derived{ready: c.Ready, orders: c.Orders, others: c.Others, report: c.Report}, rootPaths{c.Kinds, c.Others}}
}

// healthPaths serves /healthz, /livez and /readyz.
type healthPaths struct{ registry *health.Registry }

// Serve implements api.Documents.
func (h healthPaths) Serve(ctx context.Context, r *api.Request, _ *catalog.Snapshot) *reply.Response {
	values, err := url.ParseQuery(r.Query)
	if err != nil {
		values = nil
	}
	_, verbose := values["verbose"]
	status, body, ok := h.registry.Serve(ctx, r.Path, verbose, values["exclude"])
	if !ok {
		return nil
	}
	return &reply.Response{
		Code: status, ContentType: "text/plain; charset=utf-8", Body: []byte(body),
		Headers: []reply.Header{{Name: "X-Content-Type-Options", Value: "nosniff"}},
	}
}

// fixed are documents that never change, by path.
type fixed map[string]reply.Response

// Serve implements api.Documents.
func (f fixed) Serve(_ context.Context, r *api.Request, _ *catalog.Snapshot) *reply.Response {
	resp, ok := f[strings.TrimSuffix(r.Path, "/")]
	if !ok || r.Method != http.MethodGet && r.Method != http.MethodHead {
		return nil
	}
	return &resp
}

// versionOf tells the release that is served, the one that is emulated, and the one
// before that, which gateways beside this one may be of; and what is running.
func versionOf(emulated lifecycle.Release, built lifecycle.Build) version.Info {
	if emulated.IsZero() {
		emulated = lifecycle.Current
	}
	current, least, state := lifecycle.Current, emulated.Plus(-1), "clean"
	if built.Modified {
		state = "dirty"
	}
	return version.Info{
		Major: strconv.Itoa(current.Major), Minor: strconv.Itoa(current.Minor), GitVersion: lifecycle.GitVersion,
		EmulationMajor: strconv.Itoa(emulated.Major), EmulationMinor: strconv.Itoa(emulated.Minor),
		MinCompatibilityMajor: strconv.Itoa(least.Major), MinCompatibilityMinor: strconv.Itoa(least.Minor),
		GitCommit: built.Commit, GitTreeState: state, BuildDate: built.Date,
		GoVersion: runtime.Version(), Compiler: runtime.Compiler, Platform: runtime.GOOS + "/" + runtime.GOARCH,
	}
}

func versionPath(v version.Info) fixed {
	body, err := json.MarshalIndent(v, "", "  ")
	if err != nil { // a struct of strings always encodes
		body = []byte("{}")
	}
	return fixed{"/version": {Code: http.StatusOK, ContentType: "application/json", Body: body}}
}

// metricsPaths serves /metrics and /metrics/slis.
type metricsPaths struct{ m *metrics.Metrics }

// Serve implements api.Documents.
func (m metricsPaths) Serve(_ context.Context, r *api.Request, _ *catalog.Snapshot) *reply.Response {
	render := m.m.Render
	switch {
	case r.Method != http.MethodGet:
		return nil
	case r.Path == "/metrics/slis":
		render = m.m.SLIs.Render
	case r.Path != "/metrics":
		return nil
	}
	body, err := render()
	if err != nil {
		return &reply.Response{Code: http.StatusInternalServerError, ContentType: "text/plain; charset=utf-8", Body: []byte(err.Error() + "\n")}
	}
	return &reply.Response{Code: http.StatusOK, ContentType: metrics.ContentType, Body: body}
}

// rootPaths lists where a reader can go from here.
type rootPaths struct {
	kinds  fixed
	others func() *discovery.Others // nil for nothing
}

// Serve implements api.Documents.
func (p rootPaths) Serve(_ context.Context, r *api.Request, s *catalog.Snapshot) *reply.Response {
	if r.Path != "/" || r.Method != http.MethodGet {
		return nil
	}
	paths := []string{"/api", "/api/v1", "/apis"}
	seen := map[string]bool{}
	list := func(group, version string) {
		for _, p := range []string{"/apis/" + group, "/apis/" + group + "/" + version} {
			if group != "" && !seen[p] {
				seen[p] = true
				paths = append(paths, p)
			}
		}
	}
	for _, d := range s.Definitions {
		for _, v := range d.Versions {
			if v.Served {
				list(d.GVK(v.Name).Group, v.Name)
			}
		}
	}
	if p.others != nil {
		for _, o := range *p.others() {
			list(o.Group, o.Version)
		}
	}
	paths = append(slices.AppendSeq(paths, maps.Keys(p.kinds)), "/healthz", "/livez", "/metrics", "/metrics/slis", "/openapi/v2", "/openapi/v3", "/readyz", "/version")
	slices.Sort(paths)
	body, err := json.MarshalIndent(map[string][]string{"paths": paths}, "", "  ")
	if err != nil {
		return nil
	}
	return &reply.Response{Code: http.StatusOK, ContentType: "application/json", Body: body}
}
