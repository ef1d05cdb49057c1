package managedfields_test

import (
	"maps"
	"slices"
)

// definitions are the states that a definition goes through in a case.
func (g oracleGen) definitions() []oracleDefinition {
	first := oracleDefinition{Preserve: g.rarely(25), Versions: []oracleVersion{{Name: oracleStorage, Schema: g.root(), Status: g.often(6)}}}
	if g.rarely(8) {
		return []oracleDefinition{{Builtin: g.one(builtinKinds...)}}
	}
	if g.rarely(25) {
		first = oracleDefinition{Preserve: true, Versions: []oracleVersion{{Name: oracleStorage}}}
	}
	for _, name := range []string{"v2", "v3"} {
		if g.often(4) {
			first.Versions = append(first.Versions, g.version(name, first.Versions[0]))
		}
	}
	out := []oracleDefinition{first}
	for range 2 {
		if g.often(3) {
			out = append(out, g.redefined(out[len(out)-1]))
		}
	}
	return out
}

// version is another version of a kind: some fields are elsewhere, some have
// another topology.
func (g oracleGen) version(name string, hub oracleVersion) oracleVersion {
	out := oracleVersion{Name: name, Status: hub.Status != g.rarely(8), Failing: g.rarely(30)}
	if hub.Schema == nil {
		return out
	}
	out.Schema = hub.Schema.DeepCopy()
	if g.often(4) {
		out.Schema = g.retypedRoot(hub.Schema)
	}
	spec, ok := out.Schema.Properties["spec"]
	if !ok {
		return out
	}
	for _, field := range slices.Sorted(maps.Keys(spec.Properties)) {
		here := []string{"spec", "renamed"}
		if g.often(5) {
			here = []string{"spec", "moved", field}
		}
		if _, taken := spec.Properties[here[1]]; !g.rarely(4) || taken {
			continue // two fields in one place would not come back
		}
		p := spec.Properties[field]
		delete(spec.Properties, field)
		if len(here) == 3 {
			spec.Properties["moved"] = props{Type: "object", Properties: map[string]props{field: p}}
		} else {
			spec.Properties["renamed"] = p
		}
		out.Moves = append(out.Moves, oracleMove{Hub: []string{"spec", field}, Here: here})
	}
	return out
}

// redefined is a definition after an edit: another topology, a version that
// is no more or is new.
func (g oracleGen) redefined(d oracleDefinition) oracleDefinition {
	out := oracleDefinition{Preserve: d.Preserve, Versions: slices.Clone(d.Versions)}
	for i, v := range out.Versions {
		if v.Schema != nil && g.often(6) {
			out.Versions[i].Schema = g.retypedRoot(v.Schema)
		}
	}
	switch n := len(out.Versions); {
	case n > 1 && g.often(5):
		i := 1 + g.IntN(n-1)
		out.Versions = slices.Delete(out.Versions, i, i+1)
	case out.version("v2") == nil && g.often(3):
		out.Versions = append(out.Versions, g.version("v2", out.Versions[0]))
	}
	return out
}
