package namespace

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/controller/content"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
)

// remains is what a namespace still holds.
type remains struct {
	parts []part
	// pods tells that only pods were looked for, as there are some.
	pods bool
	// failures is what could not be listed or deleted.
	failures []error
}

// part is what a namespace holds of one kind: never nothing.
type part struct {
	controller.Scope
	in    content.Objects
	items []metav1.PartialObjectMetadata
}

func (r *remains) empty() bool { return len(r.parts) == 0 && len(r.failures) == 0 }

// add looks for a kind's objects.
func (r *remains) add(ctx context.Context, in content.Objects, s controller.Scope) {
	items, err := content.List(ctx, in, s)
	if err != nil {
		r.failures = append(r.failures, err)
	}
	if len(items) > 0 {
		r.parts = append(r.parts, part{s, in, items})
	}
}

// delete deletes what remains, and returns what failed.
func (r *remains) delete(ctx context.Context) (errs []error) {
	for _, p := range r.parts {
		errs = append(errs, content.Delete(ctx, p.in, p.Scope, p.items)...)
	}
	return errs
}

// scopes are where the remains are.
func (r *remains) scopes() (all []controller.Scope) {
	for _, p := range r.parts {
		all = append(all, p.Scope)
	}
	return all
}

// setConditions reports r the way kube-controller-manager does, which
// kubectl and people match on. It tells whether anything changed.
func setConditions(status *corev1.NamespaceStatus, r *remains, now metav1.Time) (changed bool) {
	for _, c := range conditions(r) {
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

// conditions are all five, bad or good, in their usual order.
func conditions(r *remains) []corev1.NamespaceCondition {
	failed := make([]string, len(r.failures))
	for i, err := range r.failures {
		failed[i] = err.Error()
	}
	slices.Sort(failed)
	kinds, finalizers := map[string]int{}, map[string]int{}
	for _, p := range r.parts {
		kinds[p.Resource+"."+p.Group] = len(p.items)
		content.CountFinalizers(finalizers, p.items)
	}
	return []corev1.NamespaceCondition{
		// What is served is known here, so that finding it out cannot fail.
		condition(corev1.NamespaceDeletionDiscoveryFailure, "", "",
			"ResourcesDiscovered", "All resources successfully discovered"),
		condition(corev1.NamespaceDeletionGVParsingFailure, "", "",
			"ParsedGroupVersions", "All legacy kube types successfully parsed"),
		condition(corev1.NamespaceDeletionContentFailure, "ContentDeletionFailed",
			joined("Failed to delete all resource types, %d remaining: %s", failed),
			"ContentDeleted", "All content successfully deleted, may be waiting on finalization"),
		condition(corev1.NamespaceContentRemaining, "SomeResourcesRemain",
			listed("Some resources are remaining: ", content.SortedCounts(kinds, "%s has %d resource instances")),
			"ContentRemoved", "All content successfully removed"),
		condition(corev1.NamespaceFinalizersRemaining, "SomeFinalizersRemain",
			listed("Some content in the namespace has finalizers remaining: ", content.SortedCounts(finalizers, "%s in %d resource instances")),
			"ContentHasNoFinalizers", "All content-preserving finalizers finished"),
	}
}

// condition is True with badReason when there is a bad message, else
// False with the good one.
func condition(t corev1.NamespaceConditionType, badReason, bad, goodReason, good string) corev1.NamespaceCondition {
	if bad != "" {
		return corev1.NamespaceCondition{Type: t, Status: corev1.ConditionTrue, Reason: badReason, Message: gvr.Shorten(bad)}
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
