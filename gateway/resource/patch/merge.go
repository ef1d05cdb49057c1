package patch

import (
	"bytes"
	"fmt"
	"maps"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/wasmgate/wasmgate/crd/object"
)

func decodeMerge(body []byte) (Patch, []string, error) {
	changes, duplicates, err := object.Parse(body)
	switch {
	case isNull(body):
		return nil, nil, apierrors.NewBadRequest("Invalid JSON Patch")
	case err != nil:
		return nil, nil, apierrors.NewBadRequest(fmt.Sprintf("error decoding patch: %v", err))
	}
	return func(from State) (map[string]any, []string, error) {
		if from.Shared {
			return merged(from.Tree, changes), nil, nil
		}
		return merged(object.Clone(from.Tree), changes), nil, nil
	}, duplicates, nil
}

func isNull(body []byte) bool { return string(bytes.TrimSpace(body)) == "null" }

// merged is an object with a JSON merge patch applied. Both are only read; the outcome
// has copies of what the patch adds, and shares with the object what it leaves alone.
func merged(old, patch map[string]any) map[string]any {
	out := make(map[string]any, len(old)+len(patch))
	maps.Copy(out, old)
	for k, v := range patch {
		switch p := v.(type) {
		case nil:
			delete(out, k)
		case map[string]any:
			target, _ := old[k].(map[string]any)
			out[k] = merged(target, p)
		default:
			_, wasObject := old[k].(map[string]any)
			added := object.CloneValue(v)
			if out[k] = added; !wasObject { // kube-apiserver's library keeps them then
				dropNulls(added)
			}
		}
	}
	return out
}

// dropNulls removes the fields of v, at any depth, that are null: a merge patch
// cannot set any, in lists neither. Items of lists stay.
func dropNulls(v any) {
	switch v := v.(type) {
	case map[string]any:
		for k, field := range v {
			if field == nil {
				delete(v, k)
			}
			dropNulls(field)
		}
	case []any:
		for _, item := range v {
			dropNulls(item)
		}
	}
}
