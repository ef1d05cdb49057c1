package resourcequota

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	library "k8s.io/apiserver/pkg/quota/v1"
	"k8s.io/apiserver/pkg/quota/v1/generic"
)

// The kinds of which more is counted than how many there are.
var (
	Pods     = schema.GroupResource{Resource: "pods"}
	Services = schema.GroupResource{Resource: "services"}
	Claims   = schema.GroupResource{Resource: "persistentvolumeclaims"}
	Devices  = schema.GroupResource{Group: "resource.k8s.io", Resource: "resourceclaims"}
)

var measured = []schema.GroupResource{Pods, Services, Claims, Devices}

// aliases are the kinds that are counted under their plural, too.
var aliases = []schema.GroupResource{{Resource: "configmaps"}, {Resource: "resourcequotas"}, {Resource: "replicationcontrollers"}, {Resource: "secrets"}}

// countPrefix begins the resources that are numbers of objects of any kind.
const countPrefix = "count/"

// Of returns what counts the objects of a kind; nil for one that no quota is
// about.
func Of(gr schema.GroupResource) library.Evaluator {
	switch {
	case gr.Resource == "events" && (gr.Group == "" || gr.Group == "events.k8s.io"):
		return nil
	case gr == Pods:
		return podKind
	case gr == Services:
		return serviceKind
	case gr == Claims:
		return claimKind
	case gr == Devices:
		return deviceKind
	case slices.Contains(aliases, gr):
		return generic.NewObjectCountEvaluator(gr, nil, corev1.ResourceName(gr.Resource))
	}
	return generic.NewObjectCountEvaluator(gr, nil, "")
}

// kinds are those whose objects use what a quota limits.
func kinds(hard corev1.ResourceList) []schema.GroupResource {
	var out []schema.GroupResource
	add := func(gr schema.GroupResource) {
		if !slices.Contains(out, gr) && Of(gr) != nil {
			out = append(out, gr)
		}
	}
	names := library.ResourceNames(hard)
	for _, gr := range slices.Concat(measured, aliases) {
		if len(Of(gr).MatchingResources(names)) > 0 {
			add(gr)
		}
	}
	for _, name := range names {
		if kind, ok := strings.CutPrefix(string(name), countPrefix); ok {
			add(schema.ParseGroupResource(kind))
		}
	}
	return out
}

// Handles tells whether a write of a kind can use more of a quota, as far as that
// can be told before it is read.
func Handles(gr schema.GroupResource, operation admission.Operation, subresource string) bool {
	switch operation {
	case admission.Create:
		return subresource == ""
	case admission.Update:
	default:
		return false
	}
	return slices.Contains(measured, gr) && subresource == "" || gr == Pods && subresource == "resize"
}
