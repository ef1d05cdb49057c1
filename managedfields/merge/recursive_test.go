package merge

import (
	"encoding/json"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

func objectOf(t *testing.T, text string) (*Type, error) {
	t.Helper()
	s := &apiextensionsv1.JSONSchemaProps{}
	if err := json.Unmarshal([]byte(text), s); err != nil {
		t.Fatal(err)
	}
	return Object(s, true, false)
}

// A schema that refers to one that it is in is one all the way down.
func TestSchemasThatContainThemselves_SSA20(t *testing.T) {
	typ, err := objectOf(t, `{"type":"object","id":"whole","properties":{
		"node":{"type":"object","id":"node","properties":{"name":{"type":"string"},
			"below":{"type":"array","items":{"$ref":"node"}},"by":{"type":"object","additionalProperties":{"$ref":"node"}},"root":{"$ref":"whole"}}},
		"other":{"type":"object","id":"other","properties":{"self":{"$ref":"other"}}}}}`)
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		`{"node":{"below":[{"by":{"x":{"root":{"node":{"name":"n"}}}}}]},"other":{"self":{"self":{}}}}`: "",
		`{"node":{"below":[{"by":{"x":{"root":{"node":{"name":1}}}}}]}}`:                                ".node.below[0].by.x.root.node.name: expected string",
		`{"node":{"below":[{"bye":1}]}}`:                                                                ".node.below[0].bye: field not declared in schema",
		`{"other":{"self":{"name":"n"}}}`:                                                               ".other.self.name: field not declared in schema",
	} {
		var v map[string]any
		if err := json.Unmarshal([]byte(text), &v); err != nil {
			t.Fatal(err)
		}
		err := typ.Validate(v, false)
		if want == "" && err != nil || want != "" && (err == nil || !strings.HasPrefix(err.Error(), want)) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	for _, text := range []string{
		`{"type":"object","properties":{"a":{"$ref":"a"}}}`,
		`{"type":"object","properties":{"a":{"type":"object","id":"a"},"b":{"$ref":"a"}}}`,
	} {
		if _, err := objectOf(t, text); err == nil || !strings.Contains(err.Error(), `a reference to "a", which it is not in`) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
