package bundles

import (
	"bytes"
	"encoding/base64"
	"encoding/json"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// holder is who looks after a caBundle and is not this manager: whoever applies it, or
// wrote one that is not empty. "" is nobody.
func holder(obj *unstructured.Unstructured, way []string, has string) string {
	bundle, _ := base64.StdEncoding.DecodeString(has)
	blank, by := len(bytes.TrimSpace(bundle)) == 0, ""
	for _, m := range obj.GetManagedFields() {
		if m.FieldsV1 == nil || !owns(m.FieldsV1.GetRawBytes(), way) {
			continue
		}
		if m.Manager == Manager {
			return ""
		}
		if m.Operation == metav1.ManagedFieldsOperationApply || !blank {
			by = m.Manager
		}
	}
	if by == "" && !blank {
		return "somebody"
	}
	return by
}

func owns(fields []byte, way []string) bool {
	var at map[string]any
	if json.Unmarshal(fields, &at) != nil {
		return false
	}
	for _, step := range way {
		next, ok := at[step].(map[string]any)
		if !ok {
			return false
		}
		at = next
	}
	return true
}
