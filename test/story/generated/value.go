package generated

import "math"

// perfect is the share of errors of values that are wanted valid.
const perfect = 0

// value makes a value for a schema; in wrong of 100 places it is not quite what
// the schema asks for.
func (g generator) value(s schema, depth int) any { return g.flawed(s, depth, perfect) }

func (g generator) flawed(s schema, depth, wrong int) any {
	if wrong > 0 && g.often(wrong) {
		return pick[any](g, nil, "text", 3, 1.5, true, -1, []any{}, []any{nil}, schema{}, schema{"a": 1, "zz": nil}, math.MaxInt64, "", "50%")
	}
	if s["nullable"] == true && g.often(15) {
		return nil
	}
	if enum, ok := s["enum"].([]any); ok && !(wrong > 0 && g.often(20)) {
		return pick(g, enum...)
	}
	switch s["type"] {
	case "string":
		return g.textFor(s, wrong)
	case "integer", "number":
		return g.numberFor(s, wrong)
	case "boolean":
		return g.often(60)
	case "array":
		return g.listFor(s, depth, wrong)
	case "object":
		return g.objectFor(s, depth, wrong)
	}
	if s["x-kubernetes-int-or-string"] == true {
		return pick[any](g, 5, "50%", 7)
	}
	return pick[any](g, "any", 7, 2.5, true, schema{"x": schema{"y": nil}}, []any{1, "a"})
}

// samples are good and bad texts of the formats.
var samples = map[string][]string{
	"byte": {"YWI=", "?"}, "date": {"2024-05-06", "2024-13-06"}, "date-time": {"2024-05-06T07:08:09Z", "yesterday"}, "duration": {"1h30m", "1x"},
	"ipv4": {"1.2.3.4", "1.2.3"}, "ipv6": {"::1", "1.2.3.4"}, "cidr": {"10.0.0.0/8", "10.0.0.0"}, "uuid": {"123e4567-e89b-12d3-a456-426614174000", "123"},
	"email": {"a@b.c", "a"}, "hostname": {"a.b", "a_b."}, "uri": {"http://a/b", "b"}, "mac": {"01:02:03:04:05:06", "01"}, "password": {"p", "q"}, "odd": {"o", "p"},
}

func (g generator) textFor(s schema, wrong int) any {
	if f, ok := s["format"].(string); ok {
		if g.often(wrong) {
			return samples[f][1]
		}
		return samples[f][0]
	}
	if g.often(wrong * 2) {
		return pick(g, "", "x", "ABC", g.long(70), "xyz")
	}
	if s["pattern"] != nil {
		return pick(g, "bcbc", "b", "abc")
	}
	return pick(g, "abc", "abcd", "aa", "bbb")
}

func (g generator) numberFor(s schema, wrong int) any {
	if g.often(wrong * 2) {
		return pick[any](g, -5, 0, 5000000000, 2.5, 1e21, math.MinInt64, 3.0)
	}
	if s["type"] == "number" && g.often(40) {
		return pick(g, 2.5, 3.75, 6.0)
	}
	return pick(g, 6, 6, 6, 3, 4)
}

func (g generator) listFor(s schema, depth, wrong int) any {
	items, _ := s["items"].(schema)
	list := []any{}
	n := 1 + g.IntN(2)
	if g.often(wrong) {
		n = g.IntN(8)
	}
	for i := range n {
		v := g.flawed(items, depth-1, wrong)
		switch item := v.(type) {
		case schema:
			if s["x-kubernetes-list-type"] == "map" && !g.often(wrong) {
				item["k"] = string(rune('p' + i))
			}
		case string:
			if s["x-kubernetes-list-type"] == "set" && !g.often(wrong) {
				v = item[:min(len(item), 2)] + string(rune('p'+i))
			}
		case int:
			if s["x-kubernetes-list-type"] == "set" && !g.often(wrong) {
				v = item + i*10
			}
		}
		list = append(list, v)
	}
	return list
}

func (g generator) objectFor(s schema, depth, wrong int) any {
	object := schema{}
	properties, _ := s["properties"].(schema)
	required, _ := s["required"].([]any)
	for _, name := range g.keys(properties) {
		needed := len(required) > 0 && required[0] == name || s["anyOf"] != nil
		if needed && !g.often(wrong) || g.often(60) {
			object[name] = g.flawed(properties[name].(schema), depth-1, wrong)
		}
	}
	if extra, ok := s["additionalProperties"].(schema); ok {
		for _, name := range []string{"a", "b", "key.c", "D"}[:g.IntN(3)+g.IntN(2)*wrong/(wrong+1)] {
			object[name] = g.flawed(extra, depth-1, wrong)
		}
	}
	if g.often(wrong) || s["x-kubernetes-preserve-unknown-fields"] == true && g.often(50) {
		object["unknown"] = pick[any](g, 1, nil, schema{"deep": []any{schema{"er": nil}}}, "x")
	}
	if s["x-kubernetes-embedded-resource"] == true {
		g.identify(object, wrong)
	}
	return object
}

// identify gives an embedded resource its own kind and metadata.
func (g generator) identify(object schema, wrong int) {
	object["apiVersion"], object["kind"] = "v1", pick(g, "Pod", "Service")
	object["metadata"] = schema{"name": pick(g, "x", "y"), "labels": schema{"a": "b"}}
	if !g.often(wrong * 3) {
		return
	}
	switch g.IntN(7) {
	case 0:
		delete(object, "apiVersion")
	case 1:
		object["kind"] = 7
	case 2:
		object["metadata"] = schema{"name": "Not_Good", "labels": schema{"a b": "c"}}
	case 3:
		object["metadata"] = schema{"labels": schema{"a": 1}, "unknown": true}
	case 4:
		object["metadata"] = pick[any](g, nil, "text")
	case 5:
		object["apiVersion"] = "a/b/c"
	case 6:
		object["metadata"] = schema{"creationTimestamp": "soon", "generation": 1.5, "finalizers": []any{"x"}}
	}
}
