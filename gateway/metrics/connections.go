package metrics

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
)

// Connections are those of clients at one moment: open ones by whether somebody was
// identified on them, and how many were refused since the start, by what had too many.
type Connections struct {
	Unidentified, Identified    int
	RefusedAddress, RefusedUser uint64
}

// ShowConnections adds the metrics of connections to m, which now is asked for whenever
// they are read. It must be safe for concurrent use. It can be called once.
func ShowConnections(m *Metrics, now func() Connections) error {
	if err := m.registry.Register(connections{now}); err != nil {
		return fmt.Errorf("metrics of connections: %w", err)
	}
	return nil
}

// connections implements [prometheus.Collector].
type connections struct{ now func() Connections }

var (
	connectionsOpen    = prometheus.NewDesc("wasmgate_connections", "Connections of clients that are open, by whether somebody was identified on them.", []string{"identified"}, nil)
	connectionsRefused = prometheus.NewDesc("wasmgate_connections_refused_total", "Connections that were refused, by what had too many: an address or a user.", []string{"by"}, nil)
)

// Describe implements [prometheus.Collector].
func (connections) Describe(to chan<- *prometheus.Desc) {
	to <- connectionsOpen
	to <- connectionsRefused
}

// Collect implements [prometheus.Collector].
func (c connections) Collect(to chan<- prometheus.Metric) {
	now := c.now()
	for known, n := range map[string]int{"true": now.Identified, "false": now.Unidentified} {
		to <- prometheus.MustNewConstMetric(connectionsOpen, prometheus.GaugeValue, float64(n), known)
	}
	for by, n := range map[string]uint64{"address": now.RefusedAddress, "user": now.RefusedUser} {
		to <- prometheus.MustNewConstMetric(connectionsRefused, prometheus.CounterValue, float64(n), by)
	}
}
