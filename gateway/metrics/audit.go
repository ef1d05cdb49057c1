package metrics

import "github.com/prometheus/client_golang/prometheus"

// auditMetrics are about what is kept of requests.
type auditMetrics struct {
	events, rejected, leftOut Counter
	errors                    *prometheus.CounterVec
	// levels are by their names, which are few.
	levels map[string]Counter
}

func (m *Metrics) newAuditMetrics() {
	m.audit = auditMetrics{
		events:   m.counters("apiserver_audit_event_total", "Events of the audit log, with those that were lost.").WithLabelValues(),
		rejected: m.counters("apiserver_audit_requests_rejected_total", "Requests that were refused because they could not be kept.").WithLabelValues(),
		errors:   m.counters("apiserver_audit_error_total", "Events of the audit log that were lost, by where.", "plugin"),
		leftOut:  m.counters("wasmgate_audit_left_out_total", "Events of the audit log about refused requests of nobody known that were left out because there were too many.").WithLabelValues(),
		levels:   map[string]Counter{},
	}
	levels := m.counters("apiserver_audit_level_total", "Requests by how much the audit policy keeps of them.", "level")
	for _, l := range []string{"None", "Metadata", "Request", "RequestResponse"} {
		m.audit.levels[l] = levels.WithLabelValues(l)
	}
	for _, plugin := range []string{"log", "webhook", "buffered", "truncate"} {
		m.audit.errors.WithLabelValues(plugin)
	}
}

// AuditLevel counts a request by how much is kept of it.
func (m *Metrics) AuditLevel(level string) {
	if c := m.audit.levels[level]; c != nil {
		c.Add(1)
	}
}

// AuditEvent counts an event.
func (m *Metrics) AuditEvent() { m.audit.events.Add(1) }

// AuditErrors counts events that a part of the way to where they are kept lost.
func (m *Metrics) AuditErrors(plugin string, events int) {
	m.audit.errors.WithLabelValues(plugin).Add(float64(events))
}

// AuditRejected counts a request that was refused because it could not be kept.
func (m *Metrics) AuditRejected() { m.audit.rejected.Add(1) }
