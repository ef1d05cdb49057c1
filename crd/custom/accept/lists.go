package accept

import structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"

// lists is the part of a structural schema that leads to lists whose elements
// have to be different. It is nil where nothing does.
type lists struct {
	props map[string]*lists
	extra *lists // of the values of all fields, besides props
	items *lists

	set  bool
	keys []string // of a list of type map
}

// manyElements is from how many elements on each is looked for among those before it
// by a map; of fewer it costs less to compare them all.
const manyElements = 16

func compileLists(s *structuralschema.Structural) *lists {
	if s == nil {
		return nil
	}
	out := &lists{items: compileLists(s.Items)}
	found := out.items != nil
	if s.AdditionalProperties != nil {
		out.extra = compileLists(s.AdditionalProperties.Structural)
		found = found || out.extra != nil
	}
	for name := range s.Properties {
		p := s.Properties[name]
		if below := compileLists(&p); below != nil {
			if out.props == nil {
				out.props = map[string]*lists{}
			}
			out.props[name], found = below, true
		}
	}
	if s.XListType != nil {
		out.set = *s.XListType == "set"
		if *s.XListType == "map" {
			out.keys = s.XListMapKeys
		}
		found = found || out.set || len(out.keys) > 0
	}
	if !found {
		return nil
	}
	return out
}

// accepts reports that no list of v has an element twice; false means that the
// library has to say.
func (l *lists) accepts(v any) bool {
	if l == nil {
		return true
	}
	switch x := v.(type) {
	case map[string]any:
		for name, below := range l.props {
			if child, ok := x[name]; ok && !below.accepts(child) {
				return false
			}
		}
		if l.extra != nil {
			for _, child := range x {
				if !l.extra.accepts(child) {
					return false
				}
			}
		}
	case []any:
		if l.set && !different(x) || len(l.keys) > 0 && !differentBy(l.keys, x) {
			return false
		}
		if l.items != nil {
			for _, child := range x {
				if !l.items.accepts(child) {
					return false
				}
			}
		}
	}
	return true
}

// different reports that scalars are all different.
func different(list []any) bool {
	var seen map[any]bool
	if len(list) >= manyElements {
		seen = make(map[any]bool, len(list))
	}
	for i, v := range list {
		if !isScalar(v) {
			return false
		}
		if seen != nil {
			if seen[v] {
				return false
			}
			seen[v] = true
			continue
		}
		for _, other := range list[:i] {
			if v == other {
				return false
			}
		}
	}
	return true
}

// manyKeys is how many keys of elements are looked for by a map.
const manyKeys = 4

// differentBy reports that objects all have different keys.
func differentBy(keys []string, list []any) bool {
	var seen map[any]bool
	if len(list) >= manyElements {
		if len(keys) > manyKeys {
			return false
		}
		seen = make(map[any]bool, len(list))
	}
	for i, v := range list {
		m, ok := v.(map[string]any)
		if !ok {
			return false
		}
		for _, k := range keys {
			if key, ok := m[k]; !ok || !isScalar(key) {
				return false
			}
		}
		if seen != nil {
			own := identity(keys, m)
			if seen[own] {
				return false
			}
			seen[own] = true
			continue
		}
		for _, other := range list[:i] {
			if sameKeys(keys, m, other.(map[string]any)) {
				return false
			}
		}
	}
	return true
}

// identity is what two objects share just where sameKeys says that their keys are the same.
func identity(keys []string, m map[string]any) any {
	if len(keys) == 1 {
		return m[keys[0]]
	}
	var all [manyKeys]any
	for i, k := range keys {
		all[i] = m[k]
	}
	return all
}

func sameKeys(keys []string, a, b map[string]any) bool {
	for _, k := range keys {
		if a[k] != b[k] {
			return false
		}
	}
	return true
}

// isScalar tells whether a value is one that differs from another just where
// its JSON does.
func isScalar(v any) bool {
	switch v.(type) {
	case string, int64, bool:
		return true
	}
	return false
}
