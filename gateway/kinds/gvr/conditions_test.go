package gvr

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Conditions are changed where that makes them others, the rest of the status stays, and
// what cannot be read is told and not written over.
func TestConditionsAreChanged(t *testing.T) {
	obj := &unstructured.Unstructured{Object: map[string]any{"kind": "K", "metadata": map[string]any{"name": "n"}, "status": map[string]any{"phase": "Running"}}}
	set := func(reason string) func([]metav1.Condition) []metav1.Condition {
		return func([]metav1.Condition) []metav1.Condition {
			return []metav1.Condition{{Type: "Ready", Status: metav1.ConditionTrue, Reason: reason}}
		}
	}
	for _, c := range []struct {
		reason  string
		changed bool
	}{{"A", true}, {"A", false}, {"B", true}} {
		changed, err := ChangeConditions(obj, set(c.reason))
		if err != nil || changed != c.changed {
			t.Errorf("%s: changed %v, %v", c.reason, changed, err)
		}
		if all, err := Conditions(obj); err != nil || len(all) != 1 || all[0].Reason != c.reason || Section(obj, "status")["phase"] != "Running" {
			t.Errorf("%s: %+v, %v", c.reason, obj.Object, err)
		}
	}
	if changed, err := ChangeConditions(obj, func(all []metav1.Condition) []metav1.Condition {
		all[0].Reason = "written over" // which is nobody else's
		return all
	}); err != nil || !changed {
		t.Errorf("written over: changed %v, %v", changed, err)
	}
	Section(obj, "status")["conditions"] = "text"
	if changed, err := ChangeConditions(obj, set("C")); err == nil || changed || Section(obj, "status")["conditions"] != "text" {
		t.Errorf("that cannot be read: changed %v, %v", changed, err)
	}
}
