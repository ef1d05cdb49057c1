package accounting

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/gateway/metrics"
)

// Store counts requests to the store by operation and resource.
type Store struct {
	m          *metrics.Metrics
	resourceOf func(key string) schema.GroupResource
	// handles are the histograms by storeKey. There are as many as there are
	// resources: only these have keys.
	handles sync.Map
}

type storeKey struct {
	operation string
	schema.GroupResource
}

// NewStore makes a counter of requests, by the resources that keys belong to.
func NewStore(m *metrics.Metrics, resourceOf func(key string) schema.GroupResource) *Store {
	return &Store{m: m, resourceOf: resourceOf}
}

// Observe counts one request for a key or a prefix of keys.
func (s *Store) Observe(operation, key string, took time.Duration) {
	k := storeKey{operation, s.resourceOf(key)}
	h, ok := s.handles.Load(k)
	if !ok {
		h, _ = s.handles.LoadOrStore(k, s.m.Etcd(operation, k.Group, k.Resource))
	}
	h.(metrics.Histogram).Observe(took.Seconds())
}
