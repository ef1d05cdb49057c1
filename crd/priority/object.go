package priority

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Object is a VersionPriority.
type Object struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              Spec   `json:"spec"`
	Status            Status `json:"status,omitzero"`
}

// Spec says who orders what.
type Spec struct {
	// Groups are the API groups whose versions are ordered.
	Groups []string `json:"groups"`
	// Module is the name of the WasmModule that is asked.
	Module string `json:"module"`
}

// Status is what came of it.
type Status struct {
	ObservedGeneration int64              `json:"observedGeneration,omitempty"`
	Groups             []Group            `json:"groups,omitempty"`
	Conditions         []metav1.Condition `json:"conditions,omitempty"`
}

// Group is what became of one group of the spec.
type Group struct {
	Group string `json:"group"`
	// Versions is the order that the module gave; empty where the Kubernetes
	// order is in force.
	Versions []string `json:"versions,omitempty"`
	// Message says why there is none.
	Message string `json:"message,omitempty"`
}

// Order is the order that the module gave for a group, nil for none.
func (s Status) Order(group string) []string {
	for _, g := range s.Groups {
		if g.Group == group {
			return g.Versions
		}
	}
	return nil
}

// Owners says which object orders each group that any of all names: the oldest,
// and of those that are equally old the first by name. It does not matter
// whether its module works: another one does not take its place.
func Owners(all []*Object) map[string]*Object {
	owners := map[string]*Object{}
	for _, o := range all {
		for _, g := range o.Spec.Groups {
			if was := owners[g]; was == nil || o.before(was) {
				owners[g] = o
			}
		}
	}
	return owners
}

func (o *Object) before(other *Object) bool {
	if !o.CreationTimestamp.Equal(&other.CreationTimestamp) {
		return o.CreationTimestamp.Before(&other.CreationTimestamp)
	}
	return strings.Compare(o.Name, other.Name) < 0
}

// Apply orders the versions that are served by an order that may have been made
// of others: those that it knows come first and as it says, the rest after
// them as they were. The result is a permutation of served, whatever order is,
// and nobody else's.
func Apply(order, served []string) []string {
	left := make(map[string]bool, len(served))
	for _, v := range served {
		left[v] = true
	}
	out := make([]string, 0, len(served))
	for _, versions := range [][]string{order, served} {
		for _, v := range versions {
			if left[v] {
				out = append(out, v)
				delete(left, v)
			}
		}
	}
	return out
}
