package form

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

// Gzip reports whether a client with an Accept-Encoding takes replies compressed so.
func Gzip(accepts string) bool {
	for part := range strings.SplitSeq(accepts, ",") {
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

// Compress compresses a large reply that is in memory, for a client whose
// Accept-Encoding takes it so. Lists are compressed where they are made, by what is remembered.
// Documents with an Etag are sent as they are, as kube-apiserver does: clients
// keep them.
func Compress(resp *reply.Response, accepts string) {
	tagged := func(h reply.Header) bool { return h.Name == "Etag" }
	if len(resp.Body) <= gzipLeast || !Gzip(accepts) || slices.ContainsFunc(resp.Headers, tagged) {
		return
	}
	var body run.Body
	body.Add(run.Compress(resp.Body))
	var out bytes.Buffer
	out.Grow(body.Length())
	if body.Write(&out) != nil { // a buffer takes everything
		return
	}
	resp.Body, resp.Kept = out.Bytes(), false
	resp.Headers = append(resp.Headers, gzipHeaders()...)
}
