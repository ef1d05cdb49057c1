package garbage

import (
	"context"
	"errors"
	"slices"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/controller/kinds"
)

// node is an object as far as the collector sees it.
type node struct {
	controller.Key
	metav1.ObjectMeta
}

// String names the object in logs.
func (n node) String() string { return n.Key.String() }

func (n node) terminatingWith(finalizer string) bool {
	return n.DeletionTimestamp != nil && slices.Contains(n.Finalizers, finalizer)
}

// orphans tells that the object goes and leaves its dependents alone.
func (n node) orphans() bool { return n.terminatingWith(metav1.FinalizerOrphanDependents) }

// deletesDependents tells that the object goes after its dependents.
func (n node) deletesDependents() bool { return n.terminatingWith(metav1.FinalizerDeleteDependents) }

// blocks tells that the object holds up the deletion of an owner.
func (n node) blocks(owner types.UID) bool {
	return slices.ContainsFunc(n.OwnerReferences, func(r metav1.OwnerReference) bool {
		return r.UID == owner && r.BlockOwnerDeletion != nil && *r.BlockOwnerDeletion
	})
}

// as means the object as it was seen: no other of its name, and no other
// state if that was what was decided on.
func (n node) as(state bool) metav1.Preconditions {
	p := metav1.Preconditions{UID: &n.UID}
	if state {
		p.ResourceVersion = &n.ResourceVersion
	}
	return p
}

// update changes the object's metadata; one that is gone needs no change.
func (n node) update(ctx context.Context, o Objects, p metav1.Preconditions, change func(metav1.Object)) error {
	return kinds.IgnoreNotFound(o.UpdateMetadata(ctx, n.GroupResource, n.Key.Namespace, n.Key.Name, p, change))
}

// graph finds owners and dependents in what is served at the time.
type graph struct {
	objects Objects
	defs    []*crd.Definition
}

// dependents are the objects that refer to owner, which itself is never one:
// in its namespace, or anywhere for an owner that is in none.
func (g graph) dependents(ctx context.Context, owner node) ([]node, error) {
	var out []node
	for _, d := range g.defs {
		if owner.Key.Namespace != "" && !d.Namespaced {
			continue
		}
		gr := d.GroupResource()
		found, err := g.objects.FindMetadata(ctx, gr, owner.Key.Namespace, "", string(owner.UID))
		if apierrors.IsNotFound(err) {
			continue // is not served any more
		}
		if err != nil {
			return nil, err
		}
		for _, m := range found {
			refers := slices.ContainsFunc(m.OwnerReferences, func(r metav1.OwnerReference) bool { return r.UID == owner.UID })
			if refers && m.UID != owner.UID {
				out = append(out, node{controller.Key{GroupResource: gr, Namespace: m.Namespace, Name: m.Name}, m.ObjectMeta})
			}
		}
	}
	return out, nil
}

// kept tells whether a dependent of owner has another owner that exists and
// does not wait for its dependents itself. An owner that nobody can tell about
// exists.
func (g graph) kept(ctx context.Context, n node, owner types.UID) (bool, error) {
	for _, r := range n.OwnerReferences {
		if r.UID == owner {
			continue
		}
		exists, err := g.solid(ctx, n.Key.Namespace, r)
		if exists || err != nil {
			return exists, err
		}
	}
	return false, nil
}

func (g graph) solid(ctx context.Context, namespace string, r metav1.OwnerReference) (bool, error) {
	gv, err := schema.ParseGroupVersion(r.APIVersion)
	i := slices.IndexFunc(g.defs, func(d *crd.Definition) bool { return d.Group == gv.Group && d.Kind == r.Kind })
	if err != nil || i < 0 {
		return true, nil
	}
	if !g.defs[i].Namespaced {
		namespace = ""
	}
	gr := g.defs[i].GroupResource()
	found, err := g.objects.FindMetadata(ctx, gr, namespace, r.Name, "")
	switch {
	case apierrors.IsNotFound(err): // is not served any more
		return true, nil
	case err != nil || len(found) == 0:
		return false, err
	case found[0].UID == "": // is there and cannot be read
		return true, nil
	}
	owner := node{controller.Key{GroupResource: gr}, found[0].ObjectMeta}
	return owner.UID == r.UID && !owner.deletesDependents(), nil
}

// atOnce is how many objects are written at a time. The store commits
// concurrent writes together.
const atOnce = 8

// each calls fn for all nodes and joins what failed.
func each(ctx context.Context, nodes []node, fn func(node) error) error {
	var (
		mu   sync.Mutex
		errs []error
	)
	workqueue.ParallelizeUntil(ctx, atOnce, len(nodes), func(i int) {
		if err := fn(nodes[i]); err != nil {
			mu.Lock()
			defer mu.Unlock()
			errs = append(errs, err)
		}
	})
	return errors.Join(append(errs, ctx.Err())...)
}
