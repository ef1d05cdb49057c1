package object

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The owners of a typed object are raw in its tree, and no longer in it.
func TestOwnersOfTypedObjectsAreRaw(t *testing.T) {
	typed := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "c", ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "a"}}}}
	tree, err := FromTyped(typed)
	if err != nil {
		t.Fatal(err)
	}
	if got, ok := Child(tree, "metadata")["managedFields"].(Managed); !ok || string(got) != `[{"manager":"a"}]` || typed.ManagedFields != nil {
		t.Errorf("%T in the tree, and %v in the object", Child(tree, "metadata")["managedFields"], typed.ManagedFields)
	}
}

// Owners whose fields are no JSON own nothing, as in kube-apiserver.
func TestFieldsThatAreNoJSONAreDropped(t *testing.T) {
	entries := []metav1.ManagedFieldsEntry{{Manager: "a", FieldsV1: metav1.NewFieldsV1("{")}, {Manager: "b", FieldsV1: metav1.NewFieldsV1(`{"f:data":{}}`)}}
	got, err := encodeManagers(entries)
	if want := `[{"manager":"a"},{"fieldsV1":{"f:data":{}},"manager":"b"}]`; err != nil || string(got) != want {
		t.Errorf("got %s, %v; want %s", got, err, want)
	}
}

// Owners come with a tree that is read into a Go type, which leaves the tree as it was.
func TestTypedObjectsHaveTheirOwners(t *testing.T) {
	for managed, want := range map[string]string{`[{"manager":"a"},{"manager":"b"}]`: "a b", `[]`: "", `[{"manager":1}]`: "an error", `{}`: "an error"} {
		tree := map[string]any{"metadata": map[string]any{"name": "c", "managedFields": Managed(managed)}, "data": map[string]any{"k": "v"}}
		typed := new(corev1.ConfigMap)
		got := "an error"
		if err := ToTyped(tree, typed); err == nil {
			var names []string
			for _, e := range typed.ManagedFields {
				names = append(names, e.Manager)
			}
			got = strings.Join(names, " ")
		}
		if got != want || typed.Name != "c" || typed.Data["k"] != "v" {
			t.Errorf("%s: %q, want %q: %v", managed, got, want, typed)
		}
		if left, _ := Child(tree, "metadata")["managedFields"].(Managed); string(left) != managed {
			t.Errorf("%s: the tree has %s", managed, left)
		}
	}
	tree := map[string]any{"metadata": map[string]any{"name": "c", "managedFields": Managed(`[]`)}, "data": "odd"}
	if err := ToTyped(tree, new(corev1.ConfigMap)); err == nil {
		t.Error("a text is read as data")
	}
}
