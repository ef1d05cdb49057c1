package module_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/wasmgate/wasmgate/gateway/kinds/module"
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
