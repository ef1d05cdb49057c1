package api

import (
	"slices"
	"testing"

	"github.com/wasmgate/wasmgate/gateway/api/reply"
)

func TestConnections(t *testing.T) {
	w := newWorld(t)
	for _, method := range []string{"GET", "POST"} {
		got := w.do(method, widgets+"/one/shell?command=a&command=b", "").want(200, `shell to one at "" with "command=a&command=b" by admin`)
		if h := got.Headers; !slices.Contains(h, reply.Header{Name: "Warning", Value: `299 - "connected"`}) {
			t.Errorf("%v", h)
		}
	}
	for _, method := range []string{"PUT", "PATCH", "DELETE"} {
		w.do(method, widgets+"/one/shell", "").want(405, "")
	}
	w.do("GET", widgets+"/one/shell/below", "").want(404, "")
	w.do("GET", widgets+"/none/shell", "").want(404, "NotFound")
	w.do("GET", widgets+"/one/shell?dryRun=All", "").want(400, "dryRun is not supported")
	w.do("GET", widgets+"/one/shell?dryRun=", "").want(400, "dryRun is not supported")
	w.do("GET", widgets+"/one/shell?a=%zz", "").want(400, "")
	w.do("GET", widgets+"/one/shell", "", "Authorization: Bearer bob").want(403, "")
	for _, method := range []string{"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"} {
		w.do(method, widgets+"/one/proxy", "{").want(200, `proxy to one at "" with "" by admin`)
		w.do(method, widgets+"/one/proxy/", "{").want(200, `proxy to one at "/" with "" by admin`)
		w.do(method, widgets+"/one/proxy/a//b?path=c", "{").want(200, `proxy to one at "/a//b" with "path=c" by admin`)
		w.do(method, widgets+"/one/proxy/a/", "{").want(200, `proxy to one at "/a/" with "" by admin`)
	}
}
