package builtin

import (
	"slices"
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
)

// kubectl get api-extensions lists what extends the API: besides definitions, all
// that decides about admission.
func TestWhatExtendsTheAPIIsOneCategory(t *testing.T) {
	found := 0
	for _, d := range definitions(t) {
		if d.Group != admissionv1.GroupName {
			continue
		}
		if found++; !slices.Equal(d.Categories, []string{"api-extensions"}) {
			t.Errorf("%s is in the categories %q", d.Plural, d.Categories)
		}
	}
	if found != 6 {
		t.Errorf("%d kinds decide about admission", found)
	}
}
