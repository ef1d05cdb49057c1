package metrics

import (
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/wasmgate/wasmgate/lifecycle"
)

// Classes are kube-apiserver's of the same metrics.
func TestClassesOfMetrics_VER19(t *testing.T) {
	m := New()
	m.Request("get", "", "v1", "pods", "", "resource").Done(Outcome{Code: 200, Took: 0})
	m.Feature("X", "BETA", true)
	m.PolicyCheck(false, "", "", "", "", 0)
	m.WatchEvents("", "v1", "pods").Add(1)
	m.Etcd("get", "", "pods").Observe(1)
	m.registry.MustRegister(prometheus.NewCounter(prometheus.CounterOpts{Name: "of_a_library", Help: "[BETA] Has a class."}))
	out := render(t, m)
	if !strings.Contains(out, "# HELP of_a_library [BETA] Has") {
		t.Error("a metric with a class has another one")
	}
	for name, class := range map[string]string{
		"apiserver_request_total": "STABLE", "apiserver_request_duration_seconds": "STABLE", "apiserver_current_inflight_requests": "STABLE",
		"kubernetes_feature_enabled": "BETA", "apiserver_validating_admission_policy_check_total": "BETA",
		"apiserver_watch_events_total": "ALPHA", "etcd_request_duration_seconds": "ALPHA", "wasmgate_conversion_objects_total": "ALPHA",
	} {
		if !strings.Contains(out, "# HELP "+name+" ["+class+"] ") {
			t.Errorf("%s is not %s", name, class)
		}
	}
	if !strings.Contains(out, "# HELP go_goroutines Number") {
		t.Error("metrics of Go's runtime have a class")
	}
}

// What is disabled nobody is shown.
func TestDisabledMetrics(t *testing.T) {
	m := New()
	Disable(m, []string{"wasmgate_conversion_objects_total", "no_such_metric"})
	if out := render(t, m); strings.Contains(out, "wasmgate_conversion_objects_total") || !strings.Contains(out, "wasmgate_conversion_cache_hits_total") {
		t.Error(out)
	}
}

// A deprecated metric says so and is shown for three releases, then only to who
// asks, and then it is gone.
func TestDeprecatedMetrics(t *testing.T) {
	const name, since = "apiserver_storage_objects", 34
	shown := func(minor int, showHidden bool) (help string, values bool, warned bool) {
		m := New()
		life := m.lives.table[name]
		life.Removed = lifecycle.Release{Major: 1, Minor: since + 4}
		m.lives.table = map[string]lifecycle.Life{name: life}
		if err := m.StoredObjects(func() []Objects { return []Objects{{Group: "apps", Resource: "deployments", Stored: 3}} }); err != nil {
			t.Fatal(err)
		}
		m.lives.table["apiserver_before_it"] = lifecycle.Life{Introduced: lifecycle.Release{Major: 1, Minor: 1}} // of which there is nothing to say
		warnings := m.Live(lifecycle.Release{Major: 1, Minor: minor}, showHidden)
		out := render(t, m)
		for line := range strings.Lines(out) {
			if rest, ok := strings.CutPrefix(line, "# HELP "+name+" "); ok {
				help = strings.TrimSpace(rest)
			}
		}
		wantLines(t, out, `apiserver_resource_objects{group="apps",resource="deployments"} 3`)
		return help, strings.Contains(out, name+`{resource="deployments.apps"} 3`), slices.Contains(warnings, "The metric "+name+" is deprecated from 1.34; use apiserver_resource_objects")
	}
	for _, test := range []struct {
		row                        string
		minor                      int
		showHidden, there, mention bool
	}{
		{"VER-20 before", since - 1, false, true, false},
		{"VER-20 deprecated", since, false, true, true},
		{"VER-20 two releases later", since + 2, false, true, true},
		{"VER-21 hidden", since + 3, false, false, false},
		{"VER-21 shown all the same", since + 3, true, true, true},
		{"VER-21 gone", since + 4, true, false, false},
	} {
		t.Run(test.row, func(t *testing.T) {
			help, values, warned := shown(test.minor, test.showHidden)
			if values != test.there || (help != "") != test.there || warned != test.mention {
				t.Errorf("help %q, values %t, a warning %t", help, values, warned)
			}
			if strings.HasPrefix(help, "[STABLE] (Deprecated from 1.34) ") != test.mention {
				t.Error(help)
			}
		})
	}
}
