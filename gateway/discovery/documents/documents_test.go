package documents

import (
	"net/http"
	"reflect"
	"testing"

	"github.com/wasmgate/wasmgate/gateway/api"
	"github.com/wasmgate/wasmgate/gateway/api/reply"
)

// Reads of documents before the definitions are known are refused: what is
// missing would look removed.
func TestDocuments_BeforeTheDefinitionsAreRead(t *testing.T) {
	d := &derived{ready: make(chan struct{})}
	for _, path := range []string{"/api", "/apis", "/apis/example.com/v1", "/openapi/v2", "/openapi/v3"} {
		got := d.Serve(t.Context(), &api.Request{Method: "GET", Path: path}, nil)
		if got == nil || got.Code != http.StatusServiceUnavailable || !reflect.DeepEqual(got.Headers, []reply.Header{{Name: "Retry-After", Value: "1"}}) {
			t.Errorf("%s: %+v", path, got)
		}
	}
}
