package apply_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/wasmgate/wasmgate/apply"
)

// A Scale that is applied has nothing but what Scales have.
func TestScalesAreChecked_SSA33(t *testing.T) {
	for text, want := range map[string]string{
		`{"apiVersion":"autoscaling/v1","kind":"Scale","metadata":{"name":"a","labels":{"l":"m"}},"spec":{"replicas":1},"status":{"replicas":2,"selector":"s"}}`: "",
		`{"spec":{"replicas":null}}`:                                        "",
		`{"spec":{"replicas":"1"}}`:                                         "(/; autoscaling/v1, Kind=Scale): .spec.replicas: expected numeric (int or float), got string",
		`{"metadata":{"name":"a"},"spec":{"x":1}}`:                          "(/a; autoscaling/v1, Kind=Scale): .spec.x: field not declared in schema",
		`{"metadata":{"name":"a","namespace":"n"},"status":{"selector":1}}`: "(n/a; autoscaling/v1, Kind=Scale): .status.selector: expected string, got &value.valueUnstructured{Value:1}",
		`{"x":1}`: "(/; autoscaling/v1, Kind=Scale): .x: field not declared in schema",
	} {
		var scale map[string]any
		if err := json.Unmarshal([]byte(text), &scale); err != nil {
			t.Fatal(err)
		}
		err := apply.CheckScale(scale)
		if want == "" {
			if err != nil {
				t.Errorf("%s: %v", text, err)
			}
			continue
		}
		var status apierrors.APIStatus
		if !errors.As(err, &status) || status.Status().Code != http.StatusInternalServerError || err.Error() != "failed to create typed patch object "+want {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}
