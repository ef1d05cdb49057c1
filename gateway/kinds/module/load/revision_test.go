package load_test

import (
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/gateway/controller/controllertest"
)

func TestModule_problemsOfTheSpec(t *testing.T) {
	for name, test := range map[string]struct {
		spec    map[string]any
		reason  string
		message string
	}{
		"no base64": {map[string]any{"source": map[string]any{"inline": "???"}}, "SourceInvalid", "spec.source.inline"},
		"two sources": {map[string]any{"source": map[string]any{"inline": "AA==", "upload": map[string]any{}}},
			"SourceInvalid", "exactly one"},
		"limits": {map[string]any{"source": map[string]any{"inline": "AA=="}, "limits": map[string]any{"memory": "lots", "timeout": "soon"}},
			"LimitsInvalid", `spec.limits.timeout: "soon"`},
		"a configuration that cannot be kept": {map[string]any{"source": map[string]any{"inline": "AA=="}, "rollout": "Shadow", "config": strings.Repeat("x", 64<<10)},
			"ConfigInvalid", "spec.config: it has 65538 bytes; with spec.rollout: Shadow at most 65536 are allowed"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newModuleWorld()
			w.start(t)
			createModule(t, w, test.spec)
			obj := w.expect(t, "False "+test.reason, "False "+test.reason, "")
			if _, _, message := controllertest.Condition(obj, "Compiled"); !strings.Contains(message, test.message) {
				t.Error(message)
			}
		})
	}
}
