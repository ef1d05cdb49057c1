package resource

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/strategicpatch"

	"github.com/wasmgate/wasmgate/crd/object"
)

// maxPatchOperations is the most operations of one JSON patch.
const maxPatchOperations = 10000

// Patch changes an object by a JSON patch (RFC 6902), a JSON merge patch
// (RFC 7386) or, for kinds that have a Go type, a strategic merge patch.
func (e *Engine) Patch(ctx context.Context, t Target, kind types.PatchType, body []byte, o WriteOptions) (*Written, error) {
	apply, duplicates, err := t.patcher(kind, body)
	if err != nil {
		return nil, err
	}
	return e.write(ctx, t, o, false, func(old map[string]any) (map[string]any, error) {
		tree, err := apply(old)
		if err != nil {
			return nil, err
		}
		if err := t.checkPatched(tree); err != nil {
			return nil, err
		}
		return tree, t.wellFormed(tree, duplicates, o)
	})
}

// patcher decodes a patch once; the function it returns may run several times.
func (t Target) patcher(kind types.PatchType, body []byte) (change, []string, error) {
	switch kind {
	case types.JSONPatchType:
		f, err := jsonPatcher(body)
		return f, nil, err
	case types.MergePatchType:
		patch, duplicates, err := object.Parse(body)
		if err != nil {
			return nil, nil, apierrors.NewBadRequest(fmt.Sprintf("error decoding patch: %v", err))
		}
		return func(old map[string]any) (map[string]any, error) {
			return merge(old, patch), nil
		}, duplicates, nil
	case types.StrategicMergePatchType:
		if t.Version.Typed != nil {
			return t.strategicPatcher(body)
		}
	}
	return nil, nil, UnsupportedPatch(t)
}

// UnsupportedPatch is the refusal of a patch whose media type the target does
// not take.
func UnsupportedPatch(t Target) error {
	accepted := string(types.JSONPatchType) + ", " + string(types.MergePatchType)
	if t.Version != nil && t.Version.Typed != nil {
		accepted += ", " + string(types.StrategicMergePatchType)
	}
	return apierrors.NewGenericServerResponse(http.StatusUnsupportedMediaType, "patch", schema.GroupResource{}, "",
		"the body of the request was in an unknown format - accepted media types include: "+accepted, 0, true)
}

func jsonPatcher(body []byte) (change, error) {
	patch, err := jsonpatch.DecodePatch(body)
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	if len(patch) > maxPatchOperations {
		return nil, apierrors.NewRequestEntityTooLargeError(fmt.Sprintf("The allowed maximum operations in a JSON patch is %d, got %d", maxPatchOperations, len(patch)))
	}
	return func(old map[string]any) (map[string]any, error) {
		data, err := object.Encode(old)
		if err != nil {
			return nil, err
		}
		if data, err = patch.Apply(data); err != nil {
			return nil, apierrors.NewGenericServerResponse(http.StatusUnprocessableEntity, "", schema.GroupResource{}, "", err.Error(), 0, false)
		}
		tree, _, err := object.Parse(data)
		if err != nil {
			return nil, apierrors.NewBadRequest(err.Error())
		}
		return tree, nil
	}, nil
}

func (t Target) strategicPatcher(body []byte) (change, []string, error) {
	patch, duplicates, err := object.Parse(body)
	if err != nil {
		return nil, nil, apierrors.NewBadRequest(fmt.Sprintf("error decoding patch: %v", err))
	}
	return func(old map[string]any) (map[string]any, error) {
		// The library changes the patch: give it one of its own.
		var mine map[string]any
		b, err := json.Marshal(patch)
		if err != nil {
			return nil, err
		}
		if err := json.Unmarshal(b, &mine); err != nil {
			return nil, err
		}
		tree, err := strategicpatch.StrategicMergeMapPatch(old, mine, t.Version.Typed())
		if err != nil {
			return nil, apierrors.NewGenericServerResponse(http.StatusUnprocessableEntity, "", schema.GroupResource{}, "", err.Error(), 0, false)
		}
		if b, err = json.Marshal(tree); err != nil {
			return nil, err
		}
		out, _, err := object.Parse(b)
		return out, err
	}, duplicates, nil
}

// merge applies a JSON merge patch to an object in place. The patch is only
// read; what it adds is copied.
func merge(old, patch map[string]any) map[string]any {
	for k, v := range patch {
		switch p := v.(type) {
		case nil:
			delete(old, k)
		case map[string]any:
			target, ok := old[k].(map[string]any)
			if !ok {
				target = map[string]any{}
			}
			old[k] = merge(target, p)
		default:
			old[k] = clone(v)
		}
	}
	return old
}

func clone(v any) any {
	switch x := v.(type) {
	case []any:
		out := make([]any, len(x))
		for i := range x {
			out[i] = clone(x[i])
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(x))
		for k := range x {
			out[k] = clone(x[k])
		}
		return out
	default:
		return v
	}
}

// checkPatched refuses patches that turn the object into another one.
func (t Target) checkPatched(tree map[string]any) error {
	want := t.Resource.Def.APIVersion(t.Version.Name)
	if v, _ := tree["apiVersion"].(string); v != want {
		return apierrors.NewBadRequest(fmt.Sprintf("the API version in the data (%s) does not match the expected API version (%s)", v, want))
	}
	if k, _ := tree["kind"].(string); k != t.Resource.Def.Kind {
		return apierrors.NewBadRequest(fmt.Sprintf("the kind in the data (%s) does not match the expected kind (%s)", k, t.Resource.Def.Kind))
	}
	return nil
}
