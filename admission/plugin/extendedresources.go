package plugin

import (
	"context"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/admission/order"
	"github.com/wasmgate/wasmgate/crd/object"
)

// ExtendedResourceToleration lets pods that ask for devices onto the nodes that are kept
// for those: the taint has the name of the resource.
type ExtendedResourceToleration struct{}

// Name implements [admission.Plugin].
func (ExtendedResourceToleration) Name() string { return order.ExtendedResourceToleration }

// Edits implements [admission.Editor].
func (ExtendedResourceToleration) Edits(o admission.Operation, gr schema.GroupResource, subresource string) bool {
	return (o == admission.Create || o == admission.Update) && gr == pods && subresource == ""
}

// Edit implements [admission.Editor].
func (ExtendedResourceToleration) Edit(_ context.Context, _ admission.Attributes, tree map[string]any) (changed bool, err error) {
	names := extendedResources(tree)
	if len(names) == 0 {
		return false, nil
	}
	list, err := tolerationsOf(tree)
	if err != nil {
		return false, err
	}
	wanted := sets.New(names...)
	for i, t := range list { // one that differs in its time alone becomes the one without
		if t.Operator == corev1.TolerationOpExists && t.Effect == corev1.TaintEffectNoSchedule && t.Value == "" && slices.Contains(names, t.Key) {
			changed = changed || t.TolerationSeconds != nil
			list[i].TolerationSeconds = nil
			wanted.Delete(t.Key)
		}
	}
	for _, name := range sets.List(wanted) {
		list, changed = append(list, corev1.Toleration{Key: name, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule}), true
	}
	if !changed {
		return false, nil
	}
	return true, setTolerations(tree, list)
}

// extendedResources are those that containers ask for.
func extendedResources(tree map[string]any) []string {
	spec, names := object.Child(tree, "spec"), sets.New[string]()
	for _, list := range []string{"containers", "initContainers"} {
		for _, c := range object.Objects(spec[list]) {
			for name := range object.Child(c, "resources", "requests") {
				if isExtended(name) {
					names.Insert(name)
				}
			}
		}
	}
	return sets.List(names)
}

// isExtended tells resources of others from those of Kubernetes itself.
func isExtended(name string) bool {
	return strings.Contains(name, "/") && !strings.Contains(name, corev1.ResourceDefaultNamespacePrefix) &&
		!strings.HasPrefix(name, corev1.DefaultResourceRequestsPrefix) && len(validation.IsQualifiedName(corev1.DefaultResourceRequestsPrefix+name)) == 0
}
