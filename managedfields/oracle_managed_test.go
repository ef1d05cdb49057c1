package managedfields_test

import (
	"encoding/json"
	"slices"
)

// managed are managedFields that a client made of those that are there.
func (s *sequence) managed() json.RawMessage {
	var entries []any
	if s.live != nil && len(s.live.managed) > 0 {
		if err := json.Unmarshal(s.live.managed, &entries); err != nil {
			return nil
		}
	}
	switch s.IntN(8) {
	case 0:
		return json.RawMessage(s.one(`[{}]`, `[]`, `null`, `[{},{}]`))
	case 1:
		entries = append(entries, map[string]any{
			"manager": "new", "operation": "Update", "apiVersion": s.world.from.api(s.one("v1", "v2", "v3", "v9")),
			"fieldsType": "FieldsV1", "fieldsV1": s.fieldSet(), "time": "1999-01-01T00:00:00Z",
		})
	}
	if len(entries) > 0 {
		i := s.IntN(len(entries))
		if e, ok := entries[i].(map[string]any); ok {
			s.breakEntry(e)
		}
		switch s.IntN(6) {
		case 0:
			entries = slices.Delete(entries, i, i+1)
		case 1:
			entries = append(entries, entries[i])
		}
	}
	return json.RawMessage(asJSON(entries))
}

func (s *sequence) breakEntry(e map[string]any) {
	switch s.IntN(9) {
	case 0:
		e["manager"] = s.one("a", "b", "other", "")
	case 1:
		e["operation"] = s.one("Apply", "Update", "Foo", "")
	case 2:
		e["apiVersion"] = s.one(s.world.from.api("v1"), s.world.from.api("v2"), s.world.from.api("v9"), "v1", "other.io/v1", "")
	case 3:
		e["fieldsType"] = s.one("", "FieldsV2")
	case 4:
		e["fieldsV1"] = s.fieldSet()
	case 5:
		e["time"] = s.one("1998-05-05T05:05:05Z", "2001-01-01T00:00:00Z", "1999-01-01T00:00:00+01:00")
	case 6:
		delete(e, s.one("time", "manager", "fieldsV1", "subresource", "fieldsType"))
	case 7:
		e["subresource"] = s.one("", "status", "scale")
	default:
		e["unknown"] = "x"
	}
}

// fieldSet is a set of fields as it may come, now and then one that is none.
func (s *sequence) fieldSet() any {
	var out any
	text := s.one(`{}`, `null`, `{"f:spec":{}}`, `{"f:spec":{".":{},"f:a":{}}}`, `{"f:spec":{"f:a":{},"f:b":{"k:{\"name\":\"x\"}":{}}}}`,
		`{"f:spec":{"f:a":{"v:\"x\"":{},"v:1":{},"i:0":{}}}}`, `{"f:metadata":{"f:name":{},"f:labels":{"f:a":{}}}}`, `{"f:status":{"f:a":{}}}`,
		`{"f:spec":{"f:a":1}}`, `{"x:spec":{}}`, `{"k:{":{}}`, `{"v:":{}}`, `[]`, `"x"`, `{"f:spec":null}`, `{"f:":{}}`, `{"spec":{}}`, `{"a:x":{},"f:spec":{"f:a":{}},"x:x":{"f:b":{}}}`,
		`{"f:spec":{"f:a":{"k:{\"port\":1,\"name\":\"x\"}":{".":{}},"v:1.5":{},"v:null":{},"v:[1,{\"b\":2,\"a\":1}]":{},"i:2":{},"i:-1":{}}}}`,
		`{"f:spec":{"f:a":{"k:{\"b\":9007199254740993}":{},"v:1e3":{},"v:true":{}}}}`, `{"f:spec":{"f:a":{"i:x":{}}}}`, `{"f:spec":{"f:a":{"k:[]":{}}}}`)
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		return nil
	}
	return out
}
