package merge

import (
	"encoding/json"
	"strings"
	"testing"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// Only a declared object that may hold declared fields of its own holds
// anything that sets do not show.
func TestPlacesOfTheirOwnThatHoldMore_SSA13(t *testing.T) {
	typ, err := objectOf(t, `{"type":"object","properties":{
		"spec":{"type":"object","properties":{"name":{"type":"string"},"inner":{"type":"object","properties":{"a":{"type":"string"}}}}},
		"atomic":{"type":"object","x-kubernetes-map-type":"atomic","properties":{"a":{"type":"string"}}},
		"open":{"type":"object","x-kubernetes-preserve-unknown-fields":true},
		"map":{"type":"object","additionalProperties":{"type":"object","properties":{"a":{"type":"object","properties":{"b":{"type":"string"}}}}}},
		"list":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["name"],"items":{"type":"object","properties":{
			"name":{"type":"string"},"dir":{"type":"object","properties":{"size":{"type":"string"}}}}}}}}`)
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]bool{
		`{}`:                                   false,
		`{"f:spec":{}}`:                        true,
		`{"f:spec":{"f:name":{}}}`:             false,
		`{"f:spec":{".":{},"f:name":{}}}`:      true,
		`{"f:spec":{"f:inner":{}}}`:            true,
		`{"f:spec":{"f:inner":{"f:a":{}}}}`:    false,
		`{"f:spec":{"f:unknown":{}}}`:          false,
		`{"f:atomic":{}}`:                      false,
		`{"f:open":{}}`:                        false,
		`{"f:open":{"f:x":{".":{},"f:y":{}}}}`: false,
		`{"f:map":{}}`:                         false,
		`{"f:map":{"f:x":{".":{}}}}`:           false,
		`{"f:map":{"f:x":{"f:a":{}}}}`:         true,
		`{"f:none":{"f:x":{}}}`:                false,
		`{"f:list":{"k:{\"name\":\"x\"}":{".":{},"f:name":{}}}}`:                                       false,
		`{"f:list":{"k:{\"name\":\"x\"}":{".":{},"f:dir":{}}}}`:                                        true,
		`{"f:list":{"k:{\"name\":\"x\"}":{".":{},"f:dir":{"f:size":{}}},"v:1":{}},"f:map":{"f:x":{}}}`: false,
		`{"f:list":{"k:{\"name\":\"a\"}":{"f:dir":{}},"k:{\"name\":\"b\"}":{"f:name":{}}}}`:            true,
		`{"f:metadata":{"f:labels":{}}}`:                                                               false,
		`{"f:metadata":{}}`:                                                                            true,
		`{"f:spec":{"k:{\"name\":\"x\"}":{},"i:0":{"f:name":{}}}}`:                                     false, // as nobody here
		`{"f:list":{"f:name":{},"f:dir":{"f:size":{}}},"f:map":{"v:1":{}}}`:                            false, // writes them
	} {
		set := &fieldpath.Set{}
		if err := set.FromJSON(strings.NewReader(text)); err != nil || !json.Valid([]byte(text)) {
			t.Fatal(text, err)
		}
		if got := typ.Holds(set); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}
