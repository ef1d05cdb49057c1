package warnings

import (
	"reflect"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	netutils "k8s.io/utils/net"

	"github.com/wasmgate/wasmgate/crd/object"
	"github.com/wasmgate/wasmgate/crd/quantity"
)

// oldLabels are labels of nodes that others took the place of.
var oldLabels = map[string]string{
	"beta.kubernetes.io/arch":                       `deprecated since v1.14; use "kubernetes.io/arch" instead`,
	"beta.kubernetes.io/os":                         `deprecated since v1.14; use "kubernetes.io/os" instead`,
	"failure-domain.beta.kubernetes.io/region":      `deprecated since v1.17; use "topology.kubernetes.io/region" instead`,
	"failure-domain.beta.kubernetes.io/zone":        `deprecated since v1.17; use "topology.kubernetes.io/zone" instead`,
	"beta.kubernetes.io/instance-type":              `deprecated since v1.17; use "node.kubernetes.io/instance-type" instead`,
	"app.kubernetes.io/created-by":                  `deprecated since v1.9`,
	"scheduler.alpha.kubernetes.io/preferAvoidPods": `deprecated since v1.22; use Taints and Tolerations instead`,
	"node-role.kubernetes.io/master":                `use "node-role.kubernetes.io/control-plane" instead`,
}

// labels are about the labels of nodes in a map.
func (t *told) labels(at *field.Path, of map[string]any) {
	for _, key := range keys(of) {
		if oldLabels[key] != "" {
			t.say("%s: %s", at.Key(key), oldLabels[key])
		}
	}
}

// term is about the expressions of a term that selects nodes; values may be those of
// labels, or anything.
func (t *told) term(at *field.Path, term map[string]any, values bool) {
	for i, e := range list(term, "matchExpressions") {
		here := at.Child("matchExpressions").Index(i)
		if key := object.TextAt(e, "key"); oldLabels[key] != "" {
			t.say("%s: %s is %s", here.Child("key"), key, oldLabels[key])
		}
		for j, value := range texts(e, "values") {
			if !values || t.full() {
				break
			}
			for _, msg := range validation.IsValidLabelValue(value) {
				t.say("%s: %s is invalid, %s", here.Child("values").Index(j), value, msg)
			}
		}
	}
}

// ip is about an address that is written in a way that others may misread.
func (t *told) ip(at *field.Path, value string) {
	if netutils.ParseIPSloppy(value) == nil || t.full() {
		return
	}
	for _, w := range validation.GetWarningsForIP(at, value) {
		t.say("%s", w)
	}
}

func (t *told) cidr(at *field.Path, value string) {
	if _, _, err := netutils.ParseCIDRSloppy(value); err != nil || t.full() {
		return
	}
	for _, w := range validation.GetWarningsForCIDR(at, value) {
		t.say("%s", w)
	}
}

func aboutService(t *told, obj, _ map[string]any) {
	spec := object.Child(obj, "spec")
	kind, address, balancer := object.TextAt(spec, "type"), object.TextAt(spec, "clusterIP"), object.TextAt(spec, "loadBalancerIP")
	outside, headless := texts(spec, "externalIPs"), kind == "ClusterIP" && address == "None"
	if _, has := annotations(obj)["service.kubernetes.io/topology-aware-hints"]; has {
		t.say("annotation service.kubernetes.io/topology-aware-hints is deprecated, please use service.kubernetes.io/topology-mode instead")
	}
	if address != "" && address != "None" {
		for i, ip := range texts(spec, "clusterIPs") {
			t.ip(field.NewPath("spec", "clusterIPs").Index(i), ip)
		}
	}
	if headless {
		if balancer != "" {
			t.say("spec.loadBalancerIP is ignored for headless services")
		}
		if len(outside) > 0 {
			t.say("spec.externalIPs is ignored for headless services")
		}
		if spec["sessionAffinity"] != "None" {
			t.say("spec.SessionAffinity is ignored for headless services")
		}
	}
	for i, ip := range outside {
		t.ip(field.NewPath("spec", "externalIPs").Index(i), ip)
	}
	if len(outside) > 0 && !headless && kind != "ExternalName" {
		t.say("spec.externalIPs is deprecated and may no longer be implemented in some clusters")
	}
	t.ip(field.NewPath("spec", "loadBalancerIP"), balancer)
	for i, cidr := range texts(spec, "loadBalancerSourceRanges") {
		t.cidr(field.NewPath("spec", "loadBalancerSourceRanges").Index(i), cidr)
	}
	if kind == "ExternalName" && len(outside) > 0 {
		t.say("spec.externalIPs is ignored when spec.type is %q", kind)
	}
	if kind != "ExternalName" && object.TextAt(spec, "externalName") != "" {
		t.say("spec.externalName is ignored when spec.type is not %q", "ExternalName")
	}
	if spec["trafficDistribution"] == "PreferClose" {
		t.say("spec.trafficDistribution: %q is deprecated; use %q", "PreferClose", "PreferSameZone")
	}
}

