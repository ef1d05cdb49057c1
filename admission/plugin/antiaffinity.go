package plugin

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/admission/order"
	"github.com/wasmgate/wasmgate/crd/object"
)

// LimitPodHardAntiAffinity refuses pods that keep others away from more than their own
// node: from a zone, for instance.
type LimitPodHardAntiAffinity struct{}

// Name implements [admission.Plugin].
func (LimitPodHardAntiAffinity) Name() string { return order.LimitPodHardAntiAffinity }

// Validate implements [admission.Validator].
func (LimitPodHardAntiAffinity) Validate(_ context.Context, a admission.Attributes) error {
	o := a.GetOperation()
	if a.GetResource().GroupResource() != pods || a.GetSubresource() != "" || o != admission.Create && o != admission.Update {
		return nil
	}
	tree := a.GetObject().Object
	for _, term := range object.Objects(object.Child(tree, "spec", "affinity", "podAntiAffinity")["requiredDuringSchedulingIgnoredDuringExecution"]) {
		if key := object.TextAt(term, "topologyKey"); key != corev1.LabelHostname {
			return apierrors.NewForbidden(pods, nameIn(tree), fmt.Errorf("affinity.PodAntiAffinity.RequiredDuringScheduling has TopologyKey %s but only key %s is allowed", key, corev1.LabelHostname))
		}
	}
	return nil
}
