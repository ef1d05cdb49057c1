package discovery

import "k8s.io/apimachinery/pkg/runtime/schema"

// Priority is where a group stands among the groups, and a version in its group: what
// is larger comes first.
type Priority struct{ Group, Version int32 }

// OfCustom is the priority of custom resources, and of what has none of its own.
var OfCustom = Priority{1000, 100}

// PriorityOf is kube-apiserver's for the versions of its own groups, after which this
// gateway's own one comes.
func PriorityOf(gv schema.GroupVersion) Priority {
	group, ok := groupPriorities[gv.Group]
	if !ok {
		return OfCustom
	}
	if version, ok := versionPriorities[gv]; ok {
		return Priority{group, version}
	}
	if version, ok := usual[gv.Version]; ok {
		return Priority{group, version}
	}
	return Priority{group, 1}
}

var groupPriorities = map[string]int32{
	"apiregistration.k8s.io":       20000,
	"":                             18000,
	"apps":                         17800,
	"events.k8s.io":                17750,
	"authentication.k8s.io":        17700,
	"authorization.k8s.io":         17600,
	"autoscaling":                  17500,
	"batch":                        17400,
	"certificates.k8s.io":          17300,
	"networking.k8s.io":            17200,
	"policy":                       17100,
	"rbac.authorization.k8s.io":    17000,
	"storage.k8s.io":               16800,
	"admissionregistration.k8s.io": 16700,
	"apiextensions.k8s.io":         16700,
	"scheduling.k8s.io":            16600,
	"coordination.k8s.io":          16500,
	"node.k8s.io":                  16300,
	"discovery.k8s.io":             16200,
	"resource.k8s.io":              16200,
	"flowcontrol.apiserver.k8s.io": 16100,
	"storagemigration.k8s.io":      15800,
	"wasmgate.dev":                 15000,
}

// usual are the priorities of versions in most groups.
var usual = map[string]int32{"v1": 15, "v1beta1": 9}

var versionPriorities = map[schema.GroupVersion]int32{
	{Version: "v1"}:                                             1,
	{Group: "autoscaling", Version: "v2"}:                       30,
	{Group: "coordination.k8s.io", Version: "v1beta1"}:          13,
	{Group: "admissionregistration.k8s.io", Version: "v1beta1"}: 12,
	{Group: "flowcontrol.apiserver.k8s.io", Version: "v1"}:      21,
	{Group: "resource.k8s.io", Version: "v1"}:                   21,
}
