package policy

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/sdk"
)

func TestPolicy_WP02(t *testing.T) {
	for name, c := range map[string]struct{ object, denied, patch, warning string }{
		"no label":        {`{"kind":"ConfigMap","metadata":{"name":"a"}}`, `ConfigMap a needs a label "team"`, "", ""},
		"a team":          {`{"kind":"ConfigMap","metadata":{"name":"a","labels":{"team":"x"}}}`, "", `[{"op":"add","path":"/metadata/labels/tier","value":"standard"}]`, ""},
		"a team and tier": {`{"kind":"ConfigMap","metadata":{"name":"a","labels":{"team":"x","tier":"y"}}}`, "", "", ""},
		"nobody":          {`{"kind":"ConfigMap","metadata":{"name":"a","labels":{"team":"none","tier":"y"}}}`, "", "", "nobody is responsible for a"},
		"a deletion":      {`null`, "", "", ""},
	} {
		var got struct {
			Response struct {
				Allowed  bool
				Patch    string
				Warnings []string
				Status   struct{ Message string }
			}
		}
		reply := sdk.HandleAdmission([]byte(`{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"u","operation":"CREATE","object":` + c.object + `}}`))
		if err := json.Unmarshal(reply, &got); err != nil {
			t.Fatal(err)
		}
		r := got.Response
		patch, err := base64.StdEncoding.DecodeString(r.Patch)
		if err != nil || r.Allowed != (c.denied == "") || r.Status.Message != c.denied || string(patch) != c.patch || strings.Join(r.Warnings, ",") != c.warning {
			t.Errorf("%s: %s, patch %s", name, reply, patch)
		}
	}
}
