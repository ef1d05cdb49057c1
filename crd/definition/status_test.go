package definition

import (
	"context"
	"reflect"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// As in kube-apiserver, a write of the status may list versions that there are
// none of, but unlike there it may not leave out the storage version.
func TestStoredVersionsOfStatusWrites_CRD31(t *testing.T) {
	first := mustCreate(t, "spec.versions", versions(true))
	for list, want := range map[string]string{
		"v1":      "",
		"v1,v7":   "",
		"v7,v1":   "",
		"v2":      `must have the storage version v1`,
		"v7":      `must have the storage version v1`,
		"":        "", // which is defaulted to the storage version
		"v1,v1":   "",
		"v10,v11": `must have the storage version v1`,
	} {
		var names []any
		for _, n := range strings.Split(list, ",") {
			if n != "" {
				names = append(names, n)
			}
		}
		next := first.DeepCopy()
		next.Object["status"].(map[string]any)["storedVersions"] = names
		err := update(t, next, first, true)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v", list, err)
		}
	}
	none, err := internal(first.Object)
	if err != nil {
		t.Fatal(err)
	}
	none.Status.StoredVersions = nil
	if errs := storageVersionKept(none); len(errs) != 1 || !strings.Contains(errs[0].Error(), "must have at least one stored version") {
		t.Errorf("none: %v", errs)
	}
	// What a write did not make so is not its fault.
	odd := first.DeepCopy()
	odd.Object["status"].(map[string]any)["storedVersions"] = []any{"v7"}
	if err := update(t, odd.DeepCopy(), odd, true); err != nil {
		t.Errorf("unchanged: %v", err)
	}
}

func TestAStatusWriteChangesNoSpec(t *testing.T) {
	old := mustCreate(t, "spec.versions", versions(true))
	old.SetResourceVersion("7")
	next := old.DeepCopy()
	next.Object["spec"] = map[string]any{"group": "example.org", "versions": []any{map[string]any{"name": "v9"}}}
	next.SetLabels(map[string]string{"a": "b"})
	next.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "v1", Kind: "K", Name: "n", UID: "u"}})
	next.Object["status"].(map[string]any)["storedVersions"] = []any{"v1"}
	s := Definition().Version("v1").Subresources["status"].Update
	untouched := old.DeepCopy()
	s.Prepare(context.Background(), next, old)
	if !reflect.DeepEqual(next.Object["spec"], old.Object["spec"]) {
		t.Errorf("spec %v", next.Object["spec"])
	}
	if errs := s.Validate(context.Background(), next, old).Errors; len(errs) > 0 {
		t.Error(errs)
	}
	if s.Validate(context.Background(), next, old).Warnings != nil {
		t.Error("it warns")
	}
	spec := next.Object["spec"].(map[string]any)
	delete(spec["versions"].([]any)[0].(map[string]any), "schema")
	if !reflect.DeepEqual(old, untouched) {
		t.Error("the state before was changed, or is shared")
	}
}
