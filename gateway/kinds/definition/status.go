// Package definition owns the life of CustomResourceDefinitions: their status
// (accepted names, established, what is wrong with the schema) and their end,
// for which all instances have to go first.
//
// It must not know how a definition is compiled or served: kind.go joins it to what does.
package definition

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

	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/controller/client"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
)

// Objects are the definitions as this package uses them.
type Objects interface {
	client.MetadataGetter
	client.Getter
	client.Lister
	client.Updater
	client.Freshener
}

// ConditionsFunc computes the status of a CustomResourceDefinition from the
// definition and the others of its group; it is definitions.Conditions. Of the
// others only metadata, spec.group, spec.names and status are set. It changes
// neither argument.
type ConditionsFunc func(c *apiextensionsv1.CustomResourceDefinition, sameGroup []*apiextensionsv1.CustomResourceDefinition,
	now metav1.Time) (status apiextensionsv1.CustomResourceDefinitionStatus, changed bool)

// Status keeps the status of CustomResourceDefinitions right: which names
// are accepted, whether the kind is established, what is wrong with the schema.
//
// It has one worker, so that two definitions that want the same name are
// looked at one after the other and the first one wins.
type Status struct {
	objects    Objects
	conditions ConditionsFunc
	// known is every definition without its versions, by name, as of the last
	// look at it. It saves reading the whole group for each change.
	known map[string]*apiextensionsv1.CustomResourceDefinition
}

// NewStatus returns the controller.
func NewStatus(objects Objects, conditions ConditionsFunc) *Status {
	return &Status{objects: objects, conditions: conditions}
}

// Name implements [controller.Controller].
func (c *Status) Name() string { return "crd-status" }

// Watches implements [controller.Controller].
func (c *Status) Watches() []schema.GroupResource { return []schema.GroupResource{gvr.Definitions} }

// Reconcile implements [controller.Controller].
func (c *Status) Reconcile(ctx context.Context, q controller.Queue, key controller.Key) error {
	if err := c.load(ctx); err != nil {
		return err
	}
	before := c.known[key.Name]
	obj, err := c.read(ctx, key.Name, before)
	if apierrors.IsNotFound(err) {
		delete(c.known, key.Name)
		c.wakeWaiting(q, before, nil)
		return nil
	}
	if err != nil || obj == nil {
		return err
	}
	var crd apiextensionsv1.CustomResourceDefinition
	if err := gvr.Decode(obj, &crd); err != nil {
		return err
	}
	status, changed := c.conditions(&crd, c.groupOf(&crd), metav1.NewTime(time.Now()))
	if changed {
		if err := gvr.SetStatus(obj, &status); err != nil {
			return err
		}
		if obj, err = c.objects.Update(ctx, gvr.Definitions, "status", gvr.WithoutSpec(obj)); apierrors.IsNotFound(err) {
			return nil // its deletion comes as a change of its own
		} else if err != nil {
			return err
		}
	}
	after, err := gvr.Outline(obj)
	if err != nil {
		return err
	}
	c.known[key.Name] = after
	c.wakeWaiting(q, before, after)
	return nil
}

// read reads a definition. It is nil when it has its names and is as it was
// when it was looked at before, as after the controller's own write.
func (c *Status) read(ctx context.Context, name string, before *apiextensionsv1.CustomResourceDefinition) (*unstructured.Unstructured, error) {
	if before != nil && gvr.IsTrue(before, apiextensionsv1.NamesAccepted) {
		now, err := c.objects.GetMetadata(ctx, gvr.Definitions, "", name)
		if err != nil || now.ResourceVersion == before.ResourceVersion {
			return nil, err
		}
	}
	return c.objects.Get(ctx, gvr.Definitions, "", name)
}

// load fills known once. It needs everything that was committed, or the first
// definition looked at might be given a name that is taken.
func (c *Status) load(ctx context.Context) error {
	if c.known != nil {
		return nil
	}
	if err := c.objects.Fresh(ctx); err != nil {
		return err
	}
	all, err := c.objects.List(ctx, gvr.Definitions, "")
	if err != nil {
		return err
	}
	known := make(map[string]*apiextensionsv1.CustomResourceDefinition, len(all))
	for _, obj := range all {
		crd, err := gvr.Outline(obj)
		if err != nil {
			return err
		}
		crd.ResourceVersion = "" // it was not looked at yet
		known[crd.Name] = crd
	}
	c.known = known
	return nil
}

// groupOf returns the other definitions of crd's group, sorted by name.
func (c *Status) groupOf(crd *apiextensionsv1.CustomResourceDefinition) []*apiextensionsv1.CustomResourceDefinition {
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
func (c *Status) wakeWaiting(q controller.Queue, before, after *apiextensionsv1.CustomResourceDefinition) {
	if before == nil {
		return
	}
	if after != nil && !gaveUpNames(before.Status.AcceptedNames, after.Status.AcceptedNames) {
		return
	}
	for _, other := range c.groupOf(before) {
		if !gvr.IsTrue(other, apiextensionsv1.NamesAccepted) {
			q.Add(controller.Key{GroupResource: gvr.Definitions, Name: other.Name})
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
