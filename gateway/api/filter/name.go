package filter

import (
	"context"
	"encoding/hex"
	"math/rand/v2"

	"github.com/wasmgate/wasmgate/gateway/api"
	"github.com/wasmgate/wasmgate/gateway/api/reply"
)

// auditHeader is where a client may name its request, and where every reply
// says its name.
const auditHeader = "Audit-Id"

// maxID is the longest name that is taken from a client, in bytes, as in
// kube-apiserver.
const maxID = 64

// name has a request bear a name, and its reply tell it.
func name(next api.Serve) api.Serve {
	return func(ctx context.Context, c *api.Call) *reply.Response {
		c.ID = requestID(c.ID)
		resp := next(ctx, c)
		resp.Headers = append(resp.Headers, reply.Header{Name: auditHeader, Value: c.ID})
		return resp
	}
}

// requestID is the name that the client gave the request, or a new one (a
// random UUID, RFC 9562) where it gave none that may be printed.
func requestID(given string) string {
	if given == "" || len(given) > maxID {
		return newID()
	}
	for _, c := range []byte(given) {
		if c <= ' ' || c > '~' {
			return newID()
		}
	}
	return given
}

// newID need only be unique, not secret.
func newID() string {
	var id [16]byte
	for i := range 2 {
		for j, n := 0, rand.Uint64(); j < 8; j, n = j+1, n>>8 {
			id[8*i+j] = byte(n)
		}
	}
	id[6], id[8] = id[6]&0x0f|0x40, id[8]&0x3f|0x80
	var out [36]byte
	hex.Encode(out[:8], id[:4])
	hex.Encode(out[9:13], id[4:6])
	hex.Encode(out[14:18], id[6:8])
	hex.Encode(out[19:23], id[8:10])
	hex.Encode(out[24:], id[10:])
	out[8], out[13], out[18], out[23] = '-', '-', '-', '-'
	return string(out[:])
}
