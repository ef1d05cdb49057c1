package write

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/wasmgate/wasmgate/crd/object"
	"github.com/wasmgate/wasmgate/gateway/resource/scale"
)

// What plugins make of a write: the other half of [attributes].

// Replace implements [admission.States]: tree is made well-formed by the schema, and
// converted to where the write has it.
func (w attributes) Replace(ctx context.Context, version string, tree map[string]any) error {
	version = w.versionCalled(version)
	if paths := scales(w.Target); paths != nil {
		replicas, err := wantedReplicas(w.Target, tree)
		if err != nil {
			return err
		}
		if w.scaled != nil {
			w.scaled.now = tree
		}
		return scale.Set(paths, w.object.Object, replicas)
	}
	if err := w.wellShaped(version, tree); err != nil {
		return apierrors.NewInternalError(err)
	}
	if w.sent != nil {
		return w.takeObject(tree)
	}
	at := w.Resource.Def.At(w.object.GetAPIVersion())
	if at == nil {
		return apierrors.NewInternalError(fmt.Errorf("there is no version of %q", w.object.GetAPIVersion()))
	}
	if at.Name != version {
		var err error
		if tree, err = w.Resource.ConvertTree(ctx, tree, at.Name); err != nil {
			return err
		}
	}
	return w.takeObject(tree)
}

// wellShaped makes tree a well-formed object of a version, or of the kind that was
// sent, if that is known.
func (w attributes) wellShaped(version string, tree map[string]any) error {
	v := w.Resource.Def.Version(version)
	if w.sent != nil {
		if v = w.body(); v == nil {
			return nil
		}
	}
	if v == nil {
		return fmt.Errorf("there is no version %q", version)
	}
	_, err := v.Shape.FromClient(tree, false)
	return err
}

// takeObject makes tree the new state.
func (w attributes) takeObject(tree map[string]any) (err error) {
	if !w.stored {
		if w.owners.next, err = object.TakeManaged(tree); err != nil {
			return apierrors.NewInternalError(err)
		}
	}
	w.object = &unstructured.Unstructured{Object: tree}
	if w.sent == nil {
		w.object = asUnstructured(tree)
	}
	return nil
}
