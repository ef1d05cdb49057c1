package metrics

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
)

// Instances is how many instances of a module there are.
type Instances struct {
	Module string
	// Idle are those that nobody uses, InUse the others, and Max is how many
	// there may be.
	Idle, InUse, Max int
	// IdleBytes is the linear memory of the idle ones.
	IdleBytes int64
	// GivenBack is how many idle ones were closed to make room for others.
	GivenBack int64
	// HeldBack is how many were made later, as too many before them had ended in
	// calls that failed, or changed what cannot be put back.
	HeldBack int64
}

// PluginInstances adds metrics of the instances of modules, which all is asked
// for whenever the metrics are read. It must be fast and safe for concurrent
// use. It can be called once.
func (m *Metrics) PluginInstances(all func() []Instances) error {
	if err := m.registry.Register(&instances{all}); err != nil {
		return fmt.Errorf("metrics of instances: %w", err)
	}
	return nil
}

// instances implements [prometheus.Collector].
type instances struct{ all func() []Instances }

var (
	instancesNow = prometheus.NewDesc("wasmgate_plugin_instances",
		"Instances of a module, by state: idle or in_use.", []string{"module", "state"}, nil)
	instancesMax = prometheus.NewDesc("wasmgate_plugin_instances_max",
		"Instances of a module that there may be.", []string{"module"}, nil)
	instancesIdleBytes = prometheus.NewDesc("wasmgate_plugin_idle_memory_bytes",
		"Linear memory of the idle instances of a module.", []string{"module"}, nil)
	instancesGivenBack = prometheus.NewDesc("wasmgate_plugin_given_back_total",
		"Idle instances of a module that were closed to keep to --module-idle-memory, since it was loaded.", []string{"module"}, nil)
	instancesHeldBack = prometheus.NewDesc("wasmgate_plugin_held_back_total",
		"Instances of a module that were started later, as too many before them had ended in failed calls, or in calls that changed what cannot be put back, since it was loaded.", []string{"module"}, nil)
)

// Describe implements [prometheus.Collector].
func (*instances) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{instancesNow, instancesMax, instancesIdleBytes, instancesGivenBack, instancesHeldBack} {
		to <- d
	}
}

// Collect implements [prometheus.Collector].
func (c *instances) Collect(to chan<- prometheus.Metric) {
	for _, i := range c.all() {
		gauge := func(d *prometheus.Desc, n float64, labels ...string) {
			to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, n, append([]string{i.Module}, labels...)...)
		}
		gauge(instancesNow, float64(i.Idle), "idle")
		gauge(instancesNow, float64(i.InUse), "in_use")
		gauge(instancesMax, float64(i.Max))
		gauge(instancesIdleBytes, float64(i.IdleBytes))
		to <- prometheus.MustNewConstMetric(instancesGivenBack, prometheus.CounterValue, float64(i.GivenBack), i.Module)
		to <- prometheus.MustNewConstMetric(instancesHeldBack, prometheus.CounterValue, float64(i.HeldBack), i.Module)
	}
}
