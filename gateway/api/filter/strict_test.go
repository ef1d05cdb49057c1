package filter

import (
	"slices"
	"testing"

	"github.com/wasmgate/wasmgate/gateway/api/reply"
)

func TestStrictTransportSecurity(t *testing.T) {
	for header, want := range map[string][]reply.Header{
		"":                             nil,
		"max-age=1; includeSubDomains": {{Name: "Strict-Transport-Security", Value: "max-age=1; includeSubDomains"}},
	} {
		resp, passed := passing(t, strict(header), about("list"), &reply.Response{Code: 200})
		if !passed || !slices.Equal(resp.Headers, want) {
			t.Errorf("%q: %v", header, resp.Headers)
		}
	}
}
