package module_test

import (
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/gateway/kinds/module"
	"github.com/wasmgate/wasmgate/plugins"
)

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
