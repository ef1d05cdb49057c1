package assign

import (
	"context"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// taken are node ports that writes of this gateway took a moment ago, which
// may not be in the cache yet.
type taken struct {
	mu sync.Mutex
	at map[int64]time.Time
}

// nodePorts sees to spec.ports[].nodePort.
func (s *request) nodePorts(ctx context.Context) error {
	wanted := s.is(corev1.ServiceTypeNodePort) || s.is(corev1.ServiceTypeLoadBalancer) && s.spec["allocateLoadBalancerNodePorts"] != false
	ports, _ := s.spec["ports"].([]any)
	if !wanted || len(ports) == 0 {
		return nil
	}
	s.ports.mu.Lock()
	defer s.ports.mu.Unlock()
	used, err := s.usedPorts(ctx)
	if err != nil {
		return err
	}
	mine := portsOf(s.was)
	for i, p := range ports {
		p, _ := p.(map[string]any)
		n, _ := p["nodePort"].(int64)
		path := field.NewPath("spec", "ports").Index(i).Child("nodePort")
		switch {
		case n == 0:
		case mine[n]:
		case n < s.config.Ports.First || n > s.config.Ports.Last:
			return s.invalid(path, n, fmt.Sprintf("provided port is not in the valid range. The range of valid ports is %d-%d", s.config.Ports.First, s.config.Ports.Last))
		case used[n]:
			return s.invalid(path, n, "provided port is already allocated")
		}
		used[n] = true
	}
	next := s.config.Ports.First
	for _, p := range ports {
		p, _ := p.(map[string]any)
		if n, _ := p["nodePort"].(int64); n != 0 {
			s.take(n)
			continue
		}
		for used[next] {
			next++
		}
		if next > s.config.Ports.Last {
			return apierrors.NewInternalError(fmt.Errorf("failed to allocate a nodePort: range is full"))
		}
		used[next] = true
		p["nodePort"] = next
		s.take(next)
	}
	return nil
}

func (s *request) take(port int64) {
	if !s.write.Options.DryRun {
		s.ports.at[port] = time.Now()
	}
}

// usedPorts are the node ports that are not free.
func (s *request) usedPorts(ctx context.Context) (map[int64]bool, error) {
	if s.ports.at == nil {
		s.ports.at = map[int64]time.Time{}
	}
	used := map[int64]bool{}
	for port, at := range s.ports.at {
		if time.Since(at) > waitForCache {
			delete(s.ports.at, port)
		} else {
			used[port] = true
		}
	}
	all, err := s.Objects.List(ctx, services, "")
	if err != nil {
		return nil, err
	}
	for _, other := range all {
		for port := range portsOf(child(other.Object, "spec")) {
			used[port] = true
		}
	}
	return used, nil
}

// waitForCache is how long a port counts as taken that nothing in the cache
// has.
const waitForCache = 5 * time.Second

func portsOf(spec map[string]any) map[int64]bool {
	out := map[int64]bool{}
	ports, _ := spec["ports"].([]any)
	for _, p := range ports {
		p, _ := p.(map[string]any)
		if n, _ := p["nodePort"].(int64); n != 0 {
			out[n] = true
		}
	}
	if n, _ := spec["healthCheckNodePort"].(int64); n != 0 {
		out[n] = true
	}
	return out
}
