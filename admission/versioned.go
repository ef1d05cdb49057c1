package admission

import (
	"context"
	"encoding/json"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	apiserveradmission "k8s.io/apiserver/pkg/admission"

	"github.com/wasmgate/wasmgate/crd/object"
)

// Versioned are the attributes of a request at a version in the form that the library
// of expressions takes. They belong to the caller.
func Versioned(ctx context.Context, a Attributes, version string) (*apiserveradmission.VersionedAttributes, error) {
	var states [2]runtime.Object
	for i, at := range []func(context.Context, string) (map[string]any, error){a.GetObjectAt, a.GetOldObjectAt} {
		tree, err := at(ctx, version)
		if err != nil {
			return nil, err
		}
		if tree == nil {
			continue
		}
		if tree, err = complete(tree); err != nil {
			return nil, apierrors.NewInternalError(err)
		}
		states[i] = &unstructured.Unstructured{Object: tree}
	}
	out := &apiserveradmission.VersionedAttributes{
		Attributes: Record(a, states[0], states[1]), VersionedKind: KindAt(a, version),
	}
	out.VersionedObject.Set(states[0])
	out.VersionedOldObject.Set(states[1])
	return out, nil
}

// complete is a copy of a tree whose managedFields are a tree as well.
func complete(tree map[string]any) (map[string]any, error) {
	out := object.Clone(tree)
	managed := object.Detach(out)
	if managed == nil {
		return out, nil
	}
	var list []any
	if err := json.Unmarshal(managed, &list); err != nil {
		return nil, err
	}
	out["metadata"].(map[string]any)["managedFields"] = list
	return out, nil
}

// Record is a request with some states of its object, as a value of the library.
func Record(a Attributes, object, old runtime.Object) apiserveradmission.Attributes {
	return apiserveradmission.NewAttributesRecord(object, old, a.GetKind(), a.GetNamespace(), a.GetName(), a.GetResource(), a.GetSubresource(),
		a.GetOperation(), a.GetOperationOptions(), a.IsDryRun(), a.GetUserInfo())
}
