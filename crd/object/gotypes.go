package object

import (
	"encoding/json"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	kjson "sigs.k8s.io/json"
)

// GoObject is a pointer to an object of a Go type of the Kubernetes API.
type GoObject interface {
	runtime.Object
	metav1.Object
	Unmarshal([]byte) error
}

// ToTyped reads a tree that is known to be well-formed.
func ToTyped(obj map[string]any, into any) error {
	managed := Detach(obj)
	if managed == nil {
		return runtime.DefaultUnstructuredConverter.FromUnstructured(obj, into)
	}
	defer SetManaged(obj, managed)
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

// FromTyped writes a typed object the way its JSON is; its managedFields are raw.
// It takes those from typed.
func FromTyped(typed any) (map[string]any, error) {
	var managed Managed
	if meta, err := meta.Accessor(typed); err == nil {
		if managed, err = encodeManagers(meta.GetManagedFields()); err != nil {
			return nil, err
		}
		meta.SetManagedFields(nil)
	}
	tree, err := runtime.DefaultUnstructuredConverter.ToUnstructured(typed)
	if err == nil && managed != nil {
		SetManaged(tree, managed)
	}
	return tree, err
}

// encodeManagers writes managedFields as all JSON is stored here: with sorted
// keys. An empty list, by which clients clear them, stays one.
func encodeManagers(entries []metav1.ManagedFieldsEntry) (Managed, error) {
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
	return Encode(list)
}
