package generated

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// schema is a structural schema, or a part of one, as JSON.
type schema = map[string]any

// generator makes schemas and values from one seed.
type generator struct{ *rand.Rand }

// often is true in n of 100 cases.
func (g generator) often(n int) bool { return g.IntN(100) < n }

func pick[T any](g generator, of ...T) T { return of[g.IntN(len(of))] }

// names are what fields are called.
var names = []string{"a", "b", "c", "dash-ed", "in", "é"}

// formats are those of strings, some of which nobody knows.
var formats = []string{"byte", "date", "date-time", "duration", "ipv4", "ipv6", "cidr", "uuid", "email", "hostname", "uri", "mac", "password", "odd"}

// schema makes a schema of any type, at most depth deep.
func (g generator) schema(depth int) schema {
	kinds := []string{"string", "string", "integer", "number", "boolean", "intOrString", "any", "object", "object", "map", "array", "array", "list", "embedded"}
	if depth <= 0 {
		kinds = kinds[:7]
	}
	var s schema
	switch kind := pick(g, kinds...); kind {
	case "string":
		s = g.text()
	case "integer", "number":
		s = g.number(kind)
	case "boolean":
		s = schema{"type": "boolean"}
	case "intOrString":
		s = schema{"x-kubernetes-int-or-string": true}
		if g.often(30) {
			s["anyOf"] = []any{schema{"type": "integer"}, schema{"type": "string"}}
		}
	case "any":
		return schema{"x-kubernetes-preserve-unknown-fields": true}
	case "object":
		s = g.object(depth)
	case "map":
		s = schema{"type": "object", "additionalProperties": g.schema(depth - 1), "maxProperties": 4}
	case "array", "list":
		s = g.array(kind, depth)
	case "embedded":
		s = schema{"type": "object", "x-kubernetes-embedded-resource": true, "properties": schema{"spec": g.object(depth - 1)}}
		if g.often(40) {
			s = schema{"type": "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true}
		}
	}
	g.decorate(s)
	return s
}

// decorate adds what a schema of any type may have.
func (g generator) decorate(s schema) {
	if g.often(15) {
		s["nullable"] = true
	}
	if g.often(18) {
		s["default"] = g.value(s, 4)
	}
	if g.often(30) {
		g.rule(s)
	}
}

func (g generator) text() schema {
	s := schema{"type": "string", "maxLength": 4 + g.IntN(60)}
	switch g.IntN(6) {
	case 0:
		s["format"] = pick(g, formats...)
	case 1:
		s["enum"] = []any{"a", "b", "abc"}
	case 2:
		s["pattern"] = pick(g, "^[a-z]*$", "b", "^(a|bc)+$")
	case 3:
		s["minLength"] = g.IntN(4)
	}
	if g.often(5) {
		s["allOf"] = []any{schema{"minLength": 2}, schema{"not": schema{"pattern": "^x"}}}
	}
	return s
}

func (g generator) number(kind string) schema {
	s := schema{"type": kind}
	if g.often(30) {
		s["format"] = map[string]string{"integer": pick(g, "int32", "int64"), "number": pick(g, "float", "double")}[kind]
	}
	if g.often(30) {
		s["minimum"] = g.IntN(5) - 2
		s["exclusiveMinimum"] = g.often(30)
	}
	if g.often(30) {
		s["maximum"] = 4 + g.IntN(100)
		s["exclusiveMaximum"] = g.often(30)
	}
	if g.often(10) {
		s["multipleOf"] = pick(g, 2, 3)
	}
	if g.often(10) {
		s["enum"] = []any{1, 2, 7}
	}
	return s
}

// object has fields, some of which are required.
func (g generator) object(depth int) schema {
	properties := schema{}
	for _, name := range names {
		if g.often(45) {
			properties[name] = g.schema(depth - 1)
		}
	}
	s := schema{"type": "object", "properties": properties}
	if g.often(12) {
		s["x-kubernetes-preserve-unknown-fields"] = true
	}
	present := g.keys(properties)
	if len(present) == 0 {
		return s
	}
	if g.often(30) {
		s["required"] = []any{pick(g, present...)}
	}
	if g.often(8) {
		s["anyOf"] = []any{schema{"required": []any{pick(g, present...)}}, schema{"required": []any{pick(g, present...)}}}
	}
	if g.often(6) {
		s["oneOf"] = []any{schema{"required": []any{present[0]}}, schema{"required": []any{present[len(present)-1]}}}
	}
	if g.often(10) {
		s["minProperties"] = g.IntN(3)
	}
	if g.often(10) {
		s["x-kubernetes-map-type"] = "atomic"
	}
	return s
}

// keys are the names of fields, in order.
func (g generator) keys(of schema) []string {
	var all []string
	for _, name := range append([]string{"k", "spec"}, names...) {
		if _, ok := of[name]; ok {
			all = append(all, name)
		}
	}
	return all
}

// array is atomic, or a set or keyed list.
func (g generator) array(kind string, depth int) schema {
	s := schema{"type": "array", "maxItems": 2 + g.IntN(4)}
	if kind == "array" {
		s["items"] = g.schema(depth - 1)
		if g.often(20) {
			s["x-kubernetes-list-type"] = "atomic"
		}
		if g.often(20) {
			s["minItems"] = 1
		}
		return s
	}
	if g.often(40) {
		s["items"] = pick(g, schema{"type": "string", "maxLength": 9}, schema{"type": "integer"})
		s["x-kubernetes-list-type"] = "set"
		return s
	}
	item := g.object(depth - 1)
	item["properties"].(schema)["k"] = schema{"type": "string", "maxLength": 9}
	item["required"] = []any{"k"}
	s["items"], s["x-kubernetes-list-type"], s["x-kubernetes-list-map-keys"] = item, "map", []any{"k"}
	return s
}

// escaped are names as rules say them; what is missing is out of their reach.
var escaped = map[string]string{"a": "a", "b": "b", "c": "c", "dash-ed": "dash__dash__ed", "in": "__in__"}

// rule adds a rule that fits the schema's type, mostly.
func (g generator) rule(s schema) {
	var of []string
	switch s["type"] {
	case "string":
		if s["format"] != nil {
			of = []string{"self == self"}
			break
		}
		of = []string{"self.size() < 3", "self != 'abc'", "self == oldSelf", "self.startsWith('a')", "self.matches('^[a-c]*$')"}
	case "integer":
		of = []string{"self < 5", "self % 2 == 0", "self >= oldSelf", "10 / self > 1"}
	case "number":
		of = []string{"self < 5.5", "self > 0", "self == oldSelf"}
	case "boolean":
		of = []string{"self", "self == oldSelf"}
	case "array":
		of = []string{"self.size() < 3", "self == oldSelf", "self.all(x, self.exists_one(y, x == y))", "self[0] == self[1]"}
	case "object":
		of = []string{"self == oldSelf"}
		if properties, ok := s["properties"].(schema); ok {
			for _, name := range g.keys(properties) {
				if e := escaped[name]; e != "" {
					of = append(of, "has(self."+e+")", "!has(self."+e+") || self."+e+" == self."+e, "self."+e+" == oldSelf."+e)
				}
			}
		}
		if s["additionalProperties"] != nil {
			of = append(of, "self.size() < 2", "self.all(k, k != 'b')", "'a' in self")
		}
		if s["x-kubernetes-embedded-resource"] == true {
			of = append(of, "self.kind == 'Pod'", "self.metadata.name != 'x'")
		}
	default:
		of = []string{"type(self) == int", "self == 5 || self == '50%'"}
	}
	r := schema{"rule": pick(g, of...)}
	switch g.IntN(8) {
	case 0:
		r["message"] = "not allowed here"
	case 1:
		r["messageExpression"] = "self == self ? 'it is not so' : ''"
	case 2:
		r["reason"] = pick(g, "FieldValueForbidden", "FieldValueRequired", "FieldValueDuplicate")
	}
	rules, _ := s["x-kubernetes-validations"].([]any)
	s["x-kubernetes-validations"] = append(rules, r)
}

// tightened is a schema that allows less, in a place or two.
func (g generator) tightened(s schema) schema {
	out := schema{}
	for k, v := range s {
		out[k] = v
	}
	delete(out, "default")
	switch {
	case s["type"] == "string" && s["enum"] == nil && g.often(50):
		out["maxLength"] = 2
	case (s["type"] == "integer" || s["type"] == "number") && g.often(50):
		out["maximum"] = 3
	case s["type"] == "array" && g.often(30):
		out["maxItems"] = 1
	case s["x-kubernetes-preserve-unknown-fields"] != true && g.often(40):
		g.rule(out)
	}
	if items, ok := s["items"].(schema); ok {
		out["items"] = g.tightened(items)
		if keyed := s["x-kubernetes-list-map-keys"] != nil; keyed {
			out["items"].(schema)["properties"].(schema)["k"] = items["properties"].(schema)["k"]
		}
	}
	if extra, ok := s["additionalProperties"].(schema); ok {
		out["additionalProperties"] = g.tightened(extra)
	}
	properties, ok := s["properties"].(schema)
	if !ok {
		return out
	}
	narrow := schema{}
	for _, name := range g.keys(properties) {
		narrow[name] = g.tightened(properties[name].(schema))
	}
	out["properties"] = narrow
	if present := g.keys(properties); len(present) > 0 && g.often(20) {
		required, _ := out["required"].([]any)
		if name := pick(g, present...); !slices.Contains(required, any(name)) {
			out["required"] = append(slices.Clone(required), name)
		}
	}
	return out
}

// long is a text of about n characters.
func (g generator) long(n int) string {
	return strings.Repeat(pick(g, "a", "b", "abc", "é"), n) + fmt.Sprint(g.IntN(3))
}
