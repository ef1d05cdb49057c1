package draft

import (
	"cmp"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// stricter are the constraints of a schema that another one of its kind has not, or less of,
// by their names in schemas; without those that values are compared by.
func stricter(a, b *schema) (all []string) {
	add := func(name string, is bool) {
		if is {
			all = append(all, name)
		}
	}
	add("maxItems", atMost(a.MaxItems, b.MaxItems))
	add("minItems", atLeast(a.MinItems, b.MinItems))
	add("uniqueItems", b.UniqueItems && !a.UniqueItems)
	add("maxProperties", atMost(a.MaxProperties, b.MaxProperties))
	add("minProperties", atLeast(a.MinProperties, b.MinProperties))
	add("nullable", a.Nullable && !b.Nullable)
	add("format", b.Format != a.Format && (b.Type == "string" && b.Format != "" || b.Format == "int32" || b.Format == "float"))
	add("multipleOf", b.MultipleOf != nil && (a.MultipleOf == nil || *a.MultipleOf != *b.MultipleOf))
	add("exclusiveMaximum", b.ExclusiveMaximum && !a.ExclusiveMaximum && equal(a.Maximum, b.Maximum))
	add("exclusiveMinimum", b.ExclusiveMinimum && !a.ExclusiveMinimum && equal(a.Minimum, b.Minimum))
	add("x-kubernetes-validations", slices.ContainsFunc(b.XValidations, func(rule apiextensionsv1.ValidationRule) bool {
		return !slices.ContainsFunc(a.XValidations, func(other apiextensionsv1.ValidationRule) bool { return other.Rule == rule.Rule })
	}))
	return all
}

// atMost tells whether a bound from above takes less than another one, of which nil is none.
func atMost[T cmp.Ordered](a, b *T) bool { return b != nil && (a == nil || *b < *a) }

// atLeast tells whether a bound from below of what cannot be less than zero takes less.
func atLeast(a, b *int64) bool { return b != nil && *b > 0 && (a == nil || *b > *a) }

// equal tells whether two bounds are there, and are one.
func equal(a, b *float64) bool { return a != nil && b != nil && *a == *b }

// limited says of an operation that keeps a list or an object that this may be too large.
func (op *Op) limited(s *schema) {
	if boundless(s, maxLevels) {
		op.Why += "; annotations have 256 KiB in all, and its schema does not bound it: objects with more are not converted"
	}
}

// boundless tells whether a list or a map, or one within so many levels of an object, may have
// any number of items.
func boundless(s *schema, levels int) bool {
	switch {
	case s == nil || levels == 0:
		return false
	case kind(s) == "array":
		return s.MaxItems == nil || boundless(items(s), levels-1)
	case isMap(s) || preserves(s):
		return s.MaxProperties == nil || s.AdditionalProperties != nil && boundless(s.AdditionalProperties.Schema, levels-1)
	}
	for _, one := range s.Properties {
		if boundless(&one, levels-1) {
			return true
		}
	}
	return false
}
