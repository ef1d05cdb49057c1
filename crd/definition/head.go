package definition

import (
	"hash/maphash"
	"maps"
	"slices"
	"strconv"

	"github.com/wasmgate/wasmgate/crd/object"
)

// The library reads definitions as Go values, and writes them through its
// versions one after the other. For schemas, which are nearly all of a
// definition and the same at all versions of its kind, that takes long and
// changes nothing. So only what looks into schemas gives them to the library;
// the rest is done to a head.

// heads makes heads: definitions with a mark in the place of each schema.
// Schemas that are equal have the same mark in all heads of one.
type heads struct {
	seed maphash.Seed
	// known are the schemas that have marks, by hash.
	known map[uint64][]marked
	marks int
}

// marked is a schema that has a mark.
type marked struct {
	schema any
	mark   string
}

// of is the head of a tree at v1, and the schemas of its versions, in order, nil
// for none. It shares everything else with tree, and is for reading only.
func (h *heads) of(tree map[string]any) (head map[string]any, schemas []any) {
	head = withSchemas(tree, func(version int, schema any) any {
		schemas = append(schemas, make([]any, version+1-len(schemas))...)
		schemas[version] = schema
		return h.mark(schema)
	})
	return head, schemas
}

// mark stands for a schema; what is none stands for itself.
func (h *heads) mark(schema any) any {
	if _, ok := schema.(map[string]any); !ok {
		return schema
	}
	if h.known == nil {
		h.seed, h.known = maphash.MakeSeed(), map[uint64][]marked{}
	}
	sum := h.hash(schema)
	for _, m := range h.known[sum] {
		if object.Equal(m.schema, schema) {
			return map[string]any{"description": m.mark}
		}
	}
	m := marked{schema, strconv.Itoa(h.marks)}
	h.marks++
	h.known[sum] = append(h.known[sum], m)
	return map[string]any{"description": m.mark}
}

// hash is the same for equal trees: there may be as many different schemas as fit
// into a body, too many to compare each with each.
func (h *heads) hash(v any) (sum uint64) {
	switch x := v.(type) {
	case map[string]any:
		for k, v := range x { // in any order
			sum += maphash.Comparable(h.seed, pair{k, h.hash(v)})
		}
		return maphash.Comparable(h.seed, pair{"{}", sum})
	case []any:
		for _, v := range x {
			sum = maphash.Comparable(h.seed, pair{"[]", sum ^ h.hash(v)})
		}
		return maphash.Comparable(h.seed, pair{"[]", sum + uint64(len(x))})
	}
	return maphash.Comparable(h.seed, v)
}

// pair is what is hashed of a part: each step depends on the seed, as sums alone are
// the same for lists that anybody can think of.
type pair struct {
	what string
	sum  uint64
}

// whole is a definition of the schemas that were taken out of a head, whatever
// else became of that. It shares everything with both.
func whole(head map[string]any, schemas []any) map[string]any {
	return withSchemas(head, func(version int, schema any) any {
		if version < len(schemas) && schemas[version] != nil {
			return schemas[version]
		}
		return schema
	})
}

// withSchemas is a tree with other schemas, as fn says of each version that has
// one. It shares everything else with tree, and is tree where that is none of a
// definition.
func withSchemas(tree map[string]any, fn func(version int, schema any) any) map[string]any {
	spec, _ := tree["spec"].(map[string]any)
	versions, ok := spec["versions"].([]any)
	if !ok {
		return tree
	}
	list := slices.Clone(versions)
	for i, v := range versions {
		version, _ := v.(map[string]any)
		validation, _ := version["schema"].(map[string]any)
		if schema := validation["openAPIV3Schema"]; schema != nil {
			list[i] = with(version, "schema", with(validation, "openAPIV3Schema", fn(i, schema)))
		}
	}
	return with(tree, "spec", with(spec, "versions", list))
}

// with is a copy of a map with another value.
func with(m map[string]any, key string, value any) map[string]any {
	out := maps.Clone(m)
	out[key] = value
	return out
}
