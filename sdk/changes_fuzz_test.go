package sdk

import (
	"encoding/json"
	"reflect"
	"testing"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
)

// Whatever a module makes of an object, the patch makes the same of it.
func FuzzChanges(f *testing.F) {
	for _, c := range [][2]string{
		{`{"a":{"b":1,"c":[1]}}`, `{"a":{"b":2},"d":null}`}, {`{"":1,"~1":{"/":2}}`, `{"":{"":0},"~1":{}}`}, {`{}`, `{"-":"\u2028"}`}, {`{"a":{}}`, `{"a":[]}`}, {`{"a":null}`, `{}`},
	} {
		f.Add(c[0], c[1])
	}
	f.Fuzz(func(t *testing.T, one, other string) {
		var states [2][]byte
		for i, text := range []string{one, other} {
			var object map[string]any
			if json.Unmarshal([]byte(text), &object) != nil || object == nil {
				return
			}
			var err error
			if states[i], err = json.Marshal(object); err != nil { // no name twice, as the gateway sends it
				t.Fatal(err)
			}
		}
		text := append(appendChanges([]byte{'['}, "", states[0], states[1]), ']')
		patch, err := jsonpatch.DecodePatch(text)
		if err != nil {
			t.Fatalf("%v in %s", err, text)
		}
		made, err := patch.Apply(states[0])
		if err != nil {
			t.Fatalf("%v: %s on %s", err, text, states[0])
		}
		var got, want any
		if json.Unmarshal(made, &got) != nil || json.Unmarshal(states[1], &want) != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s on %s makes %s, want %s", text, states[0], made, states[1])
		}
	})
}
