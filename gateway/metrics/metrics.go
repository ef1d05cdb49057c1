package metrics

import (
	"bytes"
	"fmt"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/common/expfmt"

	"github.com/wasmgate/wasmgate/lifecycle"
)

// ContentType is the media type of [Metrics.Render].
const ContentType = "text/plain; version=0.0.4; charset=utf-8; escaping=underscores"

// Counter only grows.
type Counter interface{ Add(float64) }

// Gauge goes up and down.
type Gauge interface{ Add(float64) }

// Histogram takes durations in seconds.
type Histogram interface{ Observe(seconds float64) }

// Metrics is one gateway's set of metrics. It is safe for concurrent use.
type Metrics struct {
	registry *prometheus.Registry
	lives    lives
	families []string // of libraries

	requests    *prometheus.CounterVec
	durations   *prometheus.HistogramVec
	longRunning *prometheus.GaugeVec
	etcd        *prometheus.HistogramVec
	watchEvents *prometheus.CounterVec
	pluginCalls *prometheus.CounterVec
	pluginTime  *prometheus.HistogramVec

	pluginFuel, pluginDiscards, pluginLookups *prometheus.CounterVec
	pluginLastFuel, pluginMemory              *prometheus.GaugeVec

	migrationDone, migrationTotal *prometheus.GaugeVec
	migrationFailures             *prometheus.CounterVec

	admission admissionMetrics

	declarativeMismatches, declarativePanics Counter

	readOnly, mutating Gauge

	audit auditMetrics
	// Guards are about what no request changes.
	Guards *Guards
	// Aggregator is about the servers behind this one.
	Aggregator *Aggregator
	// Tokens are about those of service accounts.
	Tokens *Tokens
	// SLIs are in no other metrics.
	SLIs *SLIs

	features, deprecated *prometheus.GaugeVec

	// ConversionObjects counts objects that a converter converted.
	ConversionObjects Counter
	// ConversionCacheHits counts conversions that were remembered.
	ConversionCacheHits Counter

	mu      sync.RWMutex
	handles map[requestKey]*RequestHandle

	garbageErrors, garbageCollected Counter

	// Clients are who asked for which version of what has several.
	Clients *Clients
}

// requestBuckets are kube-apiserver's, so that its dashboards and alerts fit.
var requestBuckets = []float64{0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60}

// pluginBuckets go from 10 microseconds to 10 seconds.
var pluginBuckets = []float64{1e-5, 2.5e-5, 5e-5, 1e-4, 2.5e-4, 5e-4, 1e-3, 2.5e-3, 5e-3, 1e-2, 2.5e-2, 5e-2, 0.1, 0.25, 0.5, 1, 2.5, 5, 10}

// New returns a set of metrics, with those of the Go runtime and the process.
func New() *Metrics {
	m := &Metrics{registry: prometheus.NewRegistry(), handles: map[requestKey]*RequestHandle{}, Clients: newClients(), lives: lives{table: lifecycle.Metrics, now: lifecycle.Current}}
	m.SLIs = newSLIs(&m.lives)
	m.newRequestMetrics()
	m.newPluginMetrics()
	m.newMigrationMetrics()
	m.newAdmissionMetrics()
	m.registry.MustRegister(
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	)
	return m
}

