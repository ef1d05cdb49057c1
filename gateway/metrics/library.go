package metrics

import (
	"strings"

	dto "github.com/prometheus/client_model/go"
	"k8s.io/component-base/metrics/legacyregistry"
)

// IncludeLibrary renders what Kubernetes' libraries count as well: the metrics whose
// names begin like one of these. It is called before anything is rendered.
func (m *Metrics) IncludeLibrary(families ...string) { m.families = append(m.families, families...) }

// library gathers what libraries count, under kube-apiserver's names.
type library []string

// Gather implements prometheus.Gatherer.
func (l library) Gather() (out []*dto.MetricFamily, err error) {
	if len(l) == 0 {
		return nil, nil
	}
	all, err := legacyregistry.DefaultGatherer.Gather()
	for _, f := range all {
		for _, begin := range l {
			if strings.HasPrefix(f.GetName(), begin) {
				out = append(out, f)
				break
			}
		}
	}
	return out, err
}
