package priority

import (
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/sdk"
)

func TestTheNewestReleaseComesFirst_WP03(t *testing.T) {
	for in, want := range map[string]string{
		"r2024-10 r2025-04":                          "r2025-04 r2024-10",
		"v2 v1 r2024-10 r2025-04":                    "r2025-04 r2024-10 v2 v1",
		"v1 v1beta1 foo":                             "v1 v1beta1 foo",
		"r2024-1 r20245-10 s2024-10 r2o24-10 r-2024": "r2024-1 r20245-10 s2024-10 r2o24-10 r-2024",
		"v1": "v1",
	} {
		reply := sdk.HandlePriority([]byte(`{"apiVersion":"wasmgate.dev/v1","kind":"VersionPriorityReview","request":{"uid":"u","group":"example.com","versions":["` +
			strings.ReplaceAll(in, " ", `","`) + `"]}}`))
		if want := `{"apiVersion":"wasmgate.dev/v1","kind":"VersionPriorityReview","response":{"uid":"u","versions":["` + strings.ReplaceAll(want, " ", `","`) + `"]}}`; string(reply) != want {
			t.Errorf("%s: %s, want %s", in, reply, want)
		}
	}
}
