package metrics

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"
)

func render(t *testing.T, m *Metrics) string {
	t.Helper()
	out, err := m.Render()
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func wantLines(t *testing.T, out string, lines ...string) {
	t.Helper()
	for _, want := range lines {
		if !strings.Contains(out, want+"\n") {
			t.Errorf("missing %s", want)
		}
	}
	if t.Failed() {
		for line := range strings.Lines(out) {
			if !strings.HasPrefix(line, "go_") && !strings.HasPrefix(line, "#") {
				t.Log(strings.TrimSpace(line))
			}
		}
	}
}

func TestRequests_HaveKubeAPIServersNamesAndLabels(t *testing.T) {
	m := New()
	get := m.Request("get", "example.com", "v1", "crontabs", "", "resource")
	get.Done(Outcome{Code: 200, Took: 3 * time.Millisecond})
	get.Done(Outcome{Code: 200, Took: 30 * time.Millisecond})
	get.Done(Outcome{Code: 404, Took: time.Millisecond})
	get.Done(Outcome{Code: 418, Took: time.Millisecond})
	m.Request("create", "", "v1", "configmaps", "", "resource").DryRun().Done(Outcome{Code: 201, Took: time.Millisecond})
	watch := m.Request("watch", "", "v1", "secrets", "", "namespace")
	watch.WatchStarted()
	watch.WatchStarted()
	watch.WatchDone(Outcome{Code: 200})
	m.WatchEvents("", "v1", "secrets").Add(7)
	m.Inflight(true).Add(1)
	m.Etcd("get", "example.com", "crontabs").Observe(0.001)

	const crontabs = `component="apiserver",dry_run="",group="example.com",resource="crontabs",scope="resource",subresource="",verb="GET",version="v1"`
	wantLines(t, render(t, m),
		`apiserver_request_total{code="200",`+crontabs+`} 2`,
		`apiserver_request_total{code="404",`+crontabs+`} 1`,
		`apiserver_request_total{code="418",`+crontabs+`} 1`,
		`apiserver_request_duration_seconds_bucket{`+crontabs+`,le="0.005"} 3`,
		`apiserver_request_duration_seconds_bucket{`+crontabs+`,le="60"} 4`,
		`apiserver_request_duration_seconds_count{`+crontabs+`} 4`,
		`apiserver_request_total{code="201",component="apiserver",dry_run="All",group="",resource="configmaps",scope="resource",subresource="",verb="POST",version="v1"} 1`,
		`apiserver_longrunning_requests{component="apiserver",group="",resource="secrets",scope="namespace",subresource="",verb="WATCH",version="v1"} 1`,
		`apiserver_request_total{code="200",component="apiserver",dry_run="",group="",resource="secrets",scope="namespace",subresource="",verb="WATCH",version="v1"} 1`,
		`apiserver_watch_events_total{group="",resource="secrets",version="v1"} 7`,
		`apiserver_current_inflight_requests{request_kind="mutating"} 1`,
		`apiserver_current_inflight_requests{request_kind="readOnly"} 0`,
		`etcd_request_duration_seconds_count{group="example.com",operation="get",resource="crontabs"} 1`,
	)
}

func TestOwnMetrics(t *testing.T) {
	m := New()
	m.ConversionObjects.Add(3)
	m.ConversionCacheHits.Add(5)
	m.Plugins.Call("crontab", "wasmgate_convert", "ok", 0.0002)
	m.Plugins.Call("gone", "wasmgate_convert", "Trap", 0.0002)
	m.Plugins.Usage("crontab", "wasmgate_convert", 70, 1<<16)
	m.Plugins.Usage("crontab", "wasmgate_convert", 50, 1<<17)
	m.Plugins.Usage("crontab", "wasmgate_admit", -1, 1<<17) // nothing panics
	m.Plugins.Usage("gone", "wasmgate_convert", 50, 1<<17)
	m.Plugins.Discard("crontab", "wasmgate_convert", "Trap")
	m.Plugins.Discard("gone", "wasmgate_convert", "Trap")
	m.Plugins.Forget("gone")
	m.MigrationProgress("example.com", "crontabs", 40, 100)
	m.MigrationFailures("example.com", "crontabs").Add(2)
	if err := m.GaugeFunc("wasmgate_cache_objects", "Objects in the watch cache.", func() float64 { return 11 }); err != nil {
		t.Fatal(err)
	}
	if err := m.GaugeFunc("wasmgate_cache_objects", "again", func() float64 { return 0 }); err == nil {
		t.Error("a name was added twice")
	}
	out := render(t, m)
	wantLines(t, out,
		`wasmgate_conversion_objects_total 3`,
		`wasmgate_conversion_cache_hits_total 5`,
		`wasmgate_plugin_calls_total{hook="wasmgate_convert",module="crontab",result="ok"} 1`,
		`wasmgate_plugin_call_seconds_bucket{hook="wasmgate_convert",module="crontab",le="0.00025"} 1`,
		`wasmgate_plugin_fuel_total{hook="wasmgate_convert",module="crontab"} 120`,
		`wasmgate_plugin_call_fuel{hook="wasmgate_convert",module="crontab"} 50`,
		`wasmgate_plugin_memory_bytes{module="crontab"} 131072`,
		`wasmgate_plugin_discards_total{hook="wasmgate_convert",module="crontab",reason="Trap"} 1`,
		`wasmgate_migration_objects_done{group="example.com",resource="crontabs"} 40`,
		`wasmgate_migration_objects_total{group="example.com",resource="crontabs"} 100`,
		`wasmgate_migration_failures_total{group="example.com",resource="crontabs"} 2`,
		`wasmgate_cache_objects 11`,
	)
	if strings.Contains(out, "gone") {
		t.Error("a deleted module is still shown")
	}
	if !strings.Contains(out, "process_cpu_seconds_total") || !strings.Contains(out, "go_goroutines") {
		t.Error("the process and runtime metrics are missing")
	}
}

func TestRequest_BoundsItsLabels(t *testing.T) {
	m := New()
	first := m.Request("get", "", "v1", "pods", "", "resource")
	if again := m.Request("get", "", "v1", "pods", "", "resource"); first != again {
		t.Error("asking again gave another handle")
	}
	full := make(map[requestKey]*RequestHandle, maxHandles)
	for i := range maxHandles {
		full[requestKey{resource: fmt.Sprint(i)}] = nil
	}
	m.handles = full
	a := m.Request("get", "", "v1", "one-too-many", "", "resource")
	if b := m.Request("get", "", "v1", "two-too-many", "", "resource"); a != b || a.key.resource != "other" {
		t.Errorf("%+v %+v", a.key, b.key)
	}
	n := New()
	n.Request("brew", "", "", "", "", "").Done(Outcome{Code: 405, Took: 0})
	brew, malt := n.Request("brew", "", "", "", "", ""), n.Request("malt", "", "", "", "", "")
	if brew != malt {
		t.Error("each invented method has a handle")
	}
	if out := render(t, n); strings.Contains(out, "brew") || !strings.Contains(out, `verb="other"`) {
		t.Error("an invented method became a label")
	}
}

func TestRequest_KeepsItsOwnStrings(t *testing.T) {
	m := New()
	reused := []byte("configmaps")
	h := m.Request("get", "", "v1", unsafe.String(&reused[0], len(reused)), "", "resource")
	copy(reused, "xxxxxxxxxx")
	if h.key.resource != "configmaps" {
		t.Errorf("the handle's resource became %q", h.key.resource)
	}
}

func TestRequest_Concurrent(t *testing.T) {
	m := New()
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 200 {
				m.Request("list", "g", "v1", fmt.Sprint("r", (g+i)%20), "", "cluster").Done(Outcome{Code: 200, Took: time.Millisecond})
			}
		})
	}
	wg.Wait()
	total := 0.0
	families, err := m.registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() == "apiserver_request_total" {
			for _, c := range f.GetMetric() {
				total += c.GetCounter().GetValue()
			}
		}
	}
	if total != 1600 {
		t.Errorf("%v requests counted, want 1600", total)
	}
}

