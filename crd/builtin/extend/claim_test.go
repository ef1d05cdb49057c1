package extend_test

import (
	"encoding/json"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/crd/builtin/extend"
)

// A claim that was stored when its source had one field reads as one with both, so that
// writing it again changes nothing that may not change.
func TestSourcesOfClaimsOfLongAgo(t *testing.T) {
	complete := extend.Of(schema.GroupResource{Resource: "persistentvolumeclaims"}).Defaults
	for stored, want := range map[string]string{
		`{"dataSource":{"kind":"PersistentVolumeClaim","name":"a"}}`:                              `{"dataSource":{"kind":"PersistentVolumeClaim","name":"a"},"dataSourceRef":{"kind":"PersistentVolumeClaim","name":"a"}}`,
		`{"dataSource":{"kind":"Odd","name":"a"}}`:                                                `{"dataSource":{"kind":"Odd","name":"a"}}`,
		`{"dataSource":{"kind":"PersistentVolumeClaim","name":"a"},"dataSourceRef":{"kind":"B"}}`: `{"dataSource":{"kind":"PersistentVolumeClaim","name":"a"},"dataSourceRef":{"kind":"B"}}`,
		`{}`: `{}`,
	} {
		var spec map[string]any
		if err := json.Unmarshal([]byte(stored), &spec); err != nil {
			t.Fatal(err)
		}
		complete(map[string]any{"spec": spec})
		if got, _ := json.Marshal(spec); string(got) != want {
			t.Errorf("%s: %s", stored, got)
		}
	}
	complete(map[string]any{})
}
