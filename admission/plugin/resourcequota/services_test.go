package resourcequota

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// Ports of nodes are used by services of nodes, and by balancers unless they ask for none: then
// only those that are named are.
func TestWhatServicesUse(t *testing.T) {
	yes, no := true, false
	ports := []corev1.ServicePort{{Port: 1}, {Port: 2, NodePort: 30000}}
	for name, c := range map[string]struct {
		spec             corev1.ServiceSpec
		nodes, balancers int64
	}{
		"within the cluster":        {corev1.ServiceSpec{Type: corev1.ServiceTypeClusterIP, Ports: ports}, 0, 0},
		"of nodes":                  {corev1.ServiceSpec{Type: corev1.ServiceTypeNodePort, Ports: ports}, 2, 0},
		"of a balancer":             {corev1.ServiceSpec{Type: corev1.ServiceTypeLoadBalancer, Ports: ports}, 2, 1},
		"of one with ports":         {corev1.ServiceSpec{Type: corev1.ServiceTypeLoadBalancer, Ports: ports, AllocateLoadBalancerNodePorts: &yes}, 2, 1},
		"of one that asks for none": {corev1.ServiceSpec{Type: corev1.ServiceTypeLoadBalancer, Ports: ports, AllocateLoadBalancerNodePorts: &no}, 1, 1},
	} {
		used := serviceUsage(&corev1.Service{Spec: c.spec})
		nodes, balancers := used[corev1.ResourceServicesNodePorts], used[corev1.ResourceServicesLoadBalancers]
		if nodes.Value() != c.nodes || balancers.Value() != c.balancers {
			t.Errorf("%s: %s ports of nodes and %s balancers", name, nodes.String(), balancers.String())
		}
	}
}
