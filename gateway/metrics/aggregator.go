package metrics

import "github.com/prometheus/client_golang/prometheus"

// Aggregator are metrics about the servers behind this one.
type Aggregator struct {
	unavailable *prometheus.GaugeVec
	lost        *prometheus.CounterVec
}

func newAggregator(m *Metrics) *Aggregator {
	return &Aggregator{
		unavailable: m.gauges("aggregator_unavailable_apiservice", "APIServices that are not available (1), and those that are (0), by name.", "name"),
		lost:        m.counters("aggregator_unavailable_apiservice_total", "Times that an APIService ceased to be available, by name and reason.", "name", "reason"),
	}
}

// Available tells whether an APIService is available.
func (a *Aggregator) Available(name string, is bool) {
	value := 1.0
	if is {
		value = 0
	}
	a.unavailable.WithLabelValues(name).Set(value)
}

// Lost counts that an APIService ceased to be available.
func (a *Aggregator) Lost(name, reason string) { a.lost.WithLabelValues(name, reason).Inc() }

// Unknown forgets which APIServices are available: another gateway finds that out.
func (a *Aggregator) Unknown() { a.unavailable.Reset() }

// Gone forgets an APIService.
func (a *Aggregator) Gone(name string) {
	a.unavailable.DeleteLabelValues(name)
	a.lost.DeletePartialMatch(prometheus.Labels{"name": name})
}
