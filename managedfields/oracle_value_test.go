package managedfields_test

import (
	"maps"
	"math"
	"slices"
)

// value is one that fits a schema, but for one in wild cases (0 for never),
// when it is anything.
func (g oracleGen) value(s *props, wild int) any {
	if s == nil || wild > 0 && g.rarely(wild) {
		return g.anything(2)
	}
	if s.Nullable && g.rarely(5) {
		return nil
	}
	switch s.Type {
	case "string":
		switch s.Format {
		case "byte":
			return g.one("eA==", "eQ==", "")
		case "date-time":
			return g.one("2001-01-01T00:00:00.000000Z", "2002-02-02T02:02:02.000000Z")
		}
		return g.one("x", "y", "z", "x", "", "é<&>\"\\")
	case "integer":
		return g.integer()
	case "number":
		return g.number()
	case "boolean":
		return g.often(5)
	case "array":
		return g.list(s, wild)
	case "object":
		return g.fields(s, wild)
	}
	if s.XIntOrString {
		if g.often(5) {
			return g.integer()
		}
		return g.one("1", "x", "50%")
	}
	return g.anything(2)
}

func (g oracleGen) integer() any {
	if g.rarely(25) {
		return []any{int64(math.MaxInt64), int64(math.MinInt64), int64(1<<53 + 1), int64(1 << 53), int64(-1<<53 - 1)}[g.IntN(5)]
	}
	return int64(g.IntN(4))
}

func (g oracleGen) number() any {
	if g.often(4) {
		return g.integer()
	}
	return []any{0.5, 1.5, 1.0, 2.0, 1e21, -0.25, int64(math.MaxInt64), int64(1<<53 + 1)}[g.IntN(8)]
}

func (g oracleGen) anything(depth int) any {
	n := g.IntN(9)
	if depth <= 0 {
		n = g.IntN(6)
	}
	switch n {
	case 0:
		return nil
	case 1:
		return g.often(5)
	case 2, 3:
		return g.number()
	case 4, 5:
		return g.one("x", "y")
	case 6:
		out := []any{}
		for range g.IntN(3) {
			out = append(out, g.anything(depth-1))
		}
		return out
	default:
		out := map[string]any{}
		for range g.IntN(4) {
			out[g.fieldName()] = g.anything(depth - 1)
		}
		return out
	}
}

func (g oracleGen) fields(s *props, wild int) any {
	out := map[string]any{}
	if s.XEmbeddedResource {
		out["apiVersion"], out["kind"] = g.one("v1", "apps/v1"), g.one("A", "B")
		if g.often(5) {
			out["metadata"] = map[string]any{"name": g.one("x", "y"), "labels": map[string]any{"a": g.one("x", "y")}}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		if slices.Contains(s.Required, name) && !g.rarely(40) || g.often(7) {
			p := s.Properties[name]
			out[name] = g.value(&p, wild)
		}
	}
	if s.AdditionalProperties != nil {
		for range g.IntN(4) {
			out[g.fieldName()] = g.value(s.AdditionalProperties.Schema, wild)
		}
	}
	if s.XPreserveUnknownFields != nil && g.often(6) || wild > 0 && g.rarely(10) {
		out[g.one("u", "v")] = g.anything(2)
	}
	return out
}

func (g oracleGen) list(s *props, wild int) any {
	out := []any{}
	for range g.IntN(5) {
		out = append(out, g.value(s.Items.Schema, wild))
	}
	if g.rarely(25) {
		return out // with duplicates, if it may not have any
	}
	if s.XListType == nil || *s.XListType == "atomic" {
		return out
	}
	seen := map[string]bool{}
	return slices.DeleteFunc(out, func(v any) bool {
		id := identity(s, v)
		defer func() { seen[id] = true }()
		return seen[id]
	})
}

// identity is what an item of a set or map list is told by.
func identity(s *props, v any) string {
	m, ok := v.(map[string]any)
	if !ok || len(s.XListMapKeys) == 0 {
		return asJSON(v)
	}
	id := ""
	for _, k := range s.XListMapKeys {
		key, ok := m[k]
		if p := s.Items.Schema.Properties[k]; !ok && p.Default != nil {
			id += string(p.Default.Raw) + ","
			continue
		}
		id += asJSON(key) + ","
	}
	return id
}

// changed is a value with a few small changes that mostly still fits.
func (g oracleGen) changed(s *props, v any, wild int) any {
	if s == nil || g.rarely(6) {
		return g.value(s, wild)
	}
	switch x := v.(type) {
	case map[string]any:
		return g.changedFields(s, x, wild)
	case []any:
		return g.changedList(s, x, wild)
	}
	return g.value(s, wild)
}

func (g oracleGen) changedFields(s *props, x map[string]any, wild int) any {
	out := cloneTree(x)
	for range 1 + g.IntN(2) {
		names := slices.Sorted(maps.Keys(out))
		if s.AdditionalProperties == nil {
			names = append(names, slices.Sorted(maps.Keys(s.Properties))...)
		} else {
			names = append(names, g.fieldName())
		}
		if len(names) == 0 {
			return out
		}
		name := g.one(names...)
		p, known := s.Properties[name]
		child := &p
		switch {
		case s.AdditionalProperties != nil:
			child = s.AdditionalProperties.Schema
		case !known:
			child = nil
		}
		old, has := out[name]
		switch {
		case has && g.rarely(3) && !slices.Contains(s.Required, name):
			delete(out, name)
		case has:
			out[name] = g.changed(child, old, wild)
		default:
			out[name] = g.value(child, wild)
		}
	}
	return out
}

func (g oracleGen) changedList(s *props, x []any, wild int) any {
	if s.Items == nil || s.Items.Schema == nil {
		return g.value(s, wild)
	}
	out := cloneValue(x).([]any)
	switch n := g.IntN(5); {
	case n == 0 || len(out) == 0:
		out = append(out, g.value(s.Items.Schema, wild))
	case n == 1:
		i := g.IntN(len(out))
		out = slices.Delete(out, i, i+1)
	case n == 2:
		g.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	default:
		i := g.IntN(len(out))
		out[i] = g.changed(s.Items.Schema, out[i], wild)
	}
	if s.XListType == nil || *s.XListType == "atomic" || g.rarely(20) {
		return out
	}
	seen := map[string]bool{}
	return slices.DeleteFunc(out, func(v any) bool {
		id := identity(s, v)
		defer func() { seen[id] = true }()
		return seen[id]
	})
}

// part is some of a value, as a configuration names only some fields. The
// keys of map lists are kept.
func (g oracleGen) part(s *props, v any) any {
	switch x := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for _, name := range slices.Sorted(maps.Keys(x)) {
			if s != nil && slices.Contains(s.Required, name) && !g.rarely(40) || g.often(7) {
				out[name] = g.part(child(s, name), x[name])
			}
		}
		return out
	case []any:
		if s == nil || s.Items == nil {
			return x
		}
		out := []any{}
		for _, item := range x {
			if g.often(7) {
				out = append(out, g.part(s.Items.Schema, item))
			}
		}
		return out
	}
	return v
}

func child(s *props, name string) *props {
	if s == nil {
		return nil
	}
	if p, ok := s.Properties[name]; ok {
		return &p
	}
	if s.AdditionalProperties != nil {
		return s.AdditionalProperties.Schema
	}
	return nil
}
