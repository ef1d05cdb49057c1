package object

import "k8s.io/apimachinery/pkg/runtime"

// Child returns the object below a path of fields, nil when there is none.
func Child(obj map[string]any, path ...string) map[string]any {
	for _, name := range path {
		obj, _ = obj[name].(map[string]any)
	}
	return obj
}

// Ensure returns the object below key and makes it when there is none.
func Ensure(obj map[string]any, key string) map[string]any {
	m := Child(obj, key)
	if m == nil {
		m = map[string]any{}
		obj[key] = m
	}
	return m
}

// Objects are the items of a list that are objects.
func Objects(list any) (out []map[string]any) {
	items, _ := list.([]any)
	for _, item := range items {
		if m, ok := item.(map[string]any); ok {
			out = append(out, m)
		}
	}
	return out
}

// TextAt returns the string at path, or "".
func TextAt(obj map[string]any, path ...string) string {
	for _, p := range path[:len(path)-1] {
		obj = Child(obj, p)
	}
	s, _ := obj[path[len(path)-1]].(string)
	return s
}

// Keep makes obj's field what it is in old.
func Keep(obj, old map[string]any, field string) {
	if v, ok := old[field]; ok {
		obj[field] = runtime.DeepCopyJSONValue(v)
		return
	}
	delete(obj, field)
}
