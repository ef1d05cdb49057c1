package proof

import (
	"maps"
	"math/rand/v2"
	"slices"

	"github.com/wasmgate/wasmgate/crd/object"
)

// maxNodes is the most values of one object, more or less: what has to be there
// counts, and is there all the same.
const maxNodes = 2000

// maxLeast is the most items that are made because there have to be so many.
const maxLeast = 100

// style is how one object is to be.
type style struct {
	// present is how likely an optional field is there, of 100.
	present int
	// common takes the first value of each scalar, and one item for each list.
	common bool
	// branch says which branch of a union is taken; negative is any.
	branch int
	// variant says which value the target gets.
	variant int
	// fill is what all fields get that take it, nil for none.
	fill any
}

// maker makes one object.
type maker struct {
	style
	random *rand.Rand
	left   int
}

// value makes a value of a schema. target are the steps to the field that the object
// is made for, nil when that is elsewhere, and empty when it is this one.
func (m *maker) value(s *schema, target []string, depth int) any {
	if m.left--; m.left < -maxNodes {
		return nil // it is given up
	}
	branch := m.branch
	if branch < 0 {
		branch = m.random.IntN(12)
	}
	s = merged(s, branch)
	aim := target != nil && len(target) == 0
	if s.Nullable && target == nil && !m.common && m.random.IntN(6) == 0 {
		return nil
	}
	switch {
	case s.Type == "object" && s.Enum == nil:
		if aim && s.Nullable && m.variant%5 == 4 {
			return nil
		}
		return m.object(s, target, depth)
	case s.Type == "array" && s.Enum == nil:
		if aim && s.Nullable && m.variant%5 == 4 {
			return nil
		}
		return m.list(s, target, depth)
	}
	if m.fill != nil && takes(s, m.fill) {
		return m.fill
	}
	all := scalars(s, m.random)
	switch {
	case len(all) == 0:
		return "a" // which validation will refuse
	case aim:
		return object.CloneValue(all[m.variant%len(all)])
	case m.common || s.XEmbeddedResource:
		return object.CloneValue(all[0])
	}
	return object.CloneValue(all[m.random.IntN(len(all))])
}

// wants tells whether an optional field is to be there.
func (m *maker) wants(depth int) bool {
	return m.left > 0 && depth < maxLevels && m.random.IntN(100) < m.present
}

func (m *maker) object(s *schema, target []string, depth int) any {
	out := map[string]any{}
	if s.XEmbeddedResource {
		out["apiVersion"], out["kind"], out["metadata"] = "v1", "ConfigMap", map[string]any{"name": "a"}
	}
	aim := target != nil && len(target) == 0
	// An object that is aimed at is tried with nothing optional, with all, and so on.
	all, none := aim && m.variant%3 == 1, aim && m.variant%3 == 0
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		if _, set := out[name]; set || depth == 0 && (name == "apiVersion" || name == "kind" || name == "metadata") {
			continue
		}
		field := s.Properties[name]
		var below []string
		if len(target) > 0 && target[0] == name {
			below = target[1:]
		}
		if below != nil || slices.Contains(s.Required, name) || !none && (all && m.left > 0 && depth < maxLevels || m.wants(depth)) {
			out[name] = m.value(&field, below, depth+1)
		}
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
		m.entries(out, s, target, depth)
	}
	if s.XPreserveUnknownFields != nil && *s.XPreserveUnknownFields && (aim && !none || target == nil && m.wants(depth)) {
		out[extra] = map[string]any{"a": []any{int64(1), "two", map[string]any{"b": 3.5}}}
	}
	return out
}

// keys are those of maps; the odd ones are as legal as the others.
var keys = []string{"a", "b", "example.com/key", "", "with space", "é", "x.y", "0"}

// entries fills a map.
func (m *maker) entries(out map[string]any, s *schema, target []string, depth int) {
	n, into := m.count(target, depth, 1, []int{0, 1, 2, len(keys)}, s.MinProperties, s.MaxProperties)
	for i := range n {
		key := "k" + string(rune('a'+i%26))
		if i < len(keys) {
			key = keys[i]
		}
		if fill, ok := m.fill.(string); ok && i == 0 {
			key = fill
		} else if !m.common && n < len(keys) && target == nil {
			key = keys[m.random.IntN(len(keys))]
		}
		var below []string
		if into && i == 0 {
			below = target[1:]
		}
		out[key] = m.value(s.AdditionalProperties.Schema, below, depth+1)
	}
}

// count is how many entries or items are made: through if what is looked at is in one
// of them, which into tells, and one of the variants if it is their number.
func (m *maker) count(target []string, depth, through int, variants []int, least, most *int64) (n int, into bool) {
	into = len(target) > 0 && target[0] == anyone
	switch {
	case into:
		n = through
	case target != nil && len(target) == 0:
		n = variants[m.variant%len(variants)]
	case m.common:
		n = 1
	case m.wants(depth):
		n = m.random.IntN(4)
	}
	n = atLeast(n, least)
	if most != nil {
		n = int(min(int64(n), *most))
	}
	return n, into
}

// atLeast is n, or the least number there has to be, unless that is more than is made.
func atLeast(n int, least *int64) int {
	if least == nil || *least > maxLeast {
		return n
	}
	return max(n, int(*least))
}

func (m *maker) list(s *schema, target []string, depth int) any {
	out := []any{}
	if s.Items == nil || s.Items.Schema == nil {
		return out
	}
	n, into := m.count(target, depth, 1+m.variant%2, []int{0, 1, 2, 3}, s.MinItems, s.MaxItems)
	for i := range n {
		var below []string
		if into && i == 0 {
			below = target[1:]
		}
		if item, ok := m.another(s, out, below, depth); ok {
			out = append(out, item)
		}
	}
	return out
}

// another makes an item that differs from those that are there, as far as that takes
// a few attempts: lists that are sets or maps may not have the same twice, and of
// others one that is lost is not missed among equal ones.
func (m *maker) another(s *schema, there []any, target []string, depth int) (any, bool) {
	identity := func(item any) any { return item }
	if s.XListType != nil && *s.XListType == "map" {
		identity = func(item any) any {
			fields, _ := item.(map[string]any)
			of := map[string]any{}
			for _, k := range s.XListMapKeys {
				of[k] = fields[k]
			}
			return of
		}
	}
	before, branch := m.common, m.branch
	defer func() { m.common, m.branch = before, branch }()
	for try := range 10 {
		if m.left < -maxNodes {
			break
		}
		m.common = before && len(there)+try == 0
		if try > 0 {
			m.branch = -1
		}
		item := m.value(s.Items.Schema, target, depth+1)
		if !slices.ContainsFunc(there, func(other any) bool { return object.Equal(identity(other), identity(item)) }) {
			return item, true
		}
	}
	return nil, s.XListType == nil && len(there) == 0
}
