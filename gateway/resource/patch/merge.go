package patch

import (
	"bytes"
	"fmt"

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
	return func(from State) (map[string]any, error) {
		return merge(object.Clone(from.Tree), changes), nil
	}, duplicates, nil
}

func isNull(body []byte) bool { return string(bytes.TrimSpace(body)) == "null" }

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
			_, wasObject := old[k].(map[string]any)
			old[k] = object.CloneValue(v)
			if !wasObject { // kube-apiserver's library keeps them then
				dropNulls(old[k])
			}
		}
	}
	return old
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
