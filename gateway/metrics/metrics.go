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

	requests  *prometheus.CounterVec
	durations *prometheus.HistogramVec
	// ownDurations leave out what others took.
	ownDurations, responseSizes, bodySizes *prometheus.HistogramVec
	terminations                           *prometheus.CounterVec
	longRunning                            *prometheus.GaugeVec
	etcd                                   *prometheus.HistogramVec
	etcdRequests                           *prometheus.CounterVec
	watchEvents                            *prometheus.CounterVec
	watchLists                             *prometheus.HistogramVec

	migrationDone, migrationTotal *prometheus.GaugeVec
	migrationFailures             *prometheus.CounterVec

	admission admissionMetrics
	builds    buildMetrics

	declarativeMismatches, declarativePanics Counter

	readOnly, mutating Gauge

	audit auditMetrics
	// Guards are about what no request changes.
	Guards *Guards
	// Aggregator is about the servers behind this one.
	Aggregator *Aggregator
	// Tokens are about those of service accounts.
	Tokens *Tokens
	// ConversionWebhooks are those of definitions.
	ConversionWebhooks *ConversionWebhooks
	// AdmissionTimes are how long admission takes.
	AdmissionTimes *AdmissionTimes
	// Plugins are modules.
	Plugins *Plugins
	// Access is about who asks.
	Access *Access
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

// New returns a set of metrics, with those of the Go runtime and the process.
func New() *Metrics {
	m := &Metrics{registry: prometheus.NewRegistry(), handles: map[requestKey]*RequestHandle{}, Clients: newClients(), lives: lives{table: lifecycle.Metrics, now: lifecycle.Current}}
	m.SLIs = newSLIs(&m.lives)
	m.newRequestMetrics()
	m.Plugins = newPlugins(m)
	m.newMigrationMetrics()
	newAdmissionMetrics(m)
	m.builds, m.ConversionWebhooks = newBuild(m), newConversionWebhooks(m)
	m.IncludeLibrary("workqueue_", "apiserver_cel_", "apiserver_webhooks_x509_")
	m.registry.MustRegister(
		collectors.NewGoCollector(collectors.WithGoCollectorRuntimeMetrics(collectors.MetricsAll)),
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
	newSizes(m, append(labels[:1:1], labels[2:]...))
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
	m.etcdRequests = m.counters("etcd_requests_total",
		"Requests to etcd, by operation and resource.", "operation", "group", "resource")
	m.watchEvents = m.counters("apiserver_watch_events_total",
		"Events sent to watchers.", "group", "version", "resource")
	m.watchLists = m.histograms("apiserver_watch_list_duration_seconds",
		"Time from the arrival of a watch to the end of what it begins with, where it was to say that.",
		[]float64{0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 2, 4, 6, 8, 10, 15, 20, 30, 45, 60}, "group", "version", "resource", "scope")
	m.deprecated = m.gauges("apiserver_requested_deprecated_apis",
		"Deprecated versions that were asked for, with the release that no longer has them.",
		"group", "version", "resource", "subresource", "removed_release")
	m.features = m.gauges("kubernetes_feature_enabled",
		"Stage of a feature, and whether it is on.", "name", "stage")
	m.newDeclarativeMetrics()
	m.newAuditMetrics()
	m.Guards, m.Aggregator, m.Tokens, m.Access = newGuards(m), newAggregator(m), newTokens(m), newAccess(m)
	objects := m.counters("wasmgate_conversion_objects_total", "Objects converted by a converter.")
	hits := m.counters("wasmgate_conversion_cache_hits_total", "Conversions answered from memory.")
	m.ConversionObjects, m.ConversionCacheHits = objects.WithLabelValues(), hits.WithLabelValues()
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

// WatchEvents counts events sent to watchers of one resource. Keep what it
// returns.
func (m *Metrics) WatchEvents(group, version, resource string) Counter {
	return m.watchEvents.WithLabelValues(group, version, resource)
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

// AuditLeftOut counts an event that was left out as there were too many of nobody known.
func (m *Metrics) AuditLeftOut() { m.audit.leftOut.Add(1) }
