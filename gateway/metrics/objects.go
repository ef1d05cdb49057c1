package metrics

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
)

// Objects are how many objects of a resource are stored.
type Objects struct {
	Group, Resource string
	Stored          int
}

// StoredObjects adds metrics of how much is stored, which all is asked for
// whenever the metrics are read. It must be fast and safe for concurrent use. It
// can be called once.
func (m *Metrics) StoredObjects(all func() []Objects) error {
	if err := m.registry.Register(objects(all)); err != nil {
		return fmt.Errorf("metrics of objects: %w", err)
	}
	return nil
}

// objects implements [prometheus.Collector].
type objects func() []Objects

var (
	resourceObjects = prometheus.NewDesc("apiserver_resource_objects", "Objects that are stored.", []string{"group", "resource"}, nil)
	storageObjects  = prometheus.NewDesc("apiserver_storage_objects", "Objects that are stored, by resource and group in one word; use apiserver_resource_objects.", []string{"resource"}, nil)
)

// Describe implements [prometheus.Collector].
func (objects) Describe(to chan<- *prometheus.Desc) { to <- resourceObjects; to <- storageObjects }

// Collect implements [prometheus.Collector].
func (all objects) Collect(to chan<- prometheus.Metric) {
	for _, o := range all() {
		name := o.Resource
		if o.Group != "" {
			name += "." + o.Group
		}
		to <- prometheus.MustNewConstMetric(resourceObjects, prometheus.GaugeValue, float64(o.Stored), o.Group, o.Resource)
		to <- prometheus.MustNewConstMetric(storageObjects, prometheus.GaugeValue, float64(o.Stored), name)
	}
}
