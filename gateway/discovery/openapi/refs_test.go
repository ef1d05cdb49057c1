package openapi

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"
)

// Whatever a document refers to is in it, and what it says of the metadata that all kinds
// have is the same for all.
func TestDocumentsAreWhole(t *testing.T) {
	refs := regexp.MustCompile(`"\$ref":"#/components/schemas/([^"]+)"`)
	docs := documents(t, builtins(t), nil)
	for _, path := range []string{corePath, strings.Replace(corePath, "api/v1", "apis/apps/v1", 1)} {
		doc := v3(t, docs, path)
		text, err := json.Marshal(doc)
		if err != nil {
			t.Fatal(err)
		}
		all := refs.FindAllStringSubmatch(string(text), -1)
		for _, ref := range all {
			if doc.Components.Schemas[ref[1]] == nil {
				t.Errorf("%s refers to %s, which is not there", path, ref[1])
			}
		}
		if len(all) < 100 || doc.Components.Schemas["io.k8s.api.core.v1.Container"] == nil {
			t.Errorf("%s has %d references", path, len(all))
		}
	}
}
