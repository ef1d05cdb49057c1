package proof

import (
	"maps"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// merged is a schema with what all of its allOf say, and with one branch of each
// anyOf and oneOf: branch is a number, and a negative one takes none. What the
// branches of a structural schema say are conditions on values, which every field
// has outside of them, too.
func merged(s *schema, branch int) *schema {
	if len(s.AllOf)+len(s.AnyOf)+len(s.OneOf) == 0 {
		return s
	}
	out := *s
	out.AllOf, out.AnyOf, out.OneOf = nil, nil, nil
	for i := range s.AllOf {
		overlay(&out, merged(&s.AllOf[i], branch))
	}
	if s.XIntOrString || branch < 0 {
		return &out
	}
	if n := len(s.AnyOf); n > 0 {
		overlay(&out, merged(&s.AnyOf[branch%n], branch/n))
	}
	if n := len(s.OneOf); n > 0 {
		chosen := branch % n
		overlay(&out, merged(&s.OneOf[chosen], branch/n))
		for i := range s.OneOf { // what only another branch asks for is left out
			for _, name := range s.OneOf[i].Required {
				if i != chosen && !slices.Contains(out.Required, name) {
					without(&out, name)
				}
			}
		}
	}
	return &out
}

func without(s *schema, name string) {
	s.Properties = maps.Clone(s.Properties)
	delete(s.Properties, name)
}

// overlay adds the conditions of a branch to a schema.
func overlay(s, b *schema) {
	s.Required = append(slices.Clip(s.Required), b.Required...)
	if b.Enum != nil {
		s.Enum = b.Enum
	}
	if b.Pattern != "" {
		s.Pattern = b.Pattern
	}
	if b.Format != "" {
		s.Format = b.Format
	}
	stricter(&s.Minimum, b.Minimum, func(a, b float64) bool { return b > a })
	stricter(&s.Maximum, b.Maximum, func(a, b float64) bool { return b < a })
	atLeast := func(a, b int64) bool { return b > a }
	atMost := func(a, b int64) bool { return b < a }
	stricter(&s.MinLength, b.MinLength, atLeast)
	stricter(&s.MaxLength, b.MaxLength, atMost)
	stricter(&s.MinItems, b.MinItems, atLeast)
	stricter(&s.MaxItems, b.MaxItems, atMost)
	stricter(&s.MinProperties, b.MinProperties, atLeast)
	stricter(&s.MaxProperties, b.MaxProperties, atMost)
	for _, name := range slices.Sorted(maps.Keys(b.Properties)) {
		p, ok := s.Properties[name]
		if !ok {
			continue // a branch cannot bring fields of its own
		}
		more := b.Properties[name]
		overlay(&p, &more)
		s.Properties = maps.Clone(s.Properties)
		s.Properties[name] = p
	}
	if b.Items != nil && b.Items.Schema != nil && s.Items != nil && s.Items.Schema != nil {
		one := *s.Items.Schema
		overlay(&one, b.Items.Schema)
		s.Items = &apiextensionsv1.JSONSchemaPropsOrArray{Schema: &one}
	}
	if b.Not != nil {
		for _, name := range b.Not.Required {
			without(s, name)
		}
	}
}

func stricter[T any](has **T, other *T, is func(a, b T) bool) {
	if other != nil && (*has == nil || is(**has, *other)) {
		*has = other
	}
}
