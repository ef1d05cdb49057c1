package metrics

import (
	"errors"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	kubernetes "k8s.io/component-base/metrics"
	"k8s.io/component-base/metrics/legacyregistry"
	_ "k8s.io/component-base/metrics/prometheus/workqueue" // has queues of client-go counted
)

// Recorder is a part of a library that counts, and leaves to others where that is read.
type Recorder interface {
	MustRegister(register func(...kubernetes.Registerable))
}

// Register has what a recorder counts rendered where the names of its metrics are
// included. One that several servers of the process have is registered once.
func Register(r Recorder) {
	r.MustRegister(func(all ...kubernetes.Registerable) {
		for _, c := range all {
			var known prometheus.AlreadyRegisteredError
			if err := legacyregistry.Register(c); err != nil && !errors.As(err, &known) {
				panic(err) // a mistake in the library: two metrics of one name
			}
		}
	})
}

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
