package managedfields_test

import (
	"maps"
	"math/rand/v2"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

type props = apiextensionsv1.JSONSchemaProps

// oracleGen makes cases. Everything in them comes from its numbers.
type oracleGen struct{ *rand.Rand }

func (g oracleGen) one(of ...string) string { return of[g.IntN(len(of))] }

// often is true in n of 10 cases.
func (g oracleGen) often(n int) bool { return g.IntN(10) < n }

// rarely is true in one of n cases.
func (g oracleGen) rarely(n int) bool { return g.IntN(n) == 0 }

var fieldNames = []string{"a", "b", "c", "name", "port", "x.y", "é", "f:a", "a b", "<k>", "q\"\\"}

func (g oracleGen) fieldName() string {
	if g.often(8) {
		return g.one(fieldNames[:5]...)
	}
	return g.one(fieldNames...)
}

// root is the schema of a whole object.
func (g oracleGen) root() *props {
	s := &props{Type: "object"}
	if g.rarely(12) {
		yes := true
		s.XPreserveUnknownFields = &yes
		if g.often(5) {
			return s
		}
	}
	spec, status := g.object(3), g.object(1)
	if !g.rarely(8) {
		spec.XMapType, status.XMapType = nil, nil
	}
	s.Properties = map[string]props{"spec": spec, "status": status}
	if g.rarely(6) {
		s.Properties["data"] = g.node(2)
	}
	return s
}

// node is any schema, of a depth of at most this.
func (g oracleGen) node(depth int) props {
	n := g.IntN(16)
	if depth <= 0 {
		n = g.IntN(5)
	}
	var s props
	switch n {
	case 0, 1, 2:
		s = g.scalar(false)
	case 3:
		s = props{XIntOrString: true}
	case 4, 5:
		s = g.granularOrAtomic(props{Type: "object", AdditionalProperties: &apiextensionsv1.JSONSchemaPropsOrBool{Allows: true, Schema: g.pointer(g.node(depth - 1))}})
	case 6, 7, 8, 9:
		s = g.mapList(depth)
	case 10, 11:
		s = g.set()
	case 12:
		s = listOf("", g.node(depth-1))
		if g.often(5) {
			s = listOf("atomic", g.node(depth-1))
		}
	case 13:
		s = g.opaque(depth)
	default:
		s = g.object(depth)
	}
	s.Nullable = g.rarely(6)
	return s
}

func (g oracleGen) pointer(s props) *props { return &s }

func (g oracleGen) scalar(key bool) props {
	s := props{Type: g.one("string", "string", "integer", "boolean", "number")}
	if key && s.Type == "number" {
		s.Type = "string"
	}
	if g.rarely(6) {
		s.Default = rawJSON(map[string]string{"string": `"x"`, "integer": `1`, "boolean": `true`, "number": `1.5`}[s.Type])
	}
	return s
}

func rawJSON(s string) *apiextensionsv1.JSON { return &apiextensionsv1.JSON{Raw: []byte(s)} }

func (g oracleGen) object(depth int) props {
	s := props{Type: "object", Properties: map[string]props{}}
	for range 1 + g.IntN(4) {
		s.Properties[g.fieldName()] = g.node(depth - 1)
	}
	if g.rarely(12) {
		yes := true
		s.XPreserveUnknownFields = &yes
	}
	if g.rarely(12) {
		s.Default = rawJSON(`{}`)
	}
	return g.granularOrAtomic(s)
}

func (g oracleGen) granularOrAtomic(s props) props {
	if g.rarely(4) {
		topology := g.one("atomic", "granular")
		s.XMapType = &topology
	}
	return s
}

func listOf(kind string, item props) props {
	s := props{Type: "array", Items: &apiextensionsv1.JSONSchemaPropsOrArray{Schema: &item}}
	if kind != "" {
		s.XListType = &kind
	}
	return s
}

func (g oracleGen) set() props {
	item := g.scalar(true)
	item.Default = nil
	if g.rarely(8) {
		atomic := "atomic"
		item = g.object(0)
		item.XMapType, item.Default, item.XPreserveUnknownFields = &atomic, nil, nil
	}
	return listOf("set", item)
}

// mapList is an associative list with one to three keys, some of which have
// a default.
func (g oracleGen) mapList(depth int) props {
	item := g.object(depth - 1)
	item.XMapType, item.Default = nil, nil
	keys := []string{"name", "port", "b"}[:1+min(g.IntN(4), 2)]
	for _, k := range keys {
		s := g.scalar(true)
		if s.Nullable = false; s.Default == nil {
			item.Required = append(item.Required, k)
		}
		item.Properties[k] = s
	}
	s := listOf("map", item)
	s.XListMapKeys = keys
	return s
}

// opaque is what is only partly known.
func (g oracleGen) opaque(depth int) props {
	yes := true
	switch g.IntN(4) {
	case 0:
		return props{XPreserveUnknownFields: &yes}
	case 1:
		return props{Type: "object", XPreserveUnknownFields: &yes}
	case 2:
		return props{Type: "object", XEmbeddedResource: true, XPreserveUnknownFields: &yes}
	default:
		s := g.object(depth)
		s.XEmbeddedResource, s.XMapType, s.Default = true, nil, nil
		return s
	}
}

// retypedRoot is a schema of whole objects with other topologies below.
func (g oracleGen) retypedRoot(s *props) *props {
	s = s.DeepCopy()
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		s.Properties[name] = g.retyped(s.Properties[name])
	}
	return s
}

// retyped is a schema with other topologies at some places.
func (g oracleGen) retyped(s props) props {
	s = *s.DeepCopy()
	change := g.rarely(4)
	switch {
	case s.XListType != nil && *s.XListType == "map" && change:
		atomic := "atomic"
		s.XListType, s.XListMapKeys = &atomic, nil
	case s.XListType != nil && *s.XListType == "set" && change:
		s.XListType = nil
	case s.Type == "array" && s.XListType == nil && change && settable(s.Items.Schema):
		set := "set"
		s.XListType, s.Items.Schema.Nullable, s.Items.Schema.Default = &set, false, nil
	case s.Type == "object" && !s.XEmbeddedResource && change:
		topology := "atomic"
		if s.XMapType != nil && *s.XMapType == "atomic" {
			topology = "granular"
		}
		s.XMapType = &topology
	}
	if s.XListType != nil && *s.XListType == "set" {
		return s // its items have to stay atomic
	}
	keys := s.XListMapKeys
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		s.Properties[name] = g.retyped(s.Properties[name])
	}
	if s.Items != nil && s.Items.Schema != nil {
		item := g.retyped(*s.Items.Schema)
		if len(keys) > 0 {
			item.XMapType = nil
		}
		s.Items.Schema = &item
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
		s.AdditionalProperties.Schema = g.pointer(g.retyped(*s.AdditionalProperties.Schema))
	}
	return s
}

func settable(item *props) bool {
	return item.Type == "string" || item.Type == "integer" || item.Type == "boolean"
}