func aboutEndpoints(t *told, obj, _ map[string]any) {
	if child(obj, "metadata", "labels")["endpoints.kubernetes.io/managed-by"] == "endpoint-controller" {
		return
	}
	for i, subset := range list(obj, "subsets") {
		for _, name := range []string{"addresses", "notReadyAddresses"} {
			for j, a := range list(subset, name) {
				t.ip(field.NewPath("subsets").Index(i).Child(name).Index(j).Child("ip"), object.TextAt(a, "ip"))
			}
		}
	}
}

func aboutSlice(t *told, obj, old map[string]any) {
	if old == nil && obj["addressType"] == "FQDN" {
		t.say("spec.addressType: FQDN endpoints are deprecated")
	}
	switch child(obj, "metadata", "labels")["endpointslice.kubernetes.io/managed-by"] {
	case "endpointslice-controller.k8s.io", "endpointslicemirroring-controller.k8s.io":
		return
	}
	for i, e := range list(obj, "endpoints") {
		for j, a := range texts(e, "addresses") {
			t.ip(field.NewPath("endpoints").Index(i).Child("addresses").Index(j), a)
		}
	}
}

func aboutIngress(t *told, obj, old map[string]any) {
	const class = "kubernetes.io/ingress.class"
	if _, has := annotations(obj)[class]; has && old == nil && object.Child(obj, "spec")["ingressClassName"] == nil {
		t.say("annotation %q is deprecated, please use 'spec.ingressClassName' instead", class)
	}
}

func aboutPolicy(t *told, obj, _ map[string]any) {
	for _, way := range [][2]string{{"ingress", "from"}, {"egress", "to"}} {
		for i, rule := range list(object.Child(obj, "spec"), way[0]) {
			for j, peer := range list(rule, way[1]) {
				block, at := object.Child(peer, "ipBlock"), field.NewPath("spec", way[0]).Index(i).Child(way[1]).Index(j).Child("ipBlock")
				t.cidr(at.Child("cidr"), object.TextAt(block, "cidr"))
				for k, except := range texts(block, "except") {
					t.cidr(at.Child("except").Index(k), except)
				}
			}
		}
	}
}

func aboutNode(t *told, obj, _ map[string]any) {
	spec := object.Child(obj, "spec")
	if spec["configSource"] != nil {
		t.say("spec.configSource: the feature is removed")
	}
	if object.TextAt(spec, "externalID") != "" {
		t.say("spec.externalID: this field is deprecated, and is unused by Kubernetes")
	}
	for i, cidr := range texts(spec, "podCIDRs") {
		t.cidr(field.NewPath("spec", "podCIDRs").Index(i), cidr)
	}
}

func aboutRuntimeClass(t *told, obj, _ map[string]any) {
	for _, key := range keys(child(obj, "scheduling", "nodeSelector")) {
		if oldLabels[key] != "" {
			t.say("scheduling.nodeSelector: %s", oldLabels[key])
		}
	}
}

func aboutStorageClass(t *told, obj, _ map[string]any) {
	for i, topology := range list(obj, "allowedTopologies") {
		for j, e := range list(topology, "matchLabelExpressions") {
			if key := object.TextAt(e, "key"); oldLabels[key] != "" {
				t.say("%s: %s", field.NewPath("allowedTopologies").Index(i).Child("matchLabelExpressions").Index(j).Child("key"), oldLabels[key])
			}
		}
	}
}

func aboutCapacity(t *told, obj, _ map[string]any) {
	nodes, at := object.Child(obj, "nodeTopology"), field.NewPath("nodeTopology")
	t.term(at, nodes, false)
	for _, key := range keys(object.Child(nodes, "matchLabels")) {
		if oldLabels[key] != "" {
			t.say("%s: %s", at.Child("matchLabels").Child(key), oldLabels[key])
		}
	}
}

func aboutDriver(t *told, obj, old map[string]any) {
	spec := object.Child(obj, "spec")
	if len(list(spec, "tokenRequests")) == 0 || spec["serviceAccountTokenInSecrets"] != nil {
		return
	}
	if old == nil || !reflect.DeepEqual(spec["tokenRequests"], object.Child(old, "spec")["tokenRequests"]) {
		t.say("spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to true to prevent possible logging of tokens in volume attributes")
	}
}

func aboutQuota(t *told, obj, old map[string]any) {
	if old != nil {
		return
	}
	hard := child(obj, "spec", "hard")
	for _, name := range []string{"cpu", "memory", "storage", "ephemeral-storage"} {
		asked := "requests." + name
		if _, has := hard[asked]; !has && (name == "cpu" || name == "memory") {
			asked = name
		}
		limit := "limits." + name
		request, first := read(hard[asked])
		most, second := read(hard[limit])
		if first && second && request.Cmp(most) > 0 {
			t.say("ResourceQuota %s (%s) should be less than %s (%s)", asked, request.String(), limit, most.String())
		}
	}
}

// read is a quantity, if it is one that can be read.
func read(v any) (resource.Quantity, bool) {
	text, ok := v.(string)
	if !ok || quantity.Check(text) != nil {
		return resource.Quantity{}, false
	}
	q, err := resource.ParseQuantity(text)
	return q, err == nil
}