func BenchmarkRequest(b *testing.B) {
	m := New()
	b.ReportAllocs()
	for b.Loop() {
		m.Request("get", "example.com", "v1", "crontabs", "", "resource").Done(Outcome{Code: 200, Took: 300 * time.Microsecond})
	}
}

// What tells how well the gateway is is apart from the rest.
func TestHealthChecksAreCounted(t *testing.T) {
	m := New()
	m.SLIs.HealthCheck("readyz", "etcd", false)
	m.SLIs.HealthCheck("readyz", "etcd", true)
	m.SLIs.HealthCheck("livez", "etcd", false)
	out, err := m.SLIs.Render()
	if err != nil {
		t.Fatal(err)
	}
	wantLines(t, string(out),
		"# TYPE kubernetes_healthcheck gauge", `kubernetes_healthcheck{name="etcd",type="readyz"} 1`, `kubernetes_healthcheck{name="etcd",type="livez"} 0`,
		`kubernetes_healthchecks_total{name="etcd",status="success",type="readyz"} 1`, `kubernetes_healthchecks_total{name="etcd",status="error",type="readyz"} 1`)
	if strings.Contains(string(out), "go_") || strings.Contains(render(t, m), "kubernetes_healthcheck") {
		t.Error("they are not apart")
	}
}
