package read

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/gateway/catalog"
	"github.com/wasmgate/wasmgate/gateway/resource"
	"github.com/wasmgate/wasmgate/gateway/view"
	"github.com/wasmgate/wasmgate/storage"
)

// entries are the objects of a report as entries, by which they are read like
// any others. They have no revision.
func entries(ctx context.Context, r resource.Report, res *catalog.Resource, name string) ([]candidate, error) {
	var out []candidate
	for _, tree := range r(ctx, name) {
		data, err := res.Def.Codec.Encode(tree)
		if err != nil {
			return nil, apierrors.NewInternalError(err)
		}
		out = append(out, candidate{(&unstructured.Unstructured{Object: tree}).GetName(), view.NewEntry(storage.KV{Value: data})})
	}
	return out, nil
}

// reported is the object of the target's name.
func reported(ctx context.Context, r resource.Report, t resource.Target) (*view.Entry, error) {
	all, err := entries(ctx, r, t.Resource, t.Name)
	if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		// kube-apiserver names the kind so where it has only reports of it
		return nil, apierrors.NewNotFound(schema.GroupResource{Group: t.Resource.Def.Group, Resource: t.Resource.Def.Singular}, t.Name)
	}
	return all[0].entry, nil
}

// listReport lists what a report tells. There is one page, and no past.
func listReport(ctx context.Context, r resource.Report, t resource.Target, o *internalversion.ListOptions) (*resource.List, error) {
	sel, err := newSelection(t, o)
	if err != nil {
		return nil, err
	}
	all, err := entries(ctx, r, t.Resource, "")
	if err != nil {
		return nil, err
	}
	out := &resource.List{Shards: sel.shardInfo()}
	for _, c := range all {
		if ok, err := sel.match(ctx, c.key, c.entry); err != nil {
			return nil, err
		} else if ok {
			out.Entries = append(out.Entries, c.entry)
		}
	}
	return out, nil
}
