package local

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wasmgate/wasmgate/crd/object"
	"github.com/wasmgate/wasmgate/gateway/resource"
)

// Create creates obj (at the storage version).
func (c Client) Create(ctx context.Context, gr schema.GroupResource, obj *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	data, err := object.Encode(obj.Object)
	if err != nil {
		return nil, err
	}
	return written(resource.Again(func() (*resource.Written, error) {
		t, err := c.target(gr, obj.GetNamespace(), "", "")
		if err != nil {
			return nil, err
		}
		return c.e.Create(ctx, t, data, resource.WriteOptions{Caller: c.caller})
	}))
}

// Update writes obj through a subresource ("" = the object itself). The object's
// resourceVersion must be current, else it is a Conflict.
func (c Client) Update(ctx context.Context, gr schema.GroupResource, subresource string, obj *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	data, err := object.Encode(obj.Object)
	if err != nil {
		return nil, err
	}
	return written(resource.Again(func() (*resource.Written, error) {
		t, err := c.target(gr, obj.GetNamespace(), obj.GetName(), subresource)
		if err != nil {
			return nil, err
		}
		return c.e.Update(ctx, t, data, resource.WriteOptions{Caller: c.caller})
	}))
}

// MergePatch changes an object by a JSON merge patch.
func (c Client) MergePatch(ctx context.Context, gr schema.GroupResource, namespace, name string, patch map[string]any) error {
	data, err := object.Encode(patch)
	if err != nil {
		return err
	}
	_, err = resource.Again(func() (*resource.Written, error) {
		t, err := c.target(gr, namespace, name, "")
		if err != nil {
			return nil, err
		}
		return c.e.Patch(ctx, t, types.MergePatchType, data, resource.WriteOptions{Caller: c.caller, NoReply: true})
	})
	return err
}

func written(w *resource.Written, err error) (*unstructured.Unstructured, error) {
	if err != nil {
		return nil, err
	}
	tree, _, err := object.Parse(w.Object)
	if err != nil {
		return nil, err
	}
	return &unstructured.Unstructured{Object: tree}, nil
}

// Delete deletes like a client's DELETE; finalizers are honoured. It works on
// stored metadata and never converts.
func (c Client) Delete(ctx context.Context, gr schema.GroupResource, namespace, name string, o metav1.DeleteOptions) error {
	_, err := resource.Again(func() (*resource.Written, error) {
		t, err := c.target(gr, namespace, name, "")
		if err != nil {
			return nil, err
		}
		return c.e.Delete(ctx, t, &o, resource.WriteOptions{Caller: c.caller, NoReply: true, DryRun: len(o.DryRun) > 0})
	})
	return err
}

// Edit makes a change through a subresource, again and again while others write
// the object, and returns what it has become. Admission is not asked.
func (c Client) Edit(ctx context.Context, gr schema.GroupResource, subresource, namespace, name string, e resource.Edit) (*unstructured.Unstructured, error) {
	return written(resource.Again(func() (*resource.Written, error) {
		t, err := c.target(gr, namespace, name, subresource)
		if err != nil {
			return nil, err
		}
		return c.e.Edit(ctx, t, e, resource.WriteOptions{Caller: c.caller})
	}))
}

// Remove is [Client.Delete] of an object that may says yes to, which is called
// with each stored state that the deletion is tried on. Admission is not asked.
func (c Client) Remove(ctx context.Context, gr schema.GroupResource, namespace, name string, o metav1.DeleteOptions, may func(obj *unstructured.Unstructured) error) error {
	_, err := resource.Again(func() (*resource.Written, error) {
		t, err := c.target(gr, namespace, name, "")
		if err != nil {
			return nil, err
		}
		return c.e.Remove(ctx, t, &o, may, resource.WriteOptions{Caller: c.caller, NoReply: true, DryRun: len(o.DryRun) > 0})
	})
	return err
}

// UpdateMetadata changes the metadata of an object as [write.Writer.UpdateMetadata]
// says.
func (c Client) UpdateMetadata(ctx context.Context, gr schema.GroupResource, namespace, name string, p metav1.Preconditions, change func(metav1.Object)) error {
	_, err := resource.Again(func() (*resource.Written, error) {
		t, err := c.target(gr, namespace, name, "")
		if err != nil {
			return nil, err
		}
		return nil, c.e.UpdateMetadata(ctx, t, p, change, c.caller)
	})
	return err
}
