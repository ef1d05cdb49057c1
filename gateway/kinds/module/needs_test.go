package module_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/wasmgate/wasmgate/gateway/kinds/module"
	"github.com/wasmgate/wasmgate/plugins"
)

func TestWhatADefinitionNeeds(t *testing.T) {
	for definition, want := range map[string]string{
		`{}`: "[]",
		`{"spec":{"names":{"kind":"K"},"versions":[{"name":"v1","served":true,"storage":true}]}}`:                                                       "[]",
		`{"spec":{"names":{"kind":"K"},"versions":[{"name":"v1","served":true,"storage":true},{"name":"v2","served":true}]}}`:                           "[K v1 to v2 K v2 to v1]",
		`{"spec":{"names":{"kind":"K"},"versions":[{"name":"v1","served":true,"storage":true},{"name":"v2","served":false}]}}`:                          "[]",
		`{"spec":{"names":{"kind":"K"},"versions":[{"name":"v1","storage":true},{"name":"v2","served":true},{"name":"v3"}]}}`:                           "[K v1 to v2 K v2 to v1]",
		`{"spec":{"names":{"kind":"K"},"versions":[{"name":"v1"},{"name":"v2","served":true,"storage":true}]},"status":{"storedVersions":["v1","v2"]}}`: "[K v1 to v2]",
		`{"spec":{"names":{"kind":"K"},"versions":[{"name":"v2","storage":true},{"name":"v3","served":true}]},"status":{"storedVersions":["v1"]}}`:      "[K v1 to v3 K v1 to v2 K v2 to v3 K v3 to v2]",
		`{"spec":{"names":"odd","versions":["odd",{"name":1}]}}`:                                                                                        "[]",
	} {
		var tree map[string]any
		if err := json.Unmarshal([]byte(definition), &tree); err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(module.Needs(tree)); got != want {
			t.Errorf("%s: %s, want %s", definition, got, want)
		}
	}
}

func TestWhichModuleADefinitionNeeds(t *testing.T) {
	const versions = `"names":{"kind":"K"},"versions":[{"name":"v1","served":true,"storage":true},{"name":"v2","served":true}]`
	for definition, want := range map[string]string{
		`{}`:                          "{ []}",
		`{"spec":{` + versions + `}}`: "{ []}",
		`{"spec":{"conversion":{"strategy":"Webhook","webhook":{"clientConfig":{"url":"https://m"}}},` + versions + `}}`: "{ []}",
		`{"spec":{"conversion":{"strategy":"Webhook","webhook":{"clientConfig":{"url":"wasm://m"}}},` + versions + `}}`:  "{m [K v1 to v2 K v2 to v1]}",
	} {
		obj := new(unstructured.Unstructured)
		if err := json.Unmarshal([]byte(definition), &obj.Object); err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(module.NeedOf(obj)); got != want {
			t.Errorf("%s: %s, want %s", definition, got, want)
		}
	}
}

// A definition lacks what its module says that it does not convert, and only that; a module
// that says nothing is believed to convert everything.
func TestWhatDefinitionsLack(t *testing.T) {
	there, back := plugins.Conversion{Kind: "K", From: "v1", To: "v2"}, plugins.Conversion{Kind: "K", From: "v2", To: "v1"}
	needs := maps.All(map[string]module.Need{
		"b.example.com": {Module: "m", Conversions: []plugins.Conversion{there, back}},
		"a.example.com": {Module: "m", Conversions: []plugins.Conversion{back}},
		"c.example.com": {Module: "m"},
		"d.example.com": {Module: "another", Conversions: []plugins.Conversion{there, back}},
		"e.example.com": {},
	})
	for _, c := range []struct {
		has  []plugins.Conversion
		want string
	}{
		{nil, "[]"},
		{[]plugins.Conversion{there, back}, "[]"},
		{[]plugins.Conversion{there}, "[{a.example.com [K v2 to v1]} {b.example.com [K v2 to v1]}]"},
		{[]plugins.Conversion{back}, "[{b.example.com [K v1 to v2]}]"},
		{[]plugins.Conversion{}, "[{a.example.com [K v2 to v1]} {b.example.com [K v1 to v2 K v2 to v1]}]"},
	} {
		if got := fmt.Sprint(module.Lacks("m", c.has, needs)); got != c.want {
			t.Errorf("%v: %s, want %s", c.has, got, c.want)
		}
	}
}
