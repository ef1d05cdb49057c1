package openapi

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	openapiv2 "github.com/google/gnostic-models/openapiv2"
	openapiv3 "github.com/google/gnostic-models/openapiv3"
	"google.golang.org/protobuf/proto"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/wasmgate/wasmgate/crd"
)

// What is put into protobuf is read as YAML, and yet says what the JSON says.
func TestJSONThatYAMLReads(t *testing.T) {
	for text, want := range map[string]string{
		`{"a":"b \" \\ \\ud83d é \u00e9 😀"}`:         "",
		"{\"a\":\"\x7f\u0080\u0085\u009f\u00a0\"}":   `{"a":"\u007f\u0080\u0085\u009f` + "\u00a0" + `"}`,
		"{\"a\":\"\u2028\u2029\ufeff\ufffe\uffff\"}": `{"a":"\u2028\u2029\ufeff\ufffe\uffff"}`,
		`{"a":"\ud83d\ude00 \uD83D\uDE00"}`:          `{"a":"😀 😀"}`,
		`{"a":"\ud83d \ud83d\u0041 \ude00"}`:         `{"a":"\ufffd \ufffd\u0041 \ufffd"}`,
		`{"a":"\\\ud83d\ude00"}`:                     `{"a":"\\😀"}`,
		"{\"a\":\"\xff\xfe\"}":                       `{"a":"\ufffd\ufffd"}`,
		`"\ud83`:                                     `"\ud83`, // which is no JSON
	} {
		if want == "" {
			want = text
		}
		got := readable([]byte(text))
		if string(got) != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
		var before, after any
		if json.Unmarshal([]byte(text), &before) == nil && (json.Unmarshal(got, &after) != nil || !reflect.DeepEqual(before, after)) {
			t.Errorf("%q says %v, and then %v", text, before, after)
		}
	}
}

// odd is a custom resource in a group that has one for each text: a field is described by
// it, and another one is called so.
func odd(t *testing.T, name, description, field string) *crd.Definition {
	d := disks(t, name, description)
	d.Versions[0].OpenAPISchema().Properties[field] = apiextensionsv1.JSONSchemaProps{Type: "string"}
	return d
}

// inProtobuf are both documents in protobuf, version 3 of a group.
func inProtobuf(t *testing.T, docs *Documents, group string) (*openapiv2.Document, *openapiv3.Document) {
	t.Helper()
	two, three := &openapiv2.Document{}, &openapiv3.Document{}
	body, _, _, _ := docs.Lookup("/openapi/v2", v2Protobuf)
	if err := proto.Unmarshal(body.Joined(), two); err != nil || body.Length() == 0 {
		t.Fatalf("version 2: %d bytes, %v", body.Length(), err)
	}
	body, _, _, _ = docs.Lookup("/openapi/v3/apis/"+group+"/v1", v3Protobuf)
	if err := proto.Unmarshal(body.Joined(), three); err != nil || body.Length() == 0 {
		t.Fatalf("version 3: %d bytes, %v", body.Length(), err)
	}
	return two, three
}

// Whoever may make definitions may describe fields in any characters.
func TestCharactersOfControlInProtobuf(t *testing.T) {
	const text = "a\x7f\u0085\u009f\u2028\ufeff\ufffe\uffff😀"
	two, three := inProtobuf(t, documents(t, []*crd.Definition{odd(t, "odd.example.com", text, text), disks(t, "disc.example.com", "a")}, nil), "odd.example.com")
	for _, d := range two.Definitions.AdditionalProperties {
		if d.Name == "com.example.odd.v1.Disk" {
			var names []string
			for _, p := range d.Value.Properties.AdditionalProperties {
				if names = append(names, p.Name); p.Name == "size" && p.Value.Description != text {
					t.Errorf("version 2 describes it as %q", p.Value.Description)
				}
			}
			if !strings.Contains(strings.Join(names, " "), text) {
				t.Errorf("version 2 has the fields %q", names)
			}
		}
	}
	for _, d := range three.Components.Schemas.AdditionalProperties {
		if d.Name == "com.example.odd.v1.Disk" {
			for _, p := range d.Value.GetSchema().Properties.AdditionalProperties {
				if p.Name == "size" && p.Value.GetSchema().Description != text {
					t.Errorf("version 3 describes it as %q", p.Value.GetSchema().Description)
				}
			}
		}
	}
}

