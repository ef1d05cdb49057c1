package metrics

import "github.com/prometheus/client_golang/prometheus"

// pluginBuckets go from 10 microseconds to 10 seconds.
var pluginBuckets = []float64{1e-5, 2.5e-5, 5e-5, 1e-4, 2.5e-4, 5e-4, 1e-3, 2.5e-3, 5e-3, 1e-2, 2.5e-2, 5e-2, 0.1, 0.25, 0.5, 1, 2.5, 5, 10}

// Plugins are metrics of modules.
type Plugins struct {
	calls, fuel, discards, lookups *prometheus.CounterVec
	seconds                        *prometheus.HistogramVec
	lastFuel, memory               *prometheus.GaugeVec
}

func newPlugins(m *Metrics) *Plugins {
	p := &Plugins{}
	p.calls = m.counters("wasmgate_plugin_calls_total",
		"Calls of a module's hook, by result.", "module", "hook", "result")
	p.seconds = m.histograms("wasmgate_plugin_call_seconds",
		"Time of calls of a module's hook.", pluginBuckets, "module", "hook")
	p.fuel = m.counters("wasmgate_plugin_fuel_total",
		"Fuel that calls of a module's hook spent, in the units of spec.limits.fuel.", "module", "hook")
	p.lastFuel = m.gauges("wasmgate_plugin_call_fuel",
		"Fuel that the last call of a module's hook spent.", "module", "hook")
	p.memory = m.gauges("wasmgate_plugin_memory_bytes",
		"Linear memory of the instance of a module that was called last.", "module")
	p.discards = m.counters("wasmgate_plugin_discards_total",
		"Instances of a module that were thrown away after a call, by what went wrong.", "module", "hook", "reason")
	p.lookups = m.counters("wasmgate_plugin_lookups_total",
		"Objects that a module looked up: found, none, or refused.", "module", "outcome")
	return p
}

// Call counts one call of a module's hook. result is "success" or
// "error".
func (p *Plugins) Call(module, hook, result string, seconds float64) {
	p.calls.WithLabelValues(module, hook, result).Inc()
	p.seconds.WithLabelValues(module, hook).Observe(seconds)
}

// Usage adds what one call of a module's hook took: fuel, in units, and
// the linear memory of its instance, in bytes.
func (p *Plugins) Usage(module, hook string, fuel, memoryBytes int64) {
	p.fuel.WithLabelValues(module, hook).Add(float64(max(fuel, 0))) // it panics below
	p.lastFuel.WithLabelValues(module, hook).Set(float64(fuel))
	p.memory.WithLabelValues(module).Set(float64(memoryBytes))
}

// Discard counts an instance that was thrown away after a call. reason is
// one of few.
func (p *Plugins) Discard(module, hook, reason string) {
	p.discards.WithLabelValues(module, hook, reason).Inc()
}

// Lookup counts an object that a module looked up. outcome is one of few.
func (p *Plugins) Lookup(module, outcome string) {
	p.lookups.WithLabelValues(module, outcome).Inc()
}

// Forget drops the metrics of a module that was deleted.
func (p *Plugins) Forget(module string) {
	labels := prometheus.Labels{"module": module}
	for _, v := range []interface {
		DeletePartialMatch(prometheus.Labels) int
	}{p.calls, p.seconds, p.fuel, p.lastFuel, p.memory, p.discards, p.lookups} {
		v.DeletePartialMatch(labels)
	}
}
