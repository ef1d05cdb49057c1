package metrics

import (
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/version"
)

// buildMetrics tell what is running.
type buildMetrics struct{ build, version *prometheus.GaugeVec }

func newBuild(m *Metrics) buildMetrics {
	return buildMetrics{
		build: m.gauges("kubernetes_build_info", "What is running, as /version tells it.",
			"major", "minor", "git_version", "git_commit", "git_tree_state", "build_date", "go_version", "compiler", "platform"),
		version: m.gauges("version_info", "The release that is served, the one that is emulated, and the oldest that may run beside it.",
			"component", "binary", "emulation", "min_compat"),
	}
}

// ShowBuild tells what is running.
func ShowBuild(m *Metrics, v version.Info) {
	m.builds.build.WithLabelValues(v.Major, v.Minor, v.GitVersion, v.GitCommit, v.GitTreeState, v.BuildDate, v.GoVersion, v.Compiler, v.Platform).Set(1)
	binary, _, _ := strings.Cut(strings.TrimPrefix(v.GitVersion, "v"), "+")
	m.builds.version.WithLabelValues("kube", binary, v.EmulationMajor+"."+v.EmulationMinor, v.MinCompatibilityMajor+"."+v.MinCompatibilityMinor).Set(1)
}
