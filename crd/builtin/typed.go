package builtin

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	kjson "sigs.k8s.io/json"

	"github.com/wasmgate/wasmgate/crd/object"
	"github.com/wasmgate/wasmgate/crd/quantity"
)

// goObject is a pointer to an object of a Go type of the Kubernetes API.
type goObject interface {
	runtime.Object
	metav1.Object
	Unmarshal([]byte) error
}

// goType is a pointer to a Go type of the Kubernetes API.
type goType[T any] interface {
	*T
	goObject
}

// toTyped reads a tree that is known to be well-formed.
func toTyped(obj map[string]any, into any) error {
	managed := object.Detach(obj)
	if managed == nil {
		return runtime.DefaultUnstructuredConverter.FromUnstructured(obj, into)
	}
	defer object.SetManaged(obj, managed)
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(obj, into); err != nil {
		return err
	}
	var entries []metav1.ManagedFieldsEntry
	if err := kjson.UnmarshalCaseSensitivePreserveInts(managed, &entries); err != nil {
		return fmt.Errorf("managedFields: %w", err)
	}
	meta, err := meta.Accessor(into)
	if err != nil {
		return err
	}
	meta.SetManagedFields(entries)
	return nil
}

// fromJSON reads a tree that anybody may have written. It goes through JSON,
// because clients match on the errors of that reader.
func fromJSON(obj map[string]any, into any) error {
	if err := quantity.CheckTree(obj, reflect.TypeOf(into)); err != nil {
		return err
	}
	data, err := object.Encode(obj)
	if err != nil {
		return err
	}
	return kjson.UnmarshalCaseSensitivePreserveInts(data, into)
}

// toTree writes a typed object the way its JSON is; its managedFields are raw.
// It takes those from typed.
func toTree(typed any) (map[string]any, error) {
	var managed object.Managed
	if meta, err := meta.Accessor(typed); err == nil {
		if managed, err = encodeManagers(meta.GetManagedFields()); err != nil {
			return nil, err
		}
		meta.SetManagedFields(nil)
	}
	tree, err := runtime.DefaultUnstructuredConverter.ToUnstructured(typed)
	if err == nil && managed != nil {
		object.SetManaged(tree, managed)
	}
	return tree, err
}

// encodeManagers writes managedFields as all JSON is stored here: with sorted
// keys. An empty list, by which clients clear them, stays one.
func encodeManagers(entries []metav1.ManagedFieldsEntry) (object.Managed, error) {
	if entries == nil {
		return nil, nil
	}
	list := make([]any, len(entries))
	for i, e := range entries {
		fields := map[string]any{}
		for k, v := range map[string]string{
			"manager": e.Manager, "operation": string(e.Operation), "apiVersion": e.APIVersion,
			"fieldsType": e.FieldsType, "subresource": e.Subresource,
		} {
			if v != "" {
				fields[k] = v
			}
		}
		if e.Time != nil {
			fields["time"] = e.Time.UTC().Format(time.RFC3339)
		}
		if e.FieldsV1 != nil && json.Valid(e.FieldsV1.GetRawBytes()) { // else nothing is owned
			fields["fieldsV1"] = json.RawMessage(e.FieldsV1.GetRawBytes())
		}
		list[i] = fields
	}
	return object.Encode(list)
}

// child returns the object below a path of fields, nil when there is none.
func child(obj map[string]any, path ...string) map[string]any {
	for _, name := range path {
		obj, _ = obj[name].(map[string]any)
	}
	return obj
}

// ensure returns the object below key and makes it when there is none.
func ensure(obj map[string]any, key string) map[string]any {
	m := child(obj, key)
	if m == nil {
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

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
