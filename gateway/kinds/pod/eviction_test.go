package pod

import (
	"testing"

	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Why a budget allows no disruption is told in kube-apiserver 1.36.3's words.
func TestWhyABudgetAllowsNothing(t *testing.T) {
	const not = "The disruption budget b does not allow evicting pods currently"
	because := func(status metav1.ConditionStatus, reason, message string) []metav1.Condition {
		return []metav1.Condition{{Type: policyv1.DisruptionAllowedCondition, Status: status, Reason: reason, Message: message}}
	}
	for _, c := range []struct {
		current, desired int32
		conditions       []metav1.Condition
		want             string
	}{
		{1, 2, nil, "The disruption budget b needs 2 healthy pods and has 1 currently"},
		{2, 2, because(metav1.ConditionFalse, "InsufficientPods", "m"), "The disruption budget b needs 2 healthy pods and has 2 currently"},
		{3, 2, nil, not},
		{3, 2, because(metav1.ConditionFalse, "InsufficientPods", ""), not},
		{3, 2, because(metav1.ConditionTrue, "SufficientPods", "m"), not},
		{3, 2, because(metav1.ConditionFalse, "InsufficientPods", "m"), not + " (InsufficientPods): m"},
		{1, 2, because(metav1.ConditionFalse, policyv1.SyncFailedReason, "m"), not + " because it failed sync: m"},
	} {
		b := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Name: "b"}}
		b.Status.CurrentHealthy, b.Status.DesiredHealthy, b.Status.Conditions = c.current, c.desired, c.conditions
		if got := whyNot(b); got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
}
