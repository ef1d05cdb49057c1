package metrics

func (m *Metrics) newDeclarativeMetrics() {
	m.declarativeMismatches = m.counters("apiserver_validation_declarative_validation_mismatch_total",
		"Differences between the rules of kinds and those that were generated from their types.").WithLabelValues()
	m.declarativePanics = m.counters("apiserver_validation_declarative_validation_panic_total",
		"Panics of rules that were generated from types.").WithLabelValues()
}

// DeclarativeMismatch counts a difference between rules and generated ones.
func (m *Metrics) DeclarativeMismatch() { m.declarativeMismatches.Add(1) }

// DeclarativePanic counts generated rules that panicked.
func (m *Metrics) DeclarativePanic() { m.declarativePanics.Add(1) }
