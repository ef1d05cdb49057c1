package lint

import (
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

// Whatever is in two files, comparing them ends, and finds nothing between a
// definition and itself.
func FuzzCompare(f *testing.F) {
	f.Add(before, before)
	f.Add(before, "{}")
	f.Add("{spec: {versions: [{name: v1, served: true, schema: {openAPIV3Schema: {items: {}, additionalProperties: true, not: {}}}}]}}", "{spec: {versions: [{name: v1, served: true, schema: {openAPIV3Schema: {items: [{}], additionalProperties: {}}}}]}}")
	f.Add("{spec: {versions: [{name: v1, served: true}, {name: v1, served: true, subresources: {status: {}}}]}}", "{}")
	f.Fuzz(func(t *testing.T, was, is string) {
		var a, b apiextensionsv1.CustomResourceDefinition
		if yaml.Unmarshal([]byte(was), &a) != nil || yaml.Unmarshal([]byte(is), &b) != nil {
			t.Skip()
		}
		Compare(&a, &b)
		for _, found := range Compare(&a, &a) {
			if found.Rule != "4a" { // a status may tell of a version that is not there
				t.Errorf("%+v", found)
			}
		}
	})
}
