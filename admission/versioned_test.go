package admission_test

import (
	"reflect"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/crd/object"
)

// Expressions see both states of an object as far as there are, at their version, and who
// manages its fields as a tree; what the request has is not changed by that.
func TestWhatExpressionsSee(t *testing.T) {
	a := tabs(t, "", "one")
	a.Kind = schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Tab"}
	managed := object.Managed(`[{"manager":"m"}]`)
	object.SetManaged(a.After, managed)
	seen, err := admission.Versioned(t.Context(), a, "v2")
	if err != nil {
		t.Fatal(err)
	}
	is := seen.VersionedObject.Object().(*unstructured.Unstructured)
	if seen.VersionedOldObject.Object() != nil || is.GetAPIVersion() != "example.com/v2" || seen.VersionedKind.Version != "v2" || seen.GetOldObject() != nil {
		t.Errorf("%+v", seen)
	}
	if got := is.Object["metadata"].(map[string]any)["managedFields"]; !reflect.DeepEqual(got, []any{map[string]any{"manager": "m"}}) {
		t.Errorf("managed by %v", got)
	}
	if left := object.Detach(a.After); string(left) != string(managed) {
		t.Errorf("the request has %s", left)
	}
	a.Before, a.After = a.After, nil
	if seen, err = admission.Versioned(t.Context(), a, "v1"); err != nil || seen.VersionedObject.Object() != nil || seen.VersionedOldObject.Object().(*unstructured.Unstructured).GetName() != "one" {
		t.Errorf("of a deletion: %+v, %v", seen, err)
	}
	if _, err = admission.Versioned(t.Context(), a, "broken"); err == nil {
		t.Error("what cannot be converted is seen")
	}
	object.SetManaged(a.Before, object.Managed(`[`))
	if _, err = admission.Versioned(t.Context(), a, "v1"); !apierrors.IsInternalError(err) {
		t.Errorf("broken managedFields: %v", err)
	}
}

// The kind of a scale is no kind of the resource, and stays what it is.
func TestKindsAtVersions(t *testing.T) {
	a := tabs(t, "", "one")
	for kind, want := range map[schema.GroupVersionKind]schema.GroupVersionKind{
		{Group: "example.com", Version: "v1", Kind: "Tab"}:   {Group: "other.com", Version: "v3", Kind: "Tab"},
		{Group: "autoscaling", Version: "v1", Kind: "Scale"}: {Group: "autoscaling", Version: "v1", Kind: "Scale"},
	} {
		a.Kind = kind
		if got := admission.KindAt(a, "other.com/v3"); got != want {
			t.Errorf("%v, want %v", got, want)
		}
	}
}
