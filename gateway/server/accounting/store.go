package accounting

import (
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/gateway/metrics"
)

// Store counts requests to the store by operation and resource.
type Store struct {
	m        *metrics.Metrics
	prefix   string
	builtins map[string]schema.GroupResource
	// handles are the histograms by storeKey. There are as many as there are
	// resources: only these have keys.
	handles sync.Map
}

type storeKey struct {
	operation string
	schema.GroupResource
}

// NewStore makes a counter of requests for keys below prefix, which ends with
// a slash. builtins names the resources whose keys do not begin with their
// group, by how their keys begin.
func NewStore(m *metrics.Metrics, prefix string, builtins map[string]schema.GroupResource) *Store {
	return &Store{m: m, prefix: prefix, builtins: builtins}
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

// resourceOf is the resource that a key belongs to; none for the gateway's
// own keys.
func (s *Store) resourceOf(key string) schema.GroupResource {
	rest, ok := strings.CutPrefix(key, s.prefix)
	if !ok {
		return schema.GroupResource{}
	}
	first, rest, _ := strings.Cut(rest, "/")
	if gr, ok := s.builtins[first]; ok {
		return gr
	}
	second, _, _ := strings.Cut(rest, "/")
	if gr, ok := s.builtins[first+"/"+second]; ok {
		return gr
	}
	if !strings.Contains(first, ".") {
		return schema.GroupResource{}
	}
	return schema.GroupResource{Group: first, Resource: second}
}
