package translate

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	discoveryv1beta1 "k8s.io/api/discovery/v1beta1"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	networkingv1 "k8s.io/api/networking/v1"
	networkingv1beta1 "k8s.io/api/networking/v1beta1"
	policyv1 "k8s.io/api/policy/v1"
	policyv1beta1 "k8s.io/api/policy/v1beta1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// versionless is the label by which budgets of policy/v1beta1 said that they select all
// pods, and those of v1 say that they select none: an empty selector meant the opposite.
const versionless = "pdb.kubernetes.io/deprecated-v1beta1-empty-selector-match"

var (
	allOfOld  = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: versionless, Operator: metav1.LabelSelectorOpDoesNotExist}}}
	noneOfNew = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: versionless, Operator: metav1.LabelSelectorOpExists}}}
)

// DisruptionBudget is a budget of policy/v1beta1 at v1.
func DisruptionBudget(in *policyv1beta1.PodDisruptionBudget) (*policyv1.PodDisruptionBudget, error) {
	selector := in.Spec.Selector
	switch {
	case equality.Semantic.DeepEqual(selector, &metav1.LabelSelector{}):
		selector = noneOfNew.DeepCopy()
	case equality.Semantic.DeepEqual(selector, allOfOld):
		selector = &metav1.LabelSelector{}
	}
	return &policyv1.PodDisruptionBudget{
		ObjectMeta: in.ObjectMeta,
		Spec: policyv1.PodDisruptionBudgetSpec{
			MinAvailable: in.Spec.MinAvailable, Selector: selector, MaxUnavailable: in.Spec.MaxUnavailable,
			UnhealthyPodEvictionPolicy: (*policyv1.UnhealthyPodEvictionPolicyType)(in.Spec.UnhealthyPodEvictionPolicy),
		},
		Status: policyv1.PodDisruptionBudgetStatus(in.Status),
	}, nil
}

// zeroShares is the annotation of priority levels of flowcontrol.apiserver.k8s.io/v1beta3 by which
// no shares were told from those that nobody had said.
const zeroShares = "flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares"

// PriorityLevel is one of flowcontrol.apiserver.k8s.io/v1beta3, which has the same fields, at v1.
func PriorityLevel(in *flowcontrolv1.PriorityLevelConfiguration) (*flowcontrolv1.PriorityLevelConfiguration, error) {
	limited := in.Spec.Limited
	if _, said := in.Annotations[zeroShares]; !said && limited != nil && (limited.NominalConcurrencyShares == nil || *limited.NominalConcurrencyShares == 0) {
		shares := int32(30)
		limited.NominalConcurrencyShares = &shares
	}
	delete(in.Annotations, zeroShares)
	return in, nil
}

// Ingress is one of networking.k8s.io/v1beta1, or extensions/v1beta1, at v1.
func Ingress(in *networkingv1beta1.Ingress) (*networkingv1.Ingress, error) {
	out := &networkingv1.Ingress{ObjectMeta: in.ObjectMeta, Spec: networkingv1.IngressSpec{
		IngressClassName: in.Spec.IngressClassName, DefaultBackend: ingressBackend(in.Spec.Backend),
	}}
	for _, t := range in.Spec.TLS {
		out.Spec.TLS = append(out.Spec.TLS, networkingv1.IngressTLS(t))
	}
	for _, r := range in.Spec.Rules {
		rule := networkingv1.IngressRule{Host: r.Host}
		if r.HTTP != nil {
			rule.HTTP = &networkingv1.HTTPIngressRuleValue{}
			for _, p := range r.HTTP.Paths {
				rule.HTTP.Paths = append(rule.HTTP.Paths, networkingv1.HTTPIngressPath{
					Path: p.Path, PathType: ingressPathType(p.PathType), Backend: *ingressBackend(&p.Backend),
				})
			}
		}
		out.Spec.Rules = append(out.Spec.Rules, rule)
	}
	for _, i := range in.Status.LoadBalancer.Ingress {
		now := networkingv1.IngressLoadBalancerIngress{IP: i.IP, Hostname: i.Hostname}
		for _, p := range i.Ports {
			now.Ports = append(now.Ports, networkingv1.IngressPortStatus(p))
		}
		out.Status.LoadBalancer.Ingress = append(out.Status.LoadBalancer.Ingress, now)
	}
	return out, nil
}

// ingressPathType is that of a path, which older ones had none of.
func ingressPathType(t *networkingv1beta1.PathType) *networkingv1.PathType {
	if t == nil {
		free := networkingv1.PathTypeImplementationSpecific
		return &free
	}
	return (*networkingv1.PathType)(t)
}

func ingressBackend(in *networkingv1beta1.IngressBackend) *networkingv1.IngressBackend {
	if in == nil {
		return nil
	}
	out := &networkingv1.IngressBackend{Resource: in.Resource}
	if in.ServiceName != "" || in.ServicePort != (intstr.IntOrString{}) {
		out.Service = &networkingv1.IngressServiceBackend{
			Name: in.ServiceName, Port: networkingv1.ServiceBackendPort{Name: in.ServicePort.StrVal, Number: in.ServicePort.IntVal},
		}
	}
	return out
}

// EndpointSlice is one of discovery.k8s.io/v1beta1 at v1, whose endpoints say in fields of
// their own what the topology said.
func EndpointSlice(in *discoveryv1beta1.EndpointSlice) (*discoveryv1.EndpointSlice, error) {
	out := &discoveryv1.EndpointSlice{ObjectMeta: in.ObjectMeta, AddressType: discoveryv1.AddressType(in.AddressType)}
	for _, e := range in.Endpoints {
		now := discoveryv1.Endpoint{
			Addresses: e.Addresses, Conditions: discoveryv1.EndpointConditions(e.Conditions), Hostname: e.Hostname,
			TargetRef: e.TargetRef, NodeName: e.NodeName, DeprecatedTopology: maps.Clone(e.Topology),
		}
		if zone, ok := e.Topology[corev1.LabelTopologyZone]; ok {
			now.Zone = &zone
			delete(now.DeprecatedTopology, corev1.LabelTopologyZone)
		}
		if node, ok := e.Topology[corev1.LabelHostname]; ok && e.NodeName != nil && node == *e.NodeName {
			delete(now.DeprecatedTopology, corev1.LabelHostname)
		}
		if len(now.DeprecatedTopology) == 0 {
			now.DeprecatedTopology = nil
		}
		if e.Hints != nil {
			now.Hints = &discoveryv1.EndpointHints{}
			for _, z := range e.Hints.ForZones {
				now.Hints.ForZones = append(now.Hints.ForZones, discoveryv1.ForZone(z))
			}
			for _, n := range e.Hints.ForNodes {
				now.Hints.ForNodes = append(now.Hints.ForNodes, discoveryv1.ForNode(n))
			}
		}
		out.Endpoints = append(out.Endpoints, now)
	}
	for _, p := range in.Ports {
		out.Ports = append(out.Ports, discoveryv1.EndpointPort(p))
	}
	return out, nil
}
