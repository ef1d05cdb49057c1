package resourcequota

import (
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	library "k8s.io/apiserver/pkg/quota/v1"
	"k8s.io/apiserver/pkg/quota/v1/generic"
)

// kind counts the objects of one kind, which are of type T.
type kind[T runtime.Object] struct {
	gr schema.GroupResource
	// counts tells whether a resource of quotas is one that objects of the kind
	// use.
	counts func(corev1.ResourceName) bool
	usage  func(T) corev1.ResourceList
	// requires says what an object must say of resources to be counted; nil for
	// nothing.
	requires func([]corev1.ResourceName, T) error
	// changes tells whether an update of the object itself can use more; nil if any
	// can.
	changes func(old, now T) bool
	// selected tells whether an object is in a scope; nil if it is in none.
	selected generic.MatchesScopeFunc
}

var errNoObject = errors.New("an object of another kind")

func one[T runtime.Object](o runtime.Object) (T, error) {
	out, ok := o.(T)
	if !ok {
		return out, errNoObject
	}
	return out, nil
}

// Constraints implements the library's Evaluator, as the others do.
func (k kind[T]) Constraints(required []corev1.ResourceName, o runtime.Object) error {
	it, err := one[T](o)
	if err != nil || k.requires == nil {
		return err
	}
	return k.requires(required, it)
}

func (k kind[T]) GroupResource() schema.GroupResource { return k.gr }

func (k kind[T]) Handles(a admission.Attributes) bool {
	if !Handles(k.gr, a.GetOperation(), a.GetSubresource()) {
		return false
	}
	if k.changes == nil || a.GetOperation() != admission.Update || a.GetSubresource() != "" {
		return true
	}
	old, err := one[T](a.GetOldObject())
	now, err2 := one[T](a.GetObject())
	return err == nil && err2 == nil && k.changes(old, now)
}

func (k kind[T]) Matches(q *corev1.ResourceQuota, o runtime.Object) (bool, error) {
	return generic.Matches(q, o, k.MatchingResources, k.inScope)
}

func (k kind[T]) inScope(s corev1.ScopedResourceSelectorRequirement, o runtime.Object) (bool, error) {
	if k.selected == nil {
		return false, nil
	}
	return k.selected(s, o)
}

func (k kind[T]) MatchingScopes(o runtime.Object, all []corev1.ScopedResourceSelectorRequirement) (out []corev1.ScopedResourceSelectorRequirement, err error) {
	for _, s := range all {
		ok, err := k.inScope(s, o)
		if err != nil {
			return nil, err
		}
		if ok {
			out = append(out, s)
		}
	}
	return out, nil
}

// UncoveredQuotaScopes are those that configuration limits and of which no quota is: an
// error, as the library's own would be taken for one of the server.
func (kind[T]) UncoveredQuotaScopes(limited, covered []corev1.ScopedResourceSelectorRequirement) ([]corev1.ScopedResourceSelectorRequirement, error) {
	var all uncovered
	for _, l := range limited {
		if !slices.ContainsFunc(covered, func(c corev1.ScopedResourceSelectorRequirement) bool { return c.ScopeName == l.ScopeName }) {
			all = append(all, l)
		}
	}
	if len(all) > 0 {
		return nil, all
	}
	return nil, nil
}

// uncovered are scopes that lack a quota.
type uncovered []corev1.ScopedResourceSelectorRequirement

// Error implements error.
func (u uncovered) Error() string {
	return fmt.Sprintf("insufficient quota to match these scopes: %v", []corev1.ScopedResourceSelectorRequirement(u))
}

func (k kind[T]) MatchingResources(names []corev1.ResourceName) (out []corev1.ResourceName) {
	for _, n := range names {
		if k.counts(n) {
			out = append(out, n)
		}
	}
	return out
}

func (k kind[T]) Usage(o runtime.Object) (corev1.ResourceList, error) {
	it, err := one[T](o)
	if err != nil {
		return nil, err
	}
	return k.usage(it), nil
}

// UsageStats is not how sums are made: [Sum] is.
func (kind[T]) UsageStats(library.UsageStatsOptions) (library.UsageStats, error) {
	return library.UsageStats{}, errors.ErrUnsupported
}

func number(n int) resource.Quantity { return *resource.NewQuantity(int64(n), resource.DecimalSI) }

func countOf(gr schema.GroupResource) corev1.ResourceName {
	return generic.ObjectCountQuotaResourceNameFor(gr)
}
