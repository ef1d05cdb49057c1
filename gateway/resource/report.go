package resource

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/gateway/catalog"
	"github.com/wasmgate/wasmgate/gateway/view"
	"github.com/wasmgate/wasmgate/storage"
)

// Report tells what there is of a kind that is not stored: the one object of a
// name, if there is one, or all of them for "". They are at the storage version,
// in the order of their names, and belong to the caller.
type Report func(ctx context.Context, name string) []map[string]any

// entries are the objects of a report as entries, by which they are read like
// any others. They have no revision.
func (r Report) entries(ctx context.Context, res *catalog.Resource, name string) ([]candidate, error) {
	var out []candidate
	for _, tree := range r(ctx, name) {
		data, err := res.Def.Codec.Encode(tree)
		if err != nil {
			return nil, apierrors.NewInternalError(err)
		}
		out = append(out, candidate{asUnstructured(tree).GetName(), view.NewEntry(storage.KV{Value: data})})
	}
	return out, nil
}

// get is the object of the target's name.
func (r Report) get(ctx context.Context, t Target) (*view.Entry, error) {
	all, err := r.entries(ctx, t.Resource, t.Name)
	if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		// kube-apiserver names the kind so where it has only reports of it
		return nil, apierrors.NewNotFound(schema.GroupResource{Group: t.Resource.Def.Group, Resource: t.Resource.Def.Singular}, t.Name)
	}
	return all[0].entry, nil
}

// list lists what a report tells. There is one page, and no past.
func (r Report) list(ctx context.Context, t Target, o *internalversion.ListOptions) (*List, error) {
	sel, err := newSelection(t, o)
	if err != nil {
		return nil, err
	}
	all, err := r.entries(ctx, t.Resource, "")
	if err != nil {
		return nil, err
	}
	out := &List{}
	for _, c := range all {
		if ok, err := sel.match(ctx, c.key, c.entry); err != nil {
			return nil, err
		} else if ok {
			out.Entries = append(out.Entries, c.entry)
		}
	}
	return out, nil
}
