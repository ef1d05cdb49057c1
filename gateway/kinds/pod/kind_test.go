package pod

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/admission/order"
	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/gateway/admitting/guards"
	"github.com/wasmgate/wasmgate/gateway/kinds"
	"github.com/wasmgate/wasmgate/gateway/metrics"
	"github.com/wasmgate/wasmgate/gateway/options"
)

// A configuration that a plugin about pods cannot use is told with the plugin's name; none is
// as good as one that can be used.
func TestConfigurationsOfPlugins(t *testing.T) {
	e := world(t)
	config := kinds.Config{Options: options.Default(), Metrics: metrics.New(), Definitions: []*crd.Definition{{Plural: "pods"}}}
	for _, plugin := range []string{"", order.PodSecurity, order.PodNodeSelector, order.PodTolerationRestriction} {
		c := config
		if plugin != "" {
			path := filepath.Join(t.TempDir(), "admission.yaml")
			text := fmt.Sprintf("{apiVersion: apiserver.config.k8s.io/v1, kind: AdmissionConfiguration, plugins: [{name: %s, configuration: {apiVersion: example.com/v1, kind: Odd}}]}", plugin)
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			var err error
			if c.Guards, err = guards.New(t.Context(), guards.Config{Path: path, Admits: func(string) bool { return true }}); err != nil {
				t.Fatal(err)
			}
		}
		all, err := Kind(c).Admission(e.Verbs, nil)
		if plugin == "" && (err != nil || len(all) < 10) || plugin != "" && (err == nil || !strings.Contains(err.Error(), plugin)) {
			t.Errorf("%q: %d plugins, %v", plugin, len(all), err)
		}
	}
	if Kind(kinds.Config{}).Serve != nil {
		t.Error("without pods they are served")
	}
}
