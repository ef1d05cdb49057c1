package metrics

import "github.com/prometheus/client_golang/prometheus"

// SLIs are what tells how well the gateway is, and nothing else: they are read often,
// and apart from the other metrics ([SLIs.Render], KEP-3466).
type SLIs struct {
	registry *prometheus.Registry
	lives    *lives
	check    *prometheus.GaugeVec
	checks   *prometheus.CounterVec
}

func newSLIs(l *lives) *SLIs {
	s := &SLIs{
		registry: prometheus.NewRegistry(), lives: l,
		check:  prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "kubernetes_healthcheck", Help: "What a health check last came to: 1 is well."}, []string{"name", "type"}),
		checks: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "kubernetes_healthchecks_total", Help: "Health checks, by what they came to."}, []string{"name", "type", "status"}),
	}
	s.registry.MustRegister(s.check, s.checks)
	return s
}

// HealthCheck counts a check of an endpoint, such as readyz.
func (s *SLIs) HealthCheck(endpoint, check string, well bool) {
	value, status := 1.0, "success"
	if !well {
		value, status = 0, "error"
	}
	s.check.WithLabelValues(check, endpoint).Set(value)
	s.checks.WithLabelValues(check, endpoint, status).Inc()
}

// Render returns them in the Prometheus text format ([ContentType]).
func (s *SLIs) Render() ([]byte, error) { return gathered(s.registry, s.lives) }
