package plugin

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/admission/order"
	"github.com/wasmgate/wasmgate/crd/object"
)

// selectorAnnotation is where a namespace says on which nodes its pods run.
const selectorAnnotation = "scheduler.alpha.kubernetes.io/node-selector"

// everywhere is what the configuration calls the selector of namespaces that say nothing.
const everywhere = "clusterDefaultNodeSelector"

// PodNodeSelector gives pods the node selector of their namespace, and refuses those
// that contradict it, or that select by what their namespace may not.
type PodNodeSelector struct{ allowed map[string]labels.Set }

// NewPodNodeSelector reads a file that has podNodeSelectorPluginConfig: what pods of a
// namespace may select by, and what is selected for those of namespaces that say
// nothing. Of no text everything is allowed.
func NewPodNodeSelector(configuration []byte) (PodNodeSelector, error) {
	var c struct {
		PodNodeSelectorPluginConfig map[string]string `json:"podNodeSelectorPluginConfig"`
	}
	p := PodNodeSelector{map[string]labels.Set{}}
	if err := readConfiguration(configuration, &c); err != nil {
		return p, err
	}
	for name, selector := range c.PodNodeSelectorPluginConfig {
		set, err := labels.ConvertSelectorToLabelsMap(selector)
		if err != nil {
			return p, fmt.Errorf("podNodeSelectorPluginConfig: %s: %w", name, err)
		}
		p.allowed[name] = set
	}
	return p, nil
}

// Name implements [admission.Plugin].
func (PodNodeSelector) Name() string { return order.PodNodeSelector }

// Edits implements [admission.Editor].
func (PodNodeSelector) Edits(o admission.Operation, gr schema.GroupResource, subresource string) bool {
	return o == admission.Create && gr == pods && subresource == ""
}

// Edit implements [admission.Editor].
func (p PodNodeSelector) Edit(ctx context.Context, a admission.Attributes, tree map[string]any) (changed bool, err error) {
	selected, err := p.selected(ctx, a)
	if err != nil {
		return false, err
	}
	if err := p.check(a, tree, selected); err != nil {
		return false, err
	}
	spec := object.Child(tree, "spec")
	if spec == nil {
		return false, nil
	}
	for key, value := range selected {
		selector := object.Ensure(spec, "nodeSelector")
		if selector[key] != value {
			selector[key], changed = value, true
		}
	}
	return changed, nil
}

// Validate implements [admission.Validator].
func (p PodNodeSelector) Validate(ctx context.Context, a admission.Attributes) error {
	if !p.Edits(a.GetOperation(), a.GetResource().GroupResource(), a.GetSubresource()) {
		return nil
	}
	selected, err := p.selected(ctx, a)
	if err != nil {
		return err
	}
	return p.check(a, a.GetObject().Object, selected)
}

// selected is what is selected for all pods of the namespace.
func (p PodNodeSelector) selected(ctx context.Context, a admission.Attributes) (labels.Set, error) {
	namespace, err := a.GetNamespaceObject(ctx, a.GetNamespace())
	if err != nil {
		return nil, err
	}
	said, has := namespace.Annotations[selectorAnnotation]
	if !has {
		return p.allowed[everywhere], nil
	}
	return labels.ConvertSelectorToLabelsMap(said)
}

// check refuses pods that select otherwise than they may.
func (p PodNodeSelector) check(a admission.Attributes, tree map[string]any, selected labels.Set) error {
	of := labels.Set{}
	for key, value := range object.Child(object.Child(tree, "spec"), "nodeSelector") {
		of[key], _ = value.(string)
	}
	refuse := func(why string) error {
		return apierrors.NewForbidden(pods, nameIn(tree), errors.New(why))
	}
	if labels.Conflicts(selected, of) {
		return refuse("pod node label selector conflicts with its namespace node label selector")
	}
	allowed := p.allowed[a.GetNamespace()]
	for key, value := range of {
		if is, may := allowed[key]; len(allowed) > 0 && (!may || is != value) {
			return refuse("pod node label selector labels conflict with its namespace whitelist")
		}
	}
	return nil
}
