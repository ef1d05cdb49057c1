package metrics

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
)

// Etcd is for one kind of request to etcd. Keep what it returns.
func (m *Metrics) Etcd(operation, group, resource string) *EtcdHandle {
	return &EtcdHandle{m.etcd.WithLabelValues(operation, group, resource), m.etcdRequests.WithLabelValues(operation, group, resource)}
}

// EtcdHandle counts requests to etcd of one kind.
type EtcdHandle struct {
	took  prometheus.Observer
	count prometheus.Counter
}

// Observe counts a request.
func (h *EtcdHandle) Observe(seconds float64) {
	h.took.Observe(seconds)
	h.count.Inc()
}

// ShowStorageSize adds how many bytes the database of the store has on its disk, which is asked
// for whenever the metrics are read; what cannot be told is not shown. It can be called once.
func ShowStorageSize(m *Metrics, bytes func() (int64, error)) error {
	if err := m.registry.Register(storageSize(bytes)); err != nil {
		return fmt.Errorf("metrics of the store: %w", err)
	}
	return nil
}

// storageSize implements [prometheus.Collector].
type storageSize func() (int64, error)

var storageSizeBytes = prometheus.NewDesc("apiserver_storage_size_bytes", "Bytes of the database file, as allocated.", []string{"storage_cluster_id"}, nil)

// Describe implements [prometheus.Collector].
func (storageSize) Describe(to chan<- *prometheus.Desc) { to <- storageSizeBytes }

// Collect implements [prometheus.Collector].
func (bytes storageSize) Collect(to chan<- prometheus.Metric) {
	if n, err := bytes(); err == nil {
		to <- prometheus.MustNewConstMetric(storageSizeBytes, prometheus.GaugeValue, float64(n), "etcd-0")
	}
}
