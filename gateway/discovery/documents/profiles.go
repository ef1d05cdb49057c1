package documents

import (
	"bytes"
	"context"
	"net/http"
	"net/http/pprof"
	"net/url"
	runtimepprof "runtime/pprof"
	"strconv"
	"strings"
	"time"

	"github.com/wasmgate/wasmgate/gateway/api"
	"github.com/wasmgate/wasmgate/gateway/api/reply"
	"github.com/wasmgate/wasmgate/gateway/catalog"
)

// profilePaths serves /debug/pprof, in the form that `go tool pprof` reads.
// Only those who may do everything get this far.
type profilePaths struct{ on bool }

const (
	profileRoot = "/debug/pprof/"
	// maxProfile is the longest CPU profile, below the request timeout.
	maxProfile = 55 * time.Second
)

// Serve implements api.Documents.
func (p profilePaths) Serve(ctx context.Context, r *api.Request, _ *catalog.Snapshot) *reply.Response {
	name, ok := strings.CutPrefix(r.Path, profileRoot)
	switch {
	case !p.on || r.Method != http.MethodGet:
		return nil
	case r.Path+"/" == profileRoot:
		return &reply.Response{Code: http.StatusMovedPermanently, ContentType: "text/plain; charset=utf-8", Headers: []reply.Header{{Name: "Location", Value: profileRoot}}}
	case !ok:
		return nil
	case name == "profile":
		return processor(ctx, r)
	case name == "cmdline":
		return written(ctx, r, pprof.Cmdline)
	case name == "trace":
		return written(ctx, r, pprof.Trace)
	case name == "" || runtimepprof.Lookup(name) != nil:
		return written(ctx, r, pprof.Index)
	}
	return nil
}

// processor is where the processor's time goes for a while. The request's time
// bounds it, and what there is by then is sent.
func processor(ctx context.Context, r *api.Request) *reply.Response {
	b, ctx := newProfile(ctx, r)
	defer b.end()
	if err := runtimepprof.StartCPUProfile(b); err != nil {
		return &reply.Response{Code: http.StatusConflict, ContentType: "text/plain; charset=utf-8", Body: []byte(err.Error() + "\n")}
	}
	select {
	case <-time.After(profileTime(r.Query)):
	case <-ctx.Done():
	}
	runtimepprof.StopCPUProfile()
	if b.refused != nil {
		return reply.Error(b.refused)
	}
	return &reply.Response{Code: http.StatusOK, ContentType: "application/octet-stream", Body: b.body.Bytes()}
}

// written is what one of Go's own handlers answers.
func written(ctx context.Context, r *api.Request, handler http.HandlerFunc) *reply.Response {
	w, ctx := newProfile(ctx, r)
	defer w.end()
	handler(w, (&http.Request{Method: r.Method, URL: &url.URL{Path: r.Path, RawQuery: r.Query}}).WithContext(ctx))
	if w.refused != nil {
		return reply.Error(w.refused)
	}
	out := &reply.Response{Code: w.code, ContentType: w.header.Get("Content-Type"), Body: w.body.Bytes()}
	for _, name := range []string{"Content-Disposition", "X-Content-Type-Options"} {
		if value := w.header.Get(name); value != "" {
			out.Headers = append(out.Headers, reply.Header{Name: name, Value: value})
		}
	}
	return out
}

// profile implements [http.ResponseWriter].
type profile struct {
	header http.Header
	code   int
	body   bytes.Buffer
	// memory is where that of the body comes from, of which it has had room for so many
	// bytes. refused is that there is no more, which ends the profile.
	memory  api.Memory
	room    int
	refused error
	end     context.CancelFunc
}

// newProfile is a profile that is wanted until its context ends.
func newProfile(ctx context.Context, r *api.Request) (*profile, context.Context) {
	ctx, end := context.WithCancel(ctx)
	return &profile{header: http.Header{}, code: http.StatusOK, memory: r.Memory, end: end}, ctx
}

// Header implements [http.ResponseWriter].
func (p *profile) Header() http.Header { return p.header }

// WriteHeader implements [http.ResponseWriter].
func (p *profile) WriteHeader(code int) { p.code = code }

// atOnce has nobody wait: what comes meanwhile would be kept by the runtime.
var atOnce = func() context.Context {
	over, end := context.WithCancel(context.Background())
	end()
	return over
}()

// Write implements [http.ResponseWriter].
func (p *profile) Write(b []byte) (int, error) {
	if p.refused != nil {
		return 0, p.refused
	}
	if n := p.body.Len() + len(b); p.memory != nil && n > p.room {
		p.room = 2 * n // as the memory doubles
		if p.refused = p.memory.Room(atOnce, p.room); p.refused != nil {
			p.body = bytes.Buffer{}
			p.end()
			return 0, p.refused
		}
	}
	return p.body.Write(b)
}

func profileTime(query string) time.Duration {
	values, err := url.ParseQuery(query)
	if err != nil {
		return maxProfile
	}
	n, err := strconv.Atoi(values.Get("seconds"))
	if err != nil || n <= 0 {
		n = 30
	}
	return min(time.Duration(n)*time.Second, maxProfile)
}
