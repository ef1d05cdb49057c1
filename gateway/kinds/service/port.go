package service

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/wasmgate/wasmgate/crd/object"
)

// nodePorts sees to spec.ports[].nodePort and spec.healthCheckNodePort. Ports are
// those that services have; one that is to be taken is claimed first, so that it is
// taken once however many gateways there are. Where none are picked, those that the
// client names are looked at all the same.
func (s *request) nodePorts(ctx context.Context) error {
	var ports []any
	if s.is(corev1.ServiceTypeNodePort, corev1.ServiceTypeLoadBalancer) && (picksPorts(s.spec) || len(nodePortsOf(s.spec)) > 0) {
		ports, _ = s.spec["ports"].([]any)
	}
	if len(ports) == 0 && !checksHealth(s.spec) {
		return nil
	}
	p := &picker{request: s, mine: portsOf(s.was), claimed: map[int64]bool{}, chosen: map[int]bool{}}
	for more, fresh := true, false; more; {
		// What was committed before the last claim is in the cache by now.
		used, err := s.usedPorts(ctx)
		if err != nil {
			return err
		}
		if more, err = p.pick(ctx, ports, used); err == nil {
			continue
		}
		if fresh {
			return err
		}
		// What is refused may have become free on another gateway.
		if err := s.objects.Fresh(ctx); err != nil {
			return err
		}
		more, fresh = true, true
	}
	return nil
}

// picker picks the node ports of one service.
type picker struct {
	*request
	mine    map[int64]bool // what it has already
	claimed map[int64]bool
	chosen  map[int]bool // ports, by index, whose node port the client left open
	// health: so it did with the one for health checks.
	health bool
}

// pick gives every port a node port that is not used, and the service one for
// health checks if it needs that. It tells whether it had to claim one.
func (p *picker) pick(ctx context.Context, ports []any, used map[int64]bool) (claimed bool, err error) {
	before := len(p.claimed)
	err = p.pickPorts(ctx, ports, used)
	if err == nil && checksHealth(p.spec) {
		err = p.pickHealth(ctx, ports, used)
	}
	return len(p.claimed) > before, err
}

// pickPorts is pick for ports. Those of one number, which have different
// protocols, share a node port.
func (p *picker) pickPorts(ctx context.Context, ports []any, used map[int64]bool) (err error) {
	shared := map[any]int64{}
	for i, port := range ports {
		port, _ := port.(map[string]any)
		n, _ := port["nodePort"].(int64)
		if p.chosen[i] && used[n] {
			port["nodePort"] = int64(0)
			continue
		}
		if n != 0 && !p.chosen[i] && !p.mine[n] && shared[port["port"]] != n {
			if why, err := p.refusal(ctx, n, used[n]); err != nil {
				return err
			} else if why != "" {
				return p.invalid(field.NewPath("spec", "ports").Index(i).Child("nodePort"), n, why)
			}
		}
		if n != 0 {
			used[n], shared[port["port"]] = true, n
		}
	}
	if !picksPorts(p.spec) {
		return nil
	}
	for i, port := range ports {
		port, _ := port.(map[string]any)
		if n, _ := port["nodePort"].(int64); n != 0 {
			continue
		}
		n := shared[port["port"]]
		if n == 0 {
			if n, err = p.next(ctx, used); err != nil {
				return err
			}
		}
		p.chosen[i], shared[port["port"]], port["nodePort"] = true, n, n
	}
	return nil
}

// healthPort is the field of a spec that has the node port for health checks.
const healthPort = "healthCheckNodePort"

// checksHealth tells whether a service of a spec has a node port for health
// checks: only who sends traffic to the nodes of its pods alone has to know these.
func checksHealth(spec map[string]any) bool {
	return object.TextAt(spec, "type") == string(corev1.ServiceTypeLoadBalancer) && object.TextAt(spec, "externalTrafficPolicy") == string(corev1.ServiceExternalTrafficPolicyLocal)
}

// pickHealth is pick for the one for health checks, which is not one of ports.
func (p *picker) pickHealth(ctx context.Context, ports []any, used map[int64]bool) (err error) {
	n, _ := p.spec[healthPort].(int64)
	own := portsOf(map[string]any{"ports": ports})[n]
	switch {
	case n == 0, p.health && used[n]:
		p.health = true
		n, err = p.next(ctx, used)
	case own && !nodePortsOf(p.was)[n], !p.health && p.was[healthPort] != n: // what is stored stays
		var why string
		if why, err = p.refusal(ctx, n, used[n]); why != "" {
			return p.invalid(field.NewPath("spec", healthPort), n, fmt.Sprintf("failed to allocate requested HealthCheck NodePort %d: %s", n, why))
		}
	}
	p.spec[healthPort], used[n] = n, true
	return err
}

// refusal says why a client cannot have a port.
func (p *picker) refusal(ctx context.Context, n int64, used bool) (string, error) {
	r := p.config.Ports
	if n < r.First || n > r.Last {
		return fmt.Sprintf("provided port is not in the valid range. The range of valid ports is %d-%d", r.First, r.Last), nil
	}
	if !used {
		ok, err := p.claim(ctx, n)
		if ok || err != nil {
			return "", err
		}
	}
	return "provided port is already allocated", nil
}

// next is the first port that is free, those that clients may name last.
func (p *picker) next(ctx context.Context, used map[int64]bool) (int64, error) {
	first, size := p.config.Ports.First, p.config.Ports.Last-p.config.Ports.First+1
	low := int64(kept(uint64(size), 32, 128))
	for i := range size {
		n := first + (low+i)%size
		if used[n] {
			continue
		}
		used[n] = true
		if ok, err := p.claim(ctx, n); ok || err != nil {
			return n, err
		}
	}
	return 0, apierrors.NewInternalError(fmt.Errorf("failed to allocate a nodePort: range is full"))
}

func (p *picker) claim(ctx context.Context, n int64) (bool, error) {
	if p.claimed[n] {
		return true, nil
	}
	ok, err := p.write.Claim(ctx, fmt.Sprint("nodeports/", n))
	if ok && err == nil {
		p.claimed[n] = true
	}
	return ok, err
}

// usedPorts are the node ports that services have.
func (s *request) usedPorts(ctx context.Context) (map[int64]bool, error) {
	all, err := s.objects.List(ctx, services, "")
	if err != nil {
		return nil, err
	}
	used := map[int64]bool{}
	for _, other := range all {
		for port := range portsOf(object.Child(other.Object, "spec")) {
			used[port] = true
		}
	}
	return used, nil
}

func portsOf(spec map[string]any) map[int64]bool {
	out := nodePortsOf(spec)
	if n, _ := spec[healthPort].(int64); n != 0 {
		out[n] = true
	}
	return out
}

// nodePortsOf are those without the one for health checks.
func nodePortsOf(spec map[string]any) map[int64]bool {
	out := map[int64]bool{}
	for _, p := range portList(spec) {
		if n, _ := p["nodePort"].(int64); n != 0 {
			out[n] = true
		}
	}
	return out
}
