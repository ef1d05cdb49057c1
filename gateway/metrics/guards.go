package metrics

import (
	"crypto/sha256"
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
)

// Guards are metrics about folders of what no request changes.
type Guards struct {
	reloads            *prometheus.CounterVec
	last, info, differ *prometheus.GaugeVec
}

func newGuards(m *Metrics) *Guards {
	const begin = "apiserver_manifest_admission_config_controller_"
	return &Guards{
		reloads: m.counters(begin+"automatic_reloads_total", "Times that a folder of guards came into force, or could not.", "status", "plugin", "apiserver_id_hash"),
		last:    m.gauges(begin+"automatic_reload_last_timestamp_seconds", "When a folder of guards last came into force, or could not.", "status", "plugin", "apiserver_id_hash"),
		info:    m.gauges(begin+"last_config_info", "The folders of guards in force, by the hash of what they say.", "plugin", "apiserver_id_hash", "hash"),
		differ:  m.gauges("wasmgate_guards_drift", "How many other gateways have other guards in force than this one.", "plugin"),
	}
}

// InForce counts that the folder of a plugin, which has a hash, came into force in a
// gateway, or could not.
func (g *Guards) InForce(plugin, gateway, hash string, worked bool) {
	status, id := "success", fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(gateway)))
	if !worked {
		status = "failure"
	}
	g.reloads.WithLabelValues(status, plugin, id).Inc()
	g.last.WithLabelValues(status, plugin, id).SetToCurrentTime()
	if worked {
		g.info.DeletePartialMatch(prometheus.Labels{"plugin": plugin})
		g.info.WithLabelValues(plugin, id, hash).Set(1)
	}
}

// Drift tells how many other gateways have other guards of a plugin.
func (g *Guards) Drift(plugin string, gateways int) {
	g.differ.WithLabelValues(plugin).Set(float64(gateways))
}
