package metrics

func (m *Metrics) newGarbageMetrics() {
	errors := m.counters("garbagecollector_controller_resources_sync_error_total",
		"Failures of the garbage collector to find out which kinds to follow.")
	collected := m.counters("wasmgate_garbage_collected_total",
		"Objects that the garbage collector deleted because no owner kept them.")
	m.garbageErrors, m.garbageCollected = errors.WithLabelValues(), collected.WithLabelValues()
}

// GarbageSyncError counts a failure of the garbage collector to find out which
// kinds to follow.
func (m *Metrics) GarbageSyncError() { m.garbageErrors.Add(1) }

// GarbageCollected counts an object that was deleted because no owner kept it.
func (m *Metrics) GarbageCollected() { m.garbageCollected.Add(1) }
