package service

import (
	"context"
	"maps"
	"reflect"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/crd/object"
)

// Edit implements [admission.Editor]: what the client left out stays as it was, or is
// allocated.
func (a *Assigner) Edit(ctx context.Context, w admission.Attributes, tree map[string]any) (changed bool, err error) {
	spec := object.Child(tree, "spec")
	if spec == nil {
		return false, nil // which validation refuses
	}
	var was map[string]any
	if w.GetOperation() == admission.Update {
		old, err := w.GetOldObject(ctx)
		if err != nil {
			return false, err
		}
		was = a.asRead(object.Child(old.Object, "spec"))
	}
	inherit(spec, was)
	pairAddresses(spec, was)
	if policy := object.TextAt(spec, "internalTrafficPolicy"); object.TextAt(spec, "type") == "ExternalName" && (policy == "Cluster" || policy == "Local") {
		delete(spec, "internalTrafficPolicy") // which older releases gave them
	}
	s := &request{Assigner: a, write: w, spec: spec, was: was}
	if err = s.addresses(ctx); err == nil {
		err = s.nodePorts(ctx)
	}
	return true, err
}

// request is one service being written.
type request struct {
	*Assigner
	write admission.Attributes
	spec  map[string]any
	was   map[string]any // nil for a new service
}

func (s *request) is(types ...corev1.ServiceType) bool {
	for _, t := range types {
		if object.TextAt(s.spec, "type") == string(t) {
			return true
		}
	}
	return false
}

func (s *request) invalid(path *field.Path, value any, detail string) error {
	name := s.write.GetObject().GetName()
	return apierrors.NewInvalid(schema.GroupKind{Kind: "Service"}, name, field.ErrorList{field.Invalid(path, value, detail)})
}

// inherit fills in what an update left out and may, and takes away what came
// with a type that the service has no more.
func inherit(spec, was map[string]any) {
	if was == nil {
		return
	}
	kind, before := object.TextAt(spec, "type"), object.TextAt(was, "type")
	external := func(t string) bool { return t == "NodePort" || t == "LoadBalancer" }
	if kind != "ExternalName" && before != "ExternalName" {
		for _, name := range []string{"clusterIP", "clusterIPs"} {
			if spec[name] == nil || spec[name] == "" {
				spec[name] = was[name]
			}
		}
	}
	drop := func(name string) {
		if reflect.DeepEqual(spec[name], was[name]) {
			delete(spec, name)
		}
	}
	if accessible(was) && !accessible(spec) {
		drop("externalTrafficPolicy")
	}
	if before == "LoadBalancer" && kind != before {
		for _, name := range []string{"allocateLoadBalancerNodePorts", "loadBalancerClass"} {
			drop(name)
		}
	}
	inheritHealth(spec, was, drop)
	if kind == "ExternalName" && before != kind {
		for _, name := range []string{"clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"} {
			drop(name)
		}
	}
	switch {
	case picksPorts(spec) && picksPorts(was):
		inheritPorts(spec, was)
	case external(before) && !external(kind) && maps.Equal(nodePortsOf(spec), nodePortsOf(was)):
		for _, p := range portList(spec) {
			delete(p, "nodePort")
		}
	}
}

// accessible tells that a service can be reached from outside of the cluster.
func accessible(spec map[string]any) bool {
	switch object.TextAt(spec, "type") {
	case "NodePort", "LoadBalancer":
		return true
	case "ClusterIP":
		outside, _ := spec["externalIPs"].([]any)
		return len(outside) > 0
	}
	return false
}

// picksPorts tells that a service gets node ports for those of its ports that have none.
func picksPorts(spec map[string]any) bool {
	kind := object.TextAt(spec, "type")
	return kind == "NodePort" || kind == "LoadBalancer" && spec["allocateLoadBalancerNodePorts"] != false
}

// portList are the ports of a service.
func portList(spec map[string]any) (all []map[string]any) {
	list, _ := spec["ports"].([]any)
	for _, p := range list {
		if p, ok := p.(map[string]any); ok {
			all = append(all, p)
		}
	}
	return all
}

// inheritHealth is inherit for the node port for health checks.
func inheritHealth(spec, was map[string]any, drop func(name string)) {
	n, _ := spec[healthPort].(int64)
	switch before, now := checksHealth(was), checksHealth(spec); {
	case before && now && n == 0:
		spec[healthPort] = was[healthPort]
	case before && !now:
		drop(healthPort)
	}
}

// inheritPorts is inherit for node ports: a port of the same name has the same one, unless
// another port took it.
func inheritPorts(spec, was map[string]any) {
	had, stay, mine := map[string]any{}, nodePortsOf(spec), nodePortsOf(was)
	for _, p := range portList(was) {
		had[object.TextAt(p, "name")] = p["nodePort"]
	}
	for _, p := range portList(spec) {
		n, _ := had[object.TextAt(p, "name")].(int64)
		if n != 0 && (p["nodePort"] == nil || p["nodePort"] == int64(0)) && !(stay[n] && mine[n]) {
			p["nodePort"] = n
		}
	}
}
