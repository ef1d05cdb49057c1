package controller

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// remains is what a namespace still holds.
type remains struct {
	// items is never empty for a scope that it has.
	items map[Scope][]metav1.PartialObjectMetadata
	// failures is what could not be listed or deleted.
	failures []error
}

func (r *remains) empty() bool { return len(r.items) == 0 && len(r.failures) == 0 }

// setNamespaceConditions reports r the way kube-controller-manager does, which
// kubectl and people match on. It tells whether anything changed.
func setNamespaceConditions(status *corev1.NamespaceStatus, r *remains, now metav1.Time) (changed bool) {
	for _, c := range namespaceConditions(r) {
		c.LastTransitionTime = now
		i := slices.IndexFunc(status.Conditions, func(have corev1.NamespaceCondition) bool { return have.Type == c.Type })
		if i < 0 {
			status.Conditions = append(status.Conditions, c)
			changed = true
			continue
		}
		have := &status.Conditions[i]
		if have.Status == c.Status && have.Reason == c.Reason && have.Message == c.Message {
			continue
		}
		if have.Status == c.Status {
			c.LastTransitionTime = have.LastTransitionTime
		}
		*have, changed = c, true
	}
	return changed
}

// namespaceConditions are all five, bad or good, in their usual order.
func namespaceConditions(r *remains) []corev1.NamespaceCondition {
	failed := make([]string, len(r.failures))
	for i, err := range r.failures {
		failed[i] = err.Error()
	}
	slices.Sort(failed)
	kinds, finalizers := map[string]int{}, map[string]int{}
	for s, items := range r.items {
		kinds[s.Resource+"."+s.Group] = len(items)
		countFinalizers(finalizers, items)
	}
	return []corev1.NamespaceCondition{
		// What is served is known here, so that finding it out cannot fail.
		namespaceCondition(corev1.NamespaceDeletionDiscoveryFailure, "", "",
			"ResourcesDiscovered", "All resources successfully discovered"),
		namespaceCondition(corev1.NamespaceDeletionGVParsingFailure, "", "",
			"ParsedGroupVersions", "All legacy kube types successfully parsed"),
		namespaceCondition(corev1.NamespaceDeletionContentFailure, "ContentDeletionFailed",
			joined("Failed to delete all resource types, %d remaining: %s", failed),
			"ContentDeleted", "All content successfully deleted, may be waiting on finalization"),
		namespaceCondition(corev1.NamespaceContentRemaining, "SomeResourcesRemain",
			listed("Some resources are remaining: ", sortedCounts(kinds, "%s has %d resource instances")),
			"ContentRemoved", "All content successfully removed"),
		namespaceCondition(corev1.NamespaceFinalizersRemaining, "SomeFinalizersRemain",
			listed("Some content in the namespace has finalizers remaining: ", sortedCounts(finalizers, "%s in %d resource instances")),
			"ContentRemoved", "All content successfully removed"),
	}
}

// namespaceCondition is True with badReason when there is a bad message, else
// False with the good one.
func namespaceCondition(t corev1.NamespaceConditionType, badReason, bad, goodReason, good string) corev1.NamespaceCondition {
	if bad != "" {
		return corev1.NamespaceCondition{Type: t, Status: corev1.ConditionTrue, Reason: badReason, Message: shorten(bad)}
	}
	return corev1.NamespaceCondition{Type: t, Status: corev1.ConditionFalse, Reason: goodReason, Message: good}
}

func joined(format string, parts []string) string {
	if len(parts) == 0 {
		return ""
	}
	return fmt.Sprintf(format, len(parts), strings.Join(parts, ", "))
}

func listed(head string, parts []string) string {
	if len(parts) == 0 {
		return ""
	}
	return head + strings.Join(parts, ", ")
}
