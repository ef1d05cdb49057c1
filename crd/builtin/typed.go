package builtin

import (
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	kjson "sigs.k8s.io/json"

	"github.com/wasmgate/wasmgate/crd/object"
)

// toTyped reads a tree that is known to be well-formed.
func toTyped(obj map[string]any, into any) error {
	return runtime.DefaultUnstructuredConverter.FromUnstructured(obj, into)
}

// fromJSON reads a tree that anybody may have written. It goes through JSON,
// because clients match on the errors of that reader.
func fromJSON(obj map[string]any, into any) error {
	data, err := object.Encode(obj)
	if err != nil {
		return err
	}
	return kjson.UnmarshalCaseSensitivePreserveInts(data, into)
}

// toTree writes a typed object the way its JSON is.
func toTree(typed any) (map[string]any, error) {
	return runtime.DefaultUnstructuredConverter.ToUnstructured(typed)
}

// child returns the object below key, or nil.
func child(obj map[string]any, key string) map[string]any {
	m, _ := obj[key].(map[string]any)
	return m
}

// ensure returns the object below key and makes it when there is none.
func ensure(obj map[string]any, key string) map[string]any {
	m, ok := obj[key].(map[string]any)
	if !ok || m == nil {
		m = map[string]any{}
		obj[key] = m
	}
	return m
}

// text returns the string at path, or "".
func text(obj map[string]any, path ...string) string {
	for _, p := range path[:len(path)-1] {
		obj = child(obj, p)
	}
	s, _ := obj[path[len(path)-1]].(string)
	return s
}

// keep makes obj's field what it is in old.
func keep(obj, old map[string]any, field string) {
	if v, ok := old[field]; ok {
		obj[field] = runtime.DeepCopyJSONValue(v)
		return
	}
	delete(obj, field)
}

func lower(s string) string { return strings.ToLower(s) }
