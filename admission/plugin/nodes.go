package plugin

import (
	"context"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/admission/order"
	"github.com/wasmgate/wasmgate/crd/object"
)

var nodes = schema.GroupResource{Resource: "nodes"}

// notReady is the taint that keeps pods away from a node which is not ready.
const notReady = "node.kubernetes.io/not-ready"

// TaintNodesByCondition has a new node be not ready, until a controller says that it
// is.
type TaintNodesByCondition struct{}

// Name implements [admission.Plugin].
func (TaintNodesByCondition) Name() string { return order.TaintNodesByCondition }

// Edits implements [admission.Editor].
func (TaintNodesByCondition) Edits(o admission.Operation, gr schema.GroupResource, subresource string) bool {
	return o == admission.Create && gr == nodes && subresource == ""
}

// Edit implements [admission.Editor].
func (TaintNodesByCondition) Edit(_ context.Context, _ admission.Attributes, tree map[string]any) (changed bool, err error) {
	spec := object.Child(tree, "spec")
	if spec == nil {
		spec = map[string]any{}
		tree["spec"] = spec
	}
	taints, _ := spec["taints"].([]any)
	if slices.ContainsFunc(taints, func(t any) bool {
		taint, _ := t.(map[string]any)
		return object.TextAt(taint, "key") == notReady && object.TextAt(taint, "effect") == "NoSchedule"
	}) {
		return false, nil
	}
	spec["taints"] = append(taints, map[string]any{"key": notReady, "effect": "NoSchedule"})
	return true, nil
}

// topology are the labels of nodes that pods get.
var topology = []string{"topology.kubernetes.io/zone", "topology.kubernetes.io/region"}

// PodTopologyLabels gives a pod the labels of its node that say where that is: when
// it is bound, or created on a node.
type PodTopologyLabels struct{ Nodes MetadataReader }

// MetadataReader reads the metadata of objects alone, from a cache: nodes are large.
type MetadataReader interface {
	// GetMetadata reads that of an object; a NotFound status error when there is none.
	GetMetadata(ctx context.Context, gr schema.GroupResource, namespace, name string) (*metav1.PartialObjectMetadata, error)
}

// Name implements [admission.Plugin].
func (PodTopologyLabels) Name() string { return order.PodTopologyLabels }

// Edits implements [admission.Editor].
func (PodTopologyLabels) Edits(o admission.Operation, gr schema.GroupResource, subresource string) bool {
	return o == admission.Create && gr == pods && (subresource == "" || subresource == "binding")
}

// Edit implements [admission.Editor].
func (p PodTopologyLabels) Edit(ctx context.Context, a admission.Attributes, tree map[string]any) (changed bool, err error) {
	node := object.TextAt(object.Child(tree, "spec"), "nodeName")
	if target := object.Child(tree, "target"); a.GetSubresource() == "binding" && object.TextAt(target, "kind") == "Node" {
		node = object.TextAt(target, "name")
	}
	if node == "" {
		return false, nil
	}
	found, err := p.Nodes.GetMetadata(ctx, nodes, "", node)
	if apierrors.IsNotFound(err) {
		return false, nil
	} else if err != nil {
		return false, err
	}
	metadata := object.Child(tree, "metadata")
	if metadata == nil {
		metadata = map[string]any{}
		tree["metadata"] = metadata
	}
	all := object.Child(metadata, "labels")
	for _, key := range topology {
		value, has := found.Labels[key]
		if !has {
			continue
		}
		if all == nil {
			all = map[string]any{}
			metadata["labels"] = all
		}
		all[key], changed = value, true
	}
	return changed, nil
}
