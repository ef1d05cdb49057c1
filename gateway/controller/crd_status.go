package controller

import (
	"context"
	"maps"
	"slices"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// ConditionsFunc computes the status of a CustomResourceDefinition from the
// definition and the others of its group; it is definitions.Conditions. Of the
// others only metadata, spec.group, spec.names and status are set. It changes
// neither argument.
type ConditionsFunc func(c *apiextensionsv1.CustomResourceDefinition, sameGroup []*apiextensionsv1.CustomResourceDefinition,
	now metav1.Time) (status apiextensionsv1.CustomResourceDefinitionStatus, changed bool)

// CRDStatus keeps the status of CustomResourceDefinitions right: which names
// are accepted, whether the kind is established, what is wrong with the schema.
//
// It has one worker, so that two definitions that want the same name are
// looked at one after the other and the first one wins.
type CRDStatus struct {
	objects    Objects
	conditions ConditionsFunc
	// known is every definition without its versions, by name, as of the last
	// look at it. It saves reading the whole group for each change.
	known map[string]*apiextensionsv1.CustomResourceDefinition
}

// NewCRDStatus returns the controller.
func NewCRDStatus(objects Objects, conditions ConditionsFunc) *CRDStatus {
	return &CRDStatus{objects: objects, conditions: conditions}
}

// Name implements [Controller].
func (c *CRDStatus) Name() string { return "crd-status" }

// Watches implements [Controller].
func (c *CRDStatus) Watches() []schema.GroupResource { return []schema.GroupResource{CRDResource} }

// Reconcile implements [Controller].
func (c *CRDStatus) Reconcile(ctx context.Context, q Queue, key Key) error {
	if err := c.load(ctx); err != nil {
		return err
	}
	before := c.known[key.Name]
	obj, err := c.objects.Get(ctx, CRDResource, "", key.Name)
	if apierrors.IsNotFound(err) {
		delete(c.known, key.Name)
		c.wakeWaiting(q, before, nil)
		return nil
	}
	if err != nil {
		return err
	}
	var crd apiextensionsv1.CustomResourceDefinition
	if err := decode(obj, &crd); err != nil {
		return err
	}
	status, changed := c.conditions(&crd, c.groupOf(&crd), metav1.NewTime(time.Now()))
	if changed {
		if err := setStatus(obj, &status); err != nil {
			return err
		}
		if obj, err = c.objects.Update(ctx, CRDResource, "status", obj); apierrors.IsNotFound(err) {
			return nil // its deletion comes as a change of its own
		} else if err != nil {
			return err
		}
	}
	after, err := outline(obj)
	if err != nil {
		return err
	}
	c.known[key.Name] = after
	c.wakeWaiting(q, before, after)
	return nil
}

// load fills known once. It needs everything that was committed, or the first
// definition looked at might be given a name that is taken.
func (c *CRDStatus) load(ctx context.Context) error {
	if c.known != nil {
		return nil
	}
	if err := c.objects.Fresh(ctx); err != nil {
		return err
	}
	all, err := c.objects.List(ctx, CRDResource, "")
	if err != nil {
		return err
	}
	known := make(map[string]*apiextensionsv1.CustomResourceDefinition, len(all))
	for _, obj := range all {
		crd, err := outline(obj)
		if err != nil {
			return err
		}
		known[crd.Name] = crd
	}
	c.known = known
	return nil
}

// groupOf returns the other definitions of crd's group, sorted by name.
func (c *CRDStatus) groupOf(crd *apiextensionsv1.CustomResourceDefinition) []*apiextensionsv1.CustomResourceDefinition {
	var group []*apiextensionsv1.CustomResourceDefinition
	for _, name := range slices.Sorted(maps.Keys(c.known)) {
		if other := c.known[name]; name != crd.Name && other.Spec.Group == crd.Spec.Group {
			group = append(group, other)
		}
	}
	return group
}

// wakeWaiting asks for the definitions of the group that lack a name, when one
// was given up between before and after.
func (c *CRDStatus) wakeWaiting(q Queue, before, after *apiextensionsv1.CustomResourceDefinition) {
	if before == nil {
		return
	}
	if after != nil && !gaveUpNames(before.Status.AcceptedNames, after.Status.AcceptedNames) {
		return
	}
	for _, other := range c.groupOf(before) {
		if !conditionTrue(other, apiextensionsv1.NamesAccepted) {
			q.Add(Key{GroupResource: CRDResource, Name: other.Name})
		}
	}
}

func gaveUpNames(before, after apiextensionsv1.CustomResourceDefinitionNames) bool {
	held := nameSet(after)
	for name := range nameSet(before) {
		if !held[name] {
			return true
		}
	}
	return false
}

// nameSet is every name a definition may hold; kinds and resource names live
// in different spaces, hence the prefix.
func nameSet(n apiextensionsv1.CustomResourceDefinitionNames) map[string]bool {
	set := map[string]bool{n.Plural: true, n.Singular: true, "kind/" + n.Kind: true, "kind/" + n.ListKind: true}
	for _, s := range n.ShortNames {
		set[s] = true
	}
	return set
}

// outline reads a definition without its versions, which are nearly all of it.
func outline(obj *unstructured.Unstructured) (*apiextensionsv1.CustomResourceDefinition, error) {
	spec := section(obj, "spec")
	short := &unstructured.Unstructured{Object: map[string]any{
		"metadata": map[string]any{"name": obj.GetName(), "uid": string(obj.GetUID())},
		"spec":     map[string]any{"group": spec["group"], "names": spec["names"]},
		"status":   section(obj, "status"),
	}}
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := decode(short, crd); err != nil {
		return nil, err
	}
	crd.CreationTimestamp, crd.DeletionTimestamp = obj.GetCreationTimestamp(), obj.GetDeletionTimestamp()
	return crd, nil
}

func conditionTrue(crd *apiextensionsv1.CustomResourceDefinition, t apiextensionsv1.CustomResourceDefinitionConditionType) bool {
	return slices.ContainsFunc(crd.Status.Conditions, func(c apiextensionsv1.CustomResourceDefinitionCondition) bool {
		return c.Type == t && c.Status == apiextensionsv1.ConditionTrue
	})
}
