package registry_test

import (
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/plugins"
	"github.com/wasmgate/wasmgate/plugins/plugintest"
)

// A module built with the SDK is sent the review that a webhook gets, and
// answers it.
func TestAModuleJudgesWrites_WP02(t *testing.T) {
	r := newRegistry(t)
	set(t, r, "policy", plugintest.Build(t, plugintest.Policy))
	for object, want := range map[string]string{
		`{"kind":"ConfigMap","metadata":{"name":"a"}}`:                                      `"allowed":false,"status":{"code":403,"reason":"Forbidden","message":"ConfigMap a needs a label \"team\""}`,
		`{"kind":"ConfigMap","metadata":{"name":"a","labels":{"team":"none"}}}`:             `"patchType":"JSONPatch"`,
		`{"kind":"ConfigMap","metadata":{"name":"a","labels":{"team":"none","tier":"b"}}}`:  `"allowed":true,"warnings":["nobody is responsible for a"]`,
		`{"kind":"ConfigMap","metadata":{"name":"a","labels":{"team":"none","tier":"b"}}} `: `"uid":"the-uid"`,
	} {
		review := `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"the-uid","operation":"CREATE","object":` + object + `}}`
		var got string
		err := r.Call(t.Context(), "policy", plugins.Admit, []byte(review), func(reply []byte) error {
			got = string(reply)
			return nil
		})
		if err != nil || !strings.Contains(got, want) {
			t.Errorf("%s: %s, %v; want %s", object, got, err, want)
		}
	}
}
