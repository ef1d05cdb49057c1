package flowcontrol

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/url"

	"github.com/wasmgate/wasmgate/gateway/api"
	"github.com/wasmgate/wasmgate/gateway/api/reply"
	"github.com/wasmgate/wasmgate/gateway/catalog"
)

// dumps shows what flow control does, to who looks for a fault, as kube-apiserver does
// it.
type dumps struct{ now *InForce }

// Serve implements [api.Documents].
func (d dumps) Serve(_ context.Context, r *api.Request, _ *catalog.Snapshot) *reply.Response {
	if r.Method != http.MethodGet {
		return nil
	}
	var table io.WriterTo
	switch control := d.now.Control(); r.Path {
	case "/debug/api_priority_and_fairness/dump_priority_levels":
		table = control.DumpLevels()
	case "/debug/api_priority_and_fairness/dump_queues":
		table = control.DumpQueues()
	case "/debug/api_priority_and_fairness/dump_requests":
		query, err := url.ParseQuery(r.Query)
		table = control.DumpRequests(err == nil && query.Get("includeRequestDetails") != "")
	default:
		return nil
	}
	var text bytes.Buffer
	if _, err := table.WriteTo(&text); err != nil {
		return reply.Error(err)
	}
	return &reply.Response{Code: http.StatusOK, ContentType: "text/plain; charset=utf-8", Body: text.Bytes()}
}
