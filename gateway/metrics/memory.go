package metrics

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
)

// Memory is the budget of memory at one moment.
type Memory struct {
	// Total is what the process may take, Rest what it holds whatever is asked of it,
	// and Room what there is for all purposes together, of which each has Used.
	Total, Rest, Room int64
	Used              map[string]int64
}

// ShowMemory adds the metrics of a budget to m, which now is asked for whenever they are
// read. It must be safe for concurrent use. It can be called once.
func ShowMemory(m *Metrics, now func() Memory) error {
	if err := m.registry.Register(budgets{now}); err != nil {
		return fmt.Errorf("metrics of memory: %w", err)
	}
	return nil
}

// budgets implements [prometheus.Collector].
type budgets struct{ now func() Memory }

var (
	memoryBudget = prometheus.NewDesc("wasmgate_memory_budget_bytes", "Memory that the process may take.", nil, nil)
	memoryHeld   = prometheus.NewDesc("wasmgate_memory_held_bytes", "Memory that the process holds whatever is asked of it: objects, caches.", nil, nil)
	memoryLimit  = prometheus.NewDesc("wasmgate_memory_limit_bytes", "Memory that one purpose may take: half of what there is for all.", []string{"purpose"}, nil)
	memoryUsed   = prometheus.NewDesc("wasmgate_memory_used_bytes", "Memory that is taken, by what for.", []string{"purpose"}, nil)
)

// Describe implements [prometheus.Collector].
func (budgets) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{memoryBudget, memoryHeld, memoryLimit, memoryUsed} {
		to <- d
	}
}

// Collect implements [prometheus.Collector].
func (b budgets) Collect(to chan<- prometheus.Metric) {
	now := b.now()
	gauge := func(d *prometheus.Desc, n int64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, float64(n), labels...)
	}
	gauge(memoryBudget, now.Total)
	gauge(memoryHeld, now.Rest)
	for purpose, n := range now.Used {
		gauge(memoryLimit, now.Room/2, purpose)
		gauge(memoryUsed, n, purpose)
	}
}
