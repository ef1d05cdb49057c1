package proof

import (
	"maps"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

type schema = apiextensionsv1.JSONSchemaProps

// The bounds of what is looked for in a schema.
const (
	maxFields = 4000
	maxLevels = 16
)

// anyone is the step to any item of a list, or to any value of a map.
const anyone = "*"

// extra is a field that no schema has.
const extra = "notInTheSchema"

// target is a field that objects are made for, by the steps to it.
type target struct {
	steps []string
	field string // in text
	at    *schema
}

// targetsOf are the fields of a schema, those at the top first: what is near the
// root is cheap to reach, and much depends on it.
func targetsOf(root *schema) []target {
	level := []target{{at: root}}
	var all []target
	for depth := 0; depth < maxLevels && len(level) > 0; depth++ {
		var next []target
		for _, t := range level {
			for _, below := range t.below(depth == 0) {
				if len(all) == maxFields {
					return all
				}
				all, next = append(all, below), append(next, below)
			}
		}
		level = next
	}
	return all
}

// below are the fields right below one.
func (t target) below(root bool) (all []target) {
	s := merged(t.at, -1)
	step := func(name string, at *schema) {
		steps := append(slices.Clone(t.steps), name)
		all = append(all, target{steps, fieldText(steps), at})
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		if root && (name == "apiVersion" || name == "kind" || name == "metadata") {
			continue
		}
		p := s.Properties[name]
		step(name, &p)
	}
	if s.Items != nil && s.Items.Schema != nil {
		step(anyone, s.Items.Schema)
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
		step(anyone, s.AdditionalProperties.Schema)
	}
	return all
}

// fieldText writes steps as a path: spec.ports[*].name.
func fieldText(steps []string) string {
	var b strings.Builder
	for _, s := range steps {
		switch {
		case s == anyone:
			b.WriteString("[*]")
		case strings.ContainsAny(s, ".[]/"):
			b.WriteString("['" + s + "']")
		default:
			if b.Len() > 0 {
				b.WriteByte('.')
			}
			b.WriteString(s)
		}
	}
	return b.String()
}

// paths tells the path of a field by its place in an object: where a schema has a
// map, every key is any key.
type paths struct{ root *schema }

// under is the schema of a value's field, nil for one that no schema has.
func under(s *schema, name string) (at *schema, isKey bool) {
	if s == nil {
		return nil, false
	}
	if p, ok := s.Properties[name]; ok {
		return &p, false
	}
	for _, branches := range [][]schema{s.AllOf, s.AnyOf, s.OneOf} {
		for i := range branches {
			if p, ok := branches[i].Properties[name]; ok {
				return &p, false
			}
		}
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
		return s.AdditionalProperties.Schema, true
	}
	return nil, false
}

// each calls fn with the path of each field of an object but those of its metadata.
func (p paths) each(obj map[string]any, fn func(field string)) {
	var walk func(v any, s *schema, steps []string)
	walk = func(v any, s *schema, steps []string) {
		if len(steps) > 0 {
			fn(fieldText(steps))
		}
		switch v := v.(type) {
		case map[string]any:
			for name, value := range v {
				if len(steps) == 0 && (name == "apiVersion" || name == "kind" || name == "metadata") {
					continue
				}
				at, isKey := under(s, name)
				if isKey {
					name = anyone
				}
				walk(value, at, append(steps[:len(steps):len(steps)], name))
			}
		case []any:
			for _, item := range v {
				walk(item, items(s), append(steps[:len(steps):len(steps)], anyone))
			}
		}
	}
	walk(obj, p.root, nil)
}

func items(s *schema) *schema {
	if s == nil || s.Items == nil {
		return nil
	}
	return s.Items.Schema
}

// of is the path of a place: its steps are names, keys and, for items, numbers.
func (p paths) of(place []any) string {
	steps := make([]string, 0, len(place))
	s := p.root
	for i, step := range place {
		name, isName := step.(string)
		if !isName {
			s, steps = items(s), append(steps, anyone)
			continue
		}
		if i == 2 && place[0] == "metadata" {
			break // labels and annotations, as a whole
		}
		at, isKey := under(s, name)
		if s = at; isKey {
			name = anyone
		}
		steps = append(steps, name)
	}
	return fieldText(steps)
}
