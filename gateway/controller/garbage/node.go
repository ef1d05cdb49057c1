package garbage

import (
	"context"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
)

// node is an object as far as the collector sees it.
type node struct {
	controller.Key
	*metav1.ObjectMeta
}

// String names the object in logs.
func (n node) String() string { return n.Key.String() }

func terminatingWith(m *metav1.ObjectMeta, finalizer string) bool {
	return m.DeletionTimestamp != nil && slices.Contains(m.Finalizers, finalizer)
}

// orphans tells that the object goes and leaves its dependents alone.
func orphans(m *metav1.ObjectMeta) bool {
	return terminatingWith(m, metav1.FinalizerOrphanDependents)
}

// deletesDependents tells that the object goes after its dependents.
func deletesDependents(m *metav1.ObjectMeta) bool {
	return terminatingWith(m, metav1.FinalizerDeleteDependents)
}

// blocks tells that a reference holds up the deletion of its owner.
func blocks(r metav1.OwnerReference) bool {
	return r.BlockOwnerDeletion != nil && *r.BlockOwnerDeletion
}

// as means the object as it was seen: no other of its name, and no other
// state.
func (n node) as() metav1.Preconditions {
	return metav1.Preconditions{UID: &n.UID, ResourceVersion: &n.ResourceVersion}
}

// update changes the object's metadata; one that is gone needs no change.
func (c *Collector) update(ctx context.Context, n node, p metav1.Preconditions, change func(metav1.Object)) error {
	if err := c.limit.Wait(ctx); err != nil {
		return err
	}
	return gvr.IgnoreNotFound(c.objects.UpdateMetadata(ctx, n.GroupResource, n.Key.Namespace, n.Key.Name, p, change))
}

// disown takes the references to owners.
func disown(owners ...types.UID) func(metav1.Object) {
	return func(m metav1.Object) {
		m.SetOwnerReferences(slices.DeleteFunc(slices.Clone(m.GetOwnerReferences()), func(r metav1.OwnerReference) bool {
			return slices.Contains(owners, r.UID)
		}))
	}
}

// unblock lets an object hold up an owner no longer.
func unblock(owner types.UID) func(metav1.Object) {
	return func(m metav1.Object) {
		refs := slices.Clone(m.GetOwnerReferences())
		for i := range refs {
			if refs[i].UID == owner {
				refs[i].BlockOwnerDeletion = new(bool)
			}
		}
		m.SetOwnerReferences(refs)
	}
}
