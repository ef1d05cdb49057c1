package extend

import (
	"context"
	"reflect"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/validation"

	"github.com/wasmgate/wasmgate/crd/object"
)

// topology is what beta versions said of where an endpoint is; at v1 nobody may.
const topology = "deprecatedTopology"

// dropTopology drops what a new slice says of where endpoints are in the old way.
func dropTopology(_ context.Context, obj map[string]any) { retopologize(obj, nil) }

// keepTopology does so when endpoints are changed, which keep what is there as long as they
// are not.
func keepTopology(_ string, obj, old map[string]any) {
	const list = "endpoints"
	said := slices.ContainsFunc(object.Objects(obj[list]), func(e map[string]any) bool { return e[topology] != nil })
	if said && !reflect.DeepEqual(object.Objects(obj[list]), object.Objects(old[list])) {
		retopologize(obj, old)
	}
}

// retopologize has the endpoints of a slice on the nodes that they were on by the old way
// where nothing else is said, so that clients who know the new one alone do not move them.
func retopologize(obj, old map[string]any) {
	before := map[string]bool{}
	for _, e := range object.Objects(old["endpoints"]) {
		if node := object.TextAt(e, topology, corev1.LabelHostname); node != "" {
			before[node] = true
		}
	}
	for _, e := range object.Objects(obj["endpoints"]) {
		node := object.TextAt(e, topology, corev1.LabelHostname)
		if e["nodeName"] == nil && before[node] && len(validation.NameIsDNSSubdomain(node, false)) == 0 {
			e["nodeName"] = node
		}
		delete(e, topology)
	}
}
