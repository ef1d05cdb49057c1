package documents

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/wasmgate/wasmgate/gateway/api"
	"github.com/wasmgate/wasmgate/gateway/api/form"
	"github.com/wasmgate/wasmgate/gateway/api/reply"
	"github.com/wasmgate/wasmgate/gateway/catalog"
	"github.com/wasmgate/wasmgate/gateway/discovery"
	"github.com/wasmgate/wasmgate/gateway/discovery/openapi"
)

// derived serves what follows from the definitions and the orders of their
// versions: discovery and OpenAPI. A change of either makes new documents, which
// are filled on first use.
type derived struct {
	ready  <-chan struct{}
	orders func() discovery.Order
	others func() *discovery.Others
	report func(error)

	mu        sync.Mutex
	snapshot  *catalog.Snapshot
	order     discovery.Order
	other     *discovery.Others
	discovery *discovery.Documents
	openapi   *openapi.Documents
	given     given
}

// noOthers are what other servers serve where there are none.
var noOthers discovery.Others

func (d *derived) of(s *catalog.Snapshot) (*discovery.Documents, *openapi.Documents, given) {
	d.mu.Lock()
	defer d.mu.Unlock()
	order, other := d.orders(), &noOthers
	if d.others != nil {
		other = d.others()
	}
	if d.discovery != nil && s.Serial <= d.snapshot.Serial && order == d.order && other == d.other {
		return d.discovery, d.openapi, d.given
	}
	if d.discovery == nil || s.Serial > d.snapshot.Serial {
		d.snapshot = s
	}
	if other != d.other {
		d.given = describe(other, d.given, d.report)
	}
	d.order, d.other = order, other
	d.discovery = discovery.New(d.snapshot.Definitions, discovery.Options{Order: order.Apply, Others: *other, Report: d.report})
	d.openapi = openapi.New(d.snapshot.Definitions, d.openapi, openapi.Options{Order: order.Apply, Foreign: foreign(*other), Report: d.report})
	return d.discovery, d.openapi, d.given
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
func (d *derived) Serve(_ context.Context, r *api.Request, s *catalog.Snapshot) *reply.Response {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		return nil
	}
	if !d.isReady() && (strings.HasPrefix(r.Path, "/api") || strings.HasPrefix(r.Path, "/openapi")) {
		return reply.Unavailable() // half the groups would look like all of them
	}
	disco, open, others := d.of(s)
	path := strings.TrimSuffix(r.Path, "/")
	var body openapi.Body
	one, contentType, etag, ok := disco.Lookup(path, r.Accept)
	if ok {
		body = openapi.Body{one}
	} else if body, contentType, etag, ok = lookup(open, others, path, r.Accept); !ok {
		return nil
	}
	if contentType == "" {
		return form.NotAcceptable()
	}
	if body.Length() == 0 {
		return reply.Failure(http.StatusInternalServerError, "the document could not be made; the log says why")
	}
	resp := &reply.Response{Code: http.StatusOK, ContentType: contentType}
	if len(body) == 1 {
		resp.Body = body[0]
	} else {
		resp.Write, resp.Length = body.Write, body.Length()
	}
	if etag != "" {
		resp.Headers = []reply.Header{{Name: "Etag", Value: etag}, {Name: "Vary", Value: "Accept"}}
		if r.IfNoneMatch == etag {
			resp.Code, resp.Body, resp.Write = http.StatusNotModified, nil, nil
		}
		pin(r, path, strings.Trim(etag, `"`), resp)
	}
	return resp
}

// lookup finds a description, of what other servers serve, too.
func lookup(open *openapi.Documents, others given, path, accept string) (body openapi.Body, contentType, etag string, ok bool) {
	if g := others[path]; g != nil {
		body, contentType, etag = g.Lookup(accept)
		return body, contentType, etag, true
	}
	body, contentType, etag, ok = open.Lookup(path, accept)
	if ok && path == openapiV3 && len(others) > 0 {
		return openapi.Body{indexed(others, body.Joined())}, contentType, "", true
	}
	return body, contentType, etag, ok
}

// pin answers requests that name the document's hash: the right one may be
// kept for ever, any other is told the right one.
func pin(r *api.Request, path, hash string, resp *reply.Response) {
	values, err := url.ParseQuery(r.Query)
	if err != nil || !values.Has("hash") || !strings.HasPrefix(path, "/openapi/v3/") {
		return
	}
	if values.Get("hash") == hash {
		resp.Headers = append(resp.Headers, reply.Header{Name: "Cache-Control", Value: "public, immutable"},
			reply.Header{Name: "Expires", Value: time.Now().Add(365 * 24 * time.Hour).UTC().Format(http.TimeFormat)})
		return
	}
	resp.Code, resp.Body = http.StatusMovedPermanently, nil
	resp.Headers = append(resp.Headers, reply.Header{Name: "Location", Value: path + "?hash=" + url.QueryEscape(hash)})
}
