package api

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"github.com/wasmgate/wasmgate/gateway/api/reply"
	"github.com/wasmgate/wasmgate/gateway/view/run"
)

// gzipLeast is the longest reply that is not worth compressing.
const gzipLeast = 128 << 10

// gzip tells that the client takes replies compressed so.
func (r *Request) gzip() bool {
	if r.uncompressed {
		return false
	}
	for part := range strings.SplitSeq(r.AcceptEncoding, ",") {
		name, params, _ := strings.Cut(part, ";")
		if strings.TrimSpace(name) != "gzip" {
			continue
		}
		weight, given := strings.CutPrefix(strings.TrimSpace(params), "q=")
		q, err := strconv.ParseFloat(weight, 64)
		return !given || err != nil || q > 0
	}
	return false
}

func gzipHeaders() []reply.Header {
	return []reply.Header{{Name: "Content-Encoding", Value: "gzip"}, {Name: "Vary", Value: "Accept-Encoding"}}
}

// compress compresses a large reply that is in memory, for a client that takes
// it so. Lists are compressed where they are made, by what is remembered.
// Documents with an Etag are sent as they are, as kube-apiserver does: clients
// keep them.
func compress(r *Request, resp *reply.Response) {
	tagged := func(h reply.Header) bool { return h.Name == "Etag" }
	if len(resp.Body) <= gzipLeast || !r.gzip() || slices.ContainsFunc(resp.Headers, tagged) {
		return
	}
	var body run.Body
	body.Add(run.Compress(resp.Body))
	var out bytes.Buffer
	out.Grow(body.Length())
	if body.Write(&out) != nil { // a buffer takes everything
		return
	}
	resp.Body = out.Bytes()
	resp.Headers = append(resp.Headers, gzipHeaders()...)
}
