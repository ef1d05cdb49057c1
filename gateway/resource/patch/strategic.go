package patch

import (
	"errors"
	"fmt"
	"net/http"
	"reflect"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/mergepatch"
	"k8s.io/apimachinery/pkg/util/strategicpatch"

	"github.com/wasmgate/wasmgate/crd/object"
	"github.com/wasmgate/wasmgate/crd/quantity"
)

func decodeStrategic(body []byte, typed func() runtime.Object) (Patch, []string, error) {
	changes, duplicates, err := object.Parse(body)
	if isNull(body) { // changes nothing, as kube-apiserver has it
		changes, err = map[string]any{}, nil
	}
	if err != nil {
		return nil, nil, apierrors.NewBadRequest(err.Error())
	}
	return func(from State) (map[string]any, []string, error) {
		if err := checkMerging(from.Tree, changes, typed()); err != nil {
			return nil, nil, err
		}
		tree, err := mergedStrategically(from.Tree, changes, typed())
		switch {
		case errors.Is(err, mergepatch.ErrBadJSONDoc), errors.Is(err, mergepatch.ErrBadPatchFormatForPrimitiveList),
			errors.Is(err, mergepatch.ErrBadPatchFormatForRetainKeys), errors.Is(err, mergepatch.ErrBadPatchFormatForSetElementOrderList),
			errors.Is(err, mergepatch.ErrUnsupportedStrategicMergePatchFormat):
			return nil, nil, apierrors.NewBadRequest(err.Error())
		case err != nil:
			return nil, nil, unmergeable(err)
		}
		for _, name := range []string{"kind", "apiVersion"} { // as the fields of a Go value they cannot be changed
			if is, there := tree[name]; isText(is) || !there || is == nil {
				tree[name] = from.Tree[name]
			}
		}
		return tree, nil, nil
	}, duplicates, nil
}

func isText(v any) bool {
	_, ok := v.(string)
	return ok
}

// mergedStrategically is an object with a strategic merge patch applied. The library
// changes both, and may keep parts of them; it panics where a key of a list's items is
// an object.
func mergedStrategically(old, patch map[string]any, typed runtime.Object) (tree map[string]any, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the patch cannot be merged: %v", p)
		}
	}()
	tree, err = strategicpatch.StrategicMergeMapPatch(object.Clone(old), object.Clone(patch), typed)
	object.WholeIntegers(tree)
	return tree, err
}

// unmergeable tells what the library has against a strategic merge patch: a 422,
// where kube-apiserver says the same as an error of its own.
func unmergeable(err error) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusUnprocessableEntity, Reason: metav1.StatusReasonInvalid, Message: err.Error(),
	}}
}

// RefuseStrategic is [Patch.Refuse] of a strategic merge patch whose text is body:
// kube-apiserver shows the patch itself, reads the outcome from a tree, not from
// text, and says what is wrong with it in other words. An outcome with a quantity that
// costs too much to read is not read.
func (p Patch) RefuseStrategic(body []byte, typed func() runtime.Object, from State, why error) error {
	into := typed()
	if tree, _, err := p(from); err == nil && quantity.CheckTree(tree, reflect.TypeOf(into)) == nil {
		if other := runtime.DefaultUnstructuredConverter.FromUnstructured(tree, into); other != nil {
			why = other
		}
	}
	changes, _, _ := object.Parse(body)
	return Invalid(fmt.Appendf(nil, "%+v", changes), why)
}
