package documents

import (
	"bytes"
	"context"
	"net/http"
	"net/url"
	"runtime/pprof"
	"strconv"
	"strings"
	"time"

	"github.com/wasmgate/wasmgate/gateway/api"
	"github.com/wasmgate/wasmgate/gateway/catalog"
)

// profilePaths serves /debug/pprof, in the form that `go tool pprof` reads.
// Only those who may do everything get this far.
type profilePaths struct{}

const (
	profileRoot = "/debug/pprof/"
	// maxProfile is the longest CPU profile, below the request timeout.
	maxProfile = 55 * time.Second
)

// Serve implements api.Documents.
func (profilePaths) Serve(ctx context.Context, r *api.Request, _ *catalog.Snapshot) *api.Response {
	name, ok := strings.CutPrefix(r.Path, profileRoot)
	if !ok || r.Method != http.MethodGet {
		return nil
	}
	var b bytes.Buffer
	if name == "profile" {
		if err := pprof.StartCPUProfile(&b); err != nil {
			return &api.Response{Code: http.StatusConflict, ContentType: "text/plain; charset=utf-8", Body: []byte(err.Error() + "\n")}
		}
		select {
		case <-time.After(profileTime(r.Query)):
		case <-ctx.Done():
		}
		pprof.StopCPUProfile()
		return &api.Response{Code: http.StatusOK, ContentType: "application/octet-stream", Body: b.Bytes()}
	}
	p := pprof.Lookup(name)
	if p == nil {
		return nil
	}
	if err := p.WriteTo(&b, 0); err != nil {
		return &api.Response{Code: http.StatusInternalServerError, ContentType: "text/plain; charset=utf-8", Body: []byte(err.Error() + "\n")}
	}
	return &api.Response{Code: http.StatusOK, ContentType: "application/octet-stream", Body: b.Bytes()}
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
