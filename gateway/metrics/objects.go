package metrics

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
)

// Objects are what is stored of a resource.
type Objects struct {
	Group, Resource string
	Stored          int
	// Bytes is about what they take, and Events how many changes the store told.
	Bytes, Events int64
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
	resourceSize    = prometheus.NewDesc("apiserver_resource_size_estimate_bytes", "Bytes of the objects that are stored, about.", []string{"group", "resource"}, nil)
	eventsReceived  = prometheus.NewDesc("apiserver_storage_events_received_total", "Changes that etcd told of.", []string{"group", "resource"}, nil)
	storageObjects  = prometheus.NewDesc("apiserver_storage_objects", "Objects that are stored, by resource and group in one word; use apiserver_resource_objects.", []string{"resource"}, nil)
)

// Describe implements [prometheus.Collector].
func (objects) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{resourceObjects, resourceSize, eventsReceived, storageObjects} {
		to <- d
	}
}

// Collect implements [prometheus.Collector].
func (all objects) Collect(to chan<- prometheus.Metric) {
	for _, o := range all() {
		name := o.Resource
		if o.Group != "" {
			name += "." + o.Group
		}
		to <- prometheus.MustNewConstMetric(resourceObjects, prometheus.GaugeValue, float64(o.Stored), o.Group, o.Resource)
		to <- prometheus.MustNewConstMetric(resourceSize, prometheus.GaugeValue, float64(o.Bytes), o.Group, o.Resource)
		to <- prometheus.MustNewConstMetric(eventsReceived, prometheus.CounterValue, float64(o.Events), o.Group, o.Resource)
		to <- prometheus.MustNewConstMetric(storageObjects, prometheus.GaugeValue, float64(o.Stored), name)
	}
}
