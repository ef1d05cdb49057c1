package core

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/operation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// A pod that names who answers its evictions belongs to no scheduling group: only both
// together are an error, and one that counts nowhere yet.
func TestRespondersAndGroupsOfPods_DV01(t *testing.T) {
	priority := int32(1)
	responders := []corev1.EvictionResponder{{Name: "a.example.com/b", Priority: &priority}}
	name := "g"
	group := &corev1.PodSchedulingGroup{PodGroupName: &name}
	for what, c := range map[string]struct {
		spec *corev1.PodSpec
		want int
	}{
		"neither":    {&corev1.PodSpec{}, 0},
		"responders": {&corev1.PodSpec{EvictionResponders: responders}, 0},
		"group":      {&corev1.PodSpec{SchedulingGroup: group}, 0},
		"both":       {&corev1.PodSpec{EvictionResponders: responders, SchedulingGroup: group}, 1},
	} {
		errs := Validate_PodSpec(t.Context(), operation.Operation{Type: operation.Create}, field.NewPath("spec"), c.spec, nil)
		if len(errs) != c.want {
			t.Errorf("%s: %v", what, errs)
		}
		for _, err := range errs {
			if err.Type != field.ErrorTypeForbidden || err.Field != "spec.schedulingGroup" || !err.IsAlpha() {
				t.Errorf("%s: %v, alpha %t", what, err, err.IsAlpha())
			}
		}
	}
}