// What the library can read in no way takes nothing from others: a schema of the same name
// says of which kind it is.
func TestSchemasThatCannotBeInProtobuf(t *testing.T) {
	var reported []string
	defs := []*crd.Definition{odd(t, "odd.example.com", "a", strings.Repeat("long", 1000)), disks(t, "disc.example.com", "a")}
	docs := New(defs, nil, Options{Report: func(err error) { reported = append(reported, err.Error()) }})
	two, three := inProtobuf(t, docs, "odd.example.com")
	found := map[string]bool{}
	for _, d := range two.Definitions.AdditionalProperties {
		found[d.Name] = true
		if d.Name != "com.example.odd.v1.Disk" {
			continue
		}
		if d.Value.Properties != nil || len(d.Value.VendorExtension) != 1 || d.Value.VendorExtension[0].Name != kindsKey || !strings.Contains(d.Value.VendorExtension[0].Value.Yaml, "kind: Disk") {
			t.Errorf("version 2: %v", d.Value)
		}
	}
	if !found["com.example.odd.v1.Disk"] || !found["com.example.odd.v1.DiskList"] || !found["com.example.disc.v1.Disk"] || len(two.Paths.Path) == 0 {
		t.Errorf("version 2 has %v", found)
	}
	for _, d := range three.Components.Schemas.AdditionalProperties {
		found[d.Name+" in 3"] = true
		if s := d.Value.GetSchema(); d.Name == "com.example.odd.v1.Disk" && (s.Properties != nil || len(s.SpecificationExtension) != 1) {
			t.Errorf("version 3: %v", s)
		}
	}
	if !found["com.example.odd.v1.Disk in 3"] || !found["com.example.odd.v1.DiskList in 3"] || len(three.Paths.Path) == 0 {
		t.Errorf("version 3 has %v", found)
	}
	if len(reported) != 2 || !strings.Contains(strings.Join(reported, " "), "com.example.odd.v1.Disk: ") {
		t.Errorf("reported %q", reported)
	}
	docs = New(append(defs, disks(t, "more.example.com", "a")), docs, Options{Report: func(err error) { reported = append(reported, err.Error()) }})
	if inProtobuf(t, docs, "more.example.com"); len(reported) != 2 {
		t.Errorf("reported again: %q", reported)
	}
	body, _, _, _ := docs.Lookup("/openapi/v2", "")
	if !strings.Contains(string(body.Joined()), "longlong") {
		t.Error("it is not in JSON")
	}
}

// What would take a minute to put into protobuf, and gigabytes, is had in JSON alone by who
// takes that, too; in version 2, where it is one definition of many, it is left out.
func TestWhatIsTooLargeForProtobuf(t *testing.T) {
	large := disks(t, "large.example.com", "a")
	enum := make([]apiextensionsv1.JSON, maxValues+1)
	for i := range enum {
		enum[i].Raw = []byte("1")
	}
	large.Versions[0].OpenAPISchema().Properties["size"] = apiextensionsv1.JSONSchemaProps{Type: "integer", Enum: enum}
	var reported []string
	docs := New([]*crd.Definition{large, disks(t, "disc.example.com", "a")}, nil, Options{Report: func(err error) { reported = append(reported, err.Error()) }})
	for accept, want := range map[string]string{v3Protobuf: "", v3Protobuf + ",application/json": mediaJSON, v3Protobuf + ", */*;q=0.1": mediaJSON} {
		if body, form, _, ok := docs.Lookup("/openapi/v3/apis/large.example.com/v1", accept); !ok || form != want || body.Length() > 0 != (want != "") {
			t.Errorf("%s: %q, %d bytes", accept, form, body.Length())
		}
	}
	two, _ := inProtobuf(t, docs, "disc.example.com")
	for _, d := range two.Definitions.AdditionalProperties {
		if d.Name == "com.example.large.v1.Disk" && d.Value.Properties != nil {
			t.Error("version 2 has it all")
		}
	}
	if len(reported) != 1 || !strings.Contains(reported[0], "more than 200000 values") {
		t.Errorf("reported %.300q", reported)
	}
}
