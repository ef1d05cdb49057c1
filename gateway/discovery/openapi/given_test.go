package openapi

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// What servers really say is shown; what would cost who asks for it in protobuf a minute,
// or gigabytes, is not.
func TestDescriptionsOfOthersAreBounded(t *testing.T) {
	const before, after = `{"openapi":"3.0.0","info":{"title":"t","version":"1"},"paths":{},"components":{"schemas":{"a":{"x-a":`, `}}}}`
	for name, doc := range map[string]string{
		"": before + "[]" + after, "it is no JSON": before,
		"it is nested more than 200 deep": before + strings.Repeat(`{"a":`, 200) + "1" + strings.Repeat("}", 200) + after,
		"it has more than 200000 values":  before + "[" + strings.Repeat("[],", 100_000) + "1]" + after,
		"it has 4194305 bytes, more than": `"` + strings.Repeat("a", maxGiven-1) + `"`,
	} {
		if err := CheckGiven([]byte(doc)); name == "" != (err == nil) || err != nil && !strings.HasPrefix(err.Error(), name) {
			t.Errorf("%q: %v", name, err)
		}
	}
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "k8s.io/client-go").Output()
	if err != nil {
		t.Fatal(err)
	}
	doc, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(dir)), "openapi/openapitest/testdata/api__v1_openapi.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := CheckGiven(doc); err != nil {
		t.Error(err)
	}
}

// So are those of version 2, by what is about one version.
func TestValuesOfForeignDescriptionsAreBounded(t *testing.T) {
	doc := func(n int) []byte {
		return []byte(`{"swagger":"2.0","paths":{"/apis/g/v1/things":{"x-a":[` + strings.Repeat("[],", n) + `1]}}}`)
	}
	version := schema.GroupVersion{Group: "g", Version: "v1"}
	if _, err := ReadForeign(doc(100_000), version); err == nil || !strings.Contains(err.Error(), "more than 200000 values are about this version") {
		t.Error(err)
	}
	if _, err := ReadForeign(doc(10), version); err != nil {
		t.Error(err)
	}
}

// A description that another server made is had in the forms that there are, by the hash that
// others know it by; what cannot be put into one is reported.
func TestDescriptionsOfOthersInForms(t *testing.T) {
	const doc = `{"openapi":"3.0.0","info":{"title":"t","version":"1"},"paths":{"/a":{}}}`
	g := NewGiven([]byte(doc), "h1", func(err error) { t.Error(err) })
	for accept, want := range map[string]string{"": mediaJSON, "*/*": mediaJSON, v3Protobuf: v3Protobuf, "text/html": ""} {
		body, form, etag := g.Lookup(accept)
		if form != want || (len(body.Joined()) > 0) != (want != "") || (etag != "") != (want != "") || want != "" && !strings.Contains(etag, "h1") {
			t.Errorf("%q: %q, %q, %d bytes", accept, form, etag, len(body.Joined()))
		}
		if form == mediaJSON && string(body.Joined()) != doc || form == v3Protobuf && !strings.Contains(string(body.Joined()), "/a") {
			t.Errorf("%q: %q", accept, body.Joined())
		}
	}
	if g.Hash() != "h1" {
		t.Error(g.Hash())
	}
	reported := 0
	bad := NewGiven([]byte(`{"openapi":7}`), "h2", func(error) { reported++ })
	if body, _, _ := bad.Lookup(v3Protobuf); len(body.Joined()) > 0 || reported != 1 {
		t.Errorf("%q, reported %d times", body.Joined(), reported)
	}
}
