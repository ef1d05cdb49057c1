package module_test

import (
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/gateway/controller/controllertest"
	"github.com/wasmgate/wasmgate/gateway/kinds/module"
	"github.com/wasmgate/wasmgate/plugins"
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

func TestParseLimits(t *testing.T) {
	for _, test := range []struct {
		limits map[string]any
		want   plugins.Limits
		errs   []string
	}{
		{limits: nil},
		{limits: map[string]any{"memory": "1.5Gi"}, want: plugins.Limits{MemoryBytes: 3 << 29}},
		{limits: map[string]any{"memory": int64(65536), "responseSize": "1k"}, want: plugins.Limits{MemoryBytes: 65536, ResponseBytes: 1000}},
		{limits: map[string]any{"fuel": float64(5), "timeout": "1m1s"}, want: plugins.Limits{Fuel: 5, Timeout: 61e9}},
		{limits: map[string]any{"memory": "0", "responseSize": "0.5", "timeout": "-1s", "fuel": 1.5},
			errs: []string{"limits.memory", "limits.responseSize", "limits.timeout", "limits.fuel"}},
		{limits: map[string]any{"memory": map[string]any{}}, errs: []string{"limits.memory"}},
		{limits: map[string]any{"memory": "99999999999999999999Gi"}, errs: []string{"limits.memory"}},
	} {
		got, err := module.ParseLimits(test.limits)
		if got != test.want {
			t.Errorf("%v: %+v", test.limits, got)
		}
		if (err != nil) != (len(test.errs) > 0) {
			t.Errorf("%v: %v", test.limits, err)
		}
		for _, want := range test.errs {
			if err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("%v: %v lacks %q", test.limits, err, want)
			}
		}
	}
}
