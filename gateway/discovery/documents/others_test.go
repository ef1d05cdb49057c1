package documents

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/gateway/discovery"
)

// The index of descriptions has those of other servers instead of its own of the same
// path, but for who describes nothing, and stays what it is where it is no index.
func TestDescriptionsOfOthers(t *testing.T) {
	others := &discovery.Others{
		{GroupVersion: schema.GroupVersion{Group: "a.example.com", Version: "v1"}, OpenAPI: []byte(`{"openapi":"3.0.0"}`), OpenAPIHash: "A&B"},
		{GroupVersion: schema.GroupVersion{Group: "b.example.com", Version: "v1"}},
	}
	for body, want := range map[string]string{
		`{"paths":{"apis/a.example.com/v1":{"serverRelativeURL":"old"},"apis/b.example.com/v1":{"serverRelativeURL":"old"},"apis/c":{"serverRelativeURL":"c"}}}`: `{"paths":{"apis/a.example.com/v1":{"serverRelativeURL":"/openapi/v3/apis/a.example.com/v1?hash=A%26B"},"apis/c":{"serverRelativeURL":"c"}}}`,
		`{}`:   `{}`,
		`none`: `none`,
	} {
		if got := string(indexed(others, []byte(body))); got != want {
			t.Errorf("%s becomes\n%s, want\n%s", body, got, want)
		}
	}
	body, etag, ok := described(others, "/openapi/v3/apis/a.example.com/v1")
	if !ok || string(body) != `{"openapi":"3.0.0"}` || etag != `"A&B"` {
		t.Errorf("%s, %s, %t", body, etag, ok)
	}
	for _, path := range []string{"/openapi/v3/apis/b.example.com/v1", "/openapi/v3/apis/c"} {
		if _, _, ok := described(others, path); ok {
			t.Errorf("%s is described", path)
		}
	}
}
