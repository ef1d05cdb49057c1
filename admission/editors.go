package admission

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/crd/object"
)

// Editor is a [Plugin] of the mutating phase that changes a copy of the new state.
// Those that follow each other in the order get the same copy, which then takes the
// place of the state once.
type Editor interface {
	// Edits reports whether requests like that are edited. Nothing is when an object is
	// deleted.
	Edits(o Operation, gr schema.GroupResource, subresource string) bool
	// Edit changes the object, at the version of the request, and reports whether it
	// did. It refuses the request with an error that is the client's, as it is.
	Edit(ctx context.Context, a Attributes, tree map[string]any) (changed bool, err error)
}

// editors follow each other.
type editors []Editor

// Mutate implements [Mutator].
func (all editors) Mutate(ctx context.Context, a Attributes) error {
	operation, gr, subresource := a.GetOperation(), a.GetResource().GroupResource(), a.GetSubresource()
	if operation == Delete {
		return nil
	}
	var tree map[string]any
	changed := false
	for _, e := range all {
		if !e.Edits(operation, gr, subresource) {
			continue
		}
		if tree == nil {
			now, err := a.GetObjectAt(ctx, a.GetResource().Version)
			if err != nil {
				return err
			}
			tree = object.Clone(now)
		}
		did, err := e.Edit(ctx, a, tree)
		if err != nil {
			return err
		}
		changed = changed || did
	}
	if !changed {
		return nil
	}
	return a.Replace(ctx, a.GetResource().Version, tree)
}
