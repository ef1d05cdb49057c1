package object

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Owners whose fields are no JSON own nothing, as in kube-apiserver.
func TestFieldsThatAreNoJSONAreDropped(t *testing.T) {
	entries := []metav1.ManagedFieldsEntry{{Manager: "a", FieldsV1: metav1.NewFieldsV1("{")}, {Manager: "b", FieldsV1: metav1.NewFieldsV1(`{"f:data":{}}`)}}
	got, err := encodeManagers(entries)
	if want := `[{"manager":"a"},{"fieldsV1":{"f:data":{}},"manager":"b"}]`; err != nil || string(got) != want {
		t.Errorf("got %s, %v; want %s", got, err, want)
	}
}