func (m *Metrics) newRequestMetrics() {
	labels := []string{"verb", "dry_run", "group", "version", "resource", "subresource", "scope", "component"}
	m.requests = m.counters("apiserver_request_total",
		"Requests answered, by verb, dry run, group, version, resource, scope, component and HTTP status.",
		append(labels, "code")...)
	m.durations = m.histograms("apiserver_request_duration_seconds",
		"Time from the arrival of a request to the end of its reply, watches left out.",
		requestBuckets, labels...)
	m.longRunning = m.gauges("apiserver_longrunning_requests",
		"Watches that are open.",
		"verb", "group", "version", "resource", "subresource", "scope", "component")
	inflight := m.gauges("apiserver_current_inflight_requests",
		"Requests being answered, watches left out.", "request_kind")
	m.readOnly = inflight.WithLabelValues("readOnly")
	m.mutating = inflight.WithLabelValues("mutating")
	m.etcd = m.histograms("etcd_request_duration_seconds",
		"Time of requests to etcd, by operation and resource.",
		requestBuckets, "operation", "group", "resource")
	m.watchEvents = m.counters("apiserver_watch_events_total",
		"Events sent to watchers.", "group", "version", "resource")
	m.deprecated = m.gauges("apiserver_requested_deprecated_apis",
		"Deprecated versions that were asked for, with the release that no longer has them.",
		"group", "version", "resource", "subresource", "removed_release")
	m.features = m.gauges("kubernetes_feature_enabled",
		"Stage of a feature, and whether it is on.", "name", "stage")
	m.newDeclarativeMetrics()
	m.newAuditMetrics()
	m.Guards, m.Aggregator, m.Tokens = newGuards(m), newAggregator(m), newTokens(m)
	objects := m.counters("wasmgate_conversion_objects_total", "Objects converted by a converter.")
	hits := m.counters("wasmgate_conversion_cache_hits_total", "Conversions answered from memory.")
	m.ConversionObjects, m.ConversionCacheHits = objects.WithLabelValues(), hits.WithLabelValues()
}

func (m *Metrics) newPluginMetrics() {
	m.pluginCalls = m.counters("wasmgate_plugin_calls_total",
		"Calls of a module's hook, by result.", "module", "hook", "result")
	m.pluginTime = m.histograms("wasmgate_plugin_call_seconds",
		"Time of calls of a module's hook.", pluginBuckets, "module", "hook")
	m.pluginFuel = m.counters("wasmgate_plugin_fuel_total",
		"Fuel that calls of a module's hook spent, in the units of spec.limits.fuel.", "module", "hook")
	m.pluginLastFuel = m.gauges("wasmgate_plugin_call_fuel",
		"Fuel that the last call of a module's hook spent.", "module", "hook")
	m.pluginMemory = m.gauges("wasmgate_plugin_memory_bytes",
		"Linear memory of the instance of a module that was called last.", "module")
	m.pluginDiscards = m.counters("wasmgate_plugin_discards_total",
		"Instances of a module that were thrown away after a call, by what went wrong.", "module", "hook", "reason")
	m.pluginLookups = m.counters("wasmgate_plugin_lookups_total",
		"Objects that a module looked up: found, none, or refused.", "module", "outcome")
}

func (m *Metrics) newMigrationMetrics() {
	m.newGarbageMetrics()
	m.migrationDone = m.gauges("wasmgate_migration_objects_done",
		"Objects that the running or last migration of a resource has dealt with.", "group", "resource")
	m.migrationTotal = m.gauges("wasmgate_migration_objects_total",
		"Objects that the running or last migration of a resource has to deal with.", "group", "resource")
	m.migrationFailures = m.counters("wasmgate_migration_failures_total",
		"Objects that a migration could not rewrite.", "group", "resource")
}

// Inflight is the gauge of requests being answered, watches left out.
func (m *Metrics) Inflight(mutating bool) Gauge {
	if mutating {
		return m.mutating
	}
	return m.readOnly
}

// Deprecated records that a deprecated version was asked for. removedRelease is
// the release that no longer has it, empty when that is not decided.
func (m *Metrics) Deprecated(group, version, resource, subresource, removedRelease string) {
	m.deprecated.WithLabelValues(group, version, resource, subresource, removedRelease).Set(1)
}

// Feature records whether a feature gate is on. stage is ALPHA, BETA, or empty
// for what is stable.
func (m *Metrics) Feature(name, stage string, on bool) {
	value := 0.0
	if on {
		value = 1
	}
	m.features.WithLabelValues(name, stage).Set(value)
}

// Etcd is the histogram for one kind of request to etcd. Keep what it returns.
func (m *Metrics) Etcd(operation, group, resource string) Histogram {
	return m.etcd.WithLabelValues(operation, group, resource)
}

