package resourcequota

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime/schema"
	library "k8s.io/apiserver/pkg/quota/v1"
)

// Measured is what quotas want to know of an object. The zero value is one that
// uses nothing. It is immutable.
type Measured struct {
	usage  corev1.ResourceList
	scopes scopes
	// Passing tells that it may be another in a while, though the object stays.
	Passing bool
}

// Tally is the objects of a kind in a namespace: each of them where [Measures]
// says so, and else only how many there are.
type Tally struct {
	Number int
	Each   []Measured
}

// Measures tells whether more is counted of a kind than how many objects there
// are.
func Measures(gr schema.GroupResource) bool { return slices.Contains(measured, gr) }

// Measure looks at an object of a kind of which Measures is true.
func Measure(gr schema.GroupResource, tree map[string]any) (Measured, error) {
	o, err := Typed(gr, tree)
	if err != nil {
		return Measured{}, err
	}
	switch o := o.(type) {
	case *corev1.Pod:
		return Measured{PodUsage(o), podScopes(o), o.DeletionTimestamp != nil}, nil
	case *corev1.Service:
		return Measured{usage: serviceUsage(o)}, nil
	case *corev1.PersistentVolumeClaim:
		return Measured{usage: claimUsage(o), scopes: claimScopes(o)}, nil
	case *resourcev1.ResourceClaim:
		return Measured{usage: deviceUsage(o)}, nil
	}
	return Measured{}, fmt.Errorf("%s are only counted", gr)
}

// Used is what is used of a quota, of all its resources that any kind counts.
func Used(q *corev1.ResourceQuota, tally func(schema.GroupResource) (Tally, error)) (corev1.ResourceList, error) {
	out := corev1.ResourceList{}
	selectors := selectorsOf(q)
	for _, gr := range kinds(q.Spec.Hard) {
		names := Of(gr).MatchingResources(library.ResourceNames(q.Spec.Hard))
		for _, name := range names {
			out[name] = resource.Quantity{Format: resource.DecimalSI}
		}
		all, err := tally(gr)
		if err != nil {
			return nil, err
		}
		if !Measures(gr) && len(selectors) == 0 { // such objects are in no scope
			for _, name := range names {
				out[name] = number(all.Number)
			}
		}
		for _, m := range all.Each {
			if selected, err := m.selected(selectors, gr); err != nil {
				return nil, fmt.Errorf("the scopes of %s: %w", q.Name, err)
			} else if selected {
				add(out, m.usage, names)
			}
		}
	}
	return out, nil
}

func (m Measured) selected(all []selector, gr schema.GroupResource) (bool, error) {
	for _, s := range all {
		if gr != Pods && gr != Claims {
			return false, nil // there is no scope of such objects
		}
		if ok, err := m.scopes.selected(s); !ok || err != nil {
			return false, err
		}
	}
	return true, nil
}

func add(to, usage corev1.ResourceList, names []corev1.ResourceName) {
	for _, name := range names {
		if q, ok := usage[name]; ok {
			sum := to[name]
			sum.Add(q)
			to[name] = sum
		}
	}
}

func selectorsOf(q *corev1.ResourceQuota) (out []selector) {
	for _, s := range q.Spec.Scopes {
		out = append(out, newSelector(corev1.ScopedResourceSelectorRequirement{ScopeName: s, Operator: corev1.ScopeSelectorOpExists}))
	}
	if q.Spec.ScopeSelector != nil {
		for _, r := range q.Spec.ScopeSelector.MatchExpressions {
			out = append(out, newSelector(r))
		}
	}
	return out
}