// WatchEvents counts events sent to watchers of one resource. Keep what it
// returns.
func (m *Metrics) WatchEvents(group, version, resource string) Counter {
	return m.watchEvents.WithLabelValues(group, version, resource)
}

// PluginCall counts one call of a module's hook. result is "success" or
// "error".
func (m *Metrics) PluginCall(module, hook, result string, seconds float64) {
	m.pluginCalls.WithLabelValues(module, hook, result).Inc()
	m.pluginTime.WithLabelValues(module, hook).Observe(seconds)
}

// PluginUsage adds what one call of a module's hook took: fuel, in units, and
// the linear memory of its instance, in bytes.
func (m *Metrics) PluginUsage(module, hook string, fuel, memoryBytes int64) {
	m.pluginFuel.WithLabelValues(module, hook).Add(float64(fuel))
	m.pluginLastFuel.WithLabelValues(module, hook).Set(float64(fuel))
	m.pluginMemory.WithLabelValues(module).Set(float64(memoryBytes))
}

// PluginDiscard counts an instance that was thrown away after a call. reason is
// one of few.
func (m *Metrics) PluginDiscard(module, hook, reason string) {
	m.pluginDiscards.WithLabelValues(module, hook, reason).Inc()
}

// PluginLookup counts an object that a module looked up. outcome is one of few.
func (m *Metrics) PluginLookup(module, outcome string) {
	m.pluginLookups.WithLabelValues(module, outcome).Inc()
}

// ForgetPlugin drops the metrics of a module that was deleted.
func (m *Metrics) ForgetPlugin(module string) {
	labels := prometheus.Labels{"module": module}
	for _, v := range []interface {
		DeletePartialMatch(prometheus.Labels) int
	}{m.pluginCalls, m.pluginTime, m.pluginFuel, m.pluginLastFuel, m.pluginMemory, m.pluginDiscards, m.pluginLookups} {
		v.DeletePartialMatch(labels)
	}
}

// MigrationProgress records how far the migration of a resource is.
func (m *Metrics) MigrationProgress(group, resource string, done, total int64) {
	m.migrationDone.WithLabelValues(group, resource).Set(float64(done))
	m.migrationTotal.WithLabelValues(group, resource).Set(float64(total))
}

// MigrationFailures counts objects that a migration could not rewrite.
func (m *Metrics) MigrationFailures(group, resource string) Counter {
	return m.migrationFailures.WithLabelValues(group, resource)
}

// GaugeFunc adds a gauge without labels whose value is asked for whenever the
// metrics are read. value must be fast and safe for concurrent use. A name can
// be added once.
func (m *Metrics) GaugeFunc(name, help string, value func() float64) error {
	err := m.registry.Register(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, value))
	if err != nil {
		return fmt.Errorf("metric %s: %w", name, err)
	}
	return nil
}

// Render returns all metrics in the Prometheus text format ([ContentType]).
func (m *Metrics) Render() ([]byte, error) {
	return gathered(prometheus.Gatherers{m.registry, library(m.families)}, &m.lives)
}

func gathered(from prometheus.Gatherer, l *lives) ([]byte, error) {
	families, err := from.Gather()
	if err != nil {
		return nil, fmt.Errorf("metrics: %w", err)
	}
	var out bytes.Buffer
	for _, f := range families {
		if !l.shows(f) {
			continue
		}
		if _, err := expfmt.MetricFamilyToText(&out, f); err != nil {
			return nil, fmt.Errorf("metrics: %w", err)
		}
	}
	return out.Bytes(), nil
}

func (m *Metrics) counters(name, help string, labels ...string) *prometheus.CounterVec {
	v := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	m.registry.MustRegister(v)
	return v
}

func (m *Metrics) gauges(name, help string, labels ...string) *prometheus.GaugeVec {
	v := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, labels)
	m.registry.MustRegister(v)
	return v
}

func (m *Metrics) histograms(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
	v := prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, labels)
	m.registry.MustRegister(v)
	return v
}
