package openapi

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	openapiv2 "github.com/google/gnostic-models/openapiv2"
	"google.golang.org/protobuf/proto"
	"k8s.io/apimachinery/pkg/runtime/schema"
	openapiproto "k8s.io/kube-openapi/pkg/util/proto"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"github.com/wasmgate/wasmgate/crd"
)

var fishV1 = schema.GroupVersion{Group: "fish.example.com", Version: "v1"}

const fishPath = "/apis/fish.example.com/v1/fishes"

// fishDocument is a version 2 document with definitions beside that of fishes.
func fishDocument(definitions string) string {
	return `{"swagger":"2.0","info":{"title":"fish","version":"v1"},"paths":{
		"` + fishPath + `":{"get":{"operationId":"listFish","parameters":[{"$ref":"#/parameters/limit"}],"responses":{"200":{"description":"OK","schema":{"$ref":"#/definitions/Fish"}}}}},
		"/apis/fish.example.com/v2/fishes":{"get":{"responses":{"200":{"description":"OK","schema":{"$ref":"#/definitions/OldFish"}}}}},
		"/apis/fish.example.com/v1beta1":{"get":{"responses":{"200":{"description":"OK"}}}},
		"/api/v1/pods":{"get":{"operationId":"steal","responses":{"200":{"description":"OK"}}}}},
	"parameters":{"limit":{"name":"limit","in":"query","type":"integer"}},
	"definitions":{
		"Fish":{"type":"object","properties":{"metadata":{"$ref":"#/definitions/Meta"},"$ref":{"type":"string"}},
			"x-kubernetes-group-version-kind":[{"group":"fish.example.com","version":"v1","kind":"Fish"},{"group":"","version":"v1","kind":"Pod"}]},
		"OldFish":{"type":"object"}` + definitions + `}}`
}

func readFish(t *testing.T, definitions string) *Foreign {
	t.Helper()
	f, err := ReadForeign([]byte(fishDocument(definitions)), fishV1)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// joinedDocument is version 2 of defs and others, once they are joined, in JSON; that it
// says the same in protobuf is checked.
func joinedDocument(t *testing.T, d *Documents) *spec.Swagger {
	t.Helper()
	d.Lookup(v2Path, "")
	if len(d.v2.foreign) > 0 {
		<-d.v2.joined
	}
	text, doc := version2(t, d)
	want, err := openapiv2.ParseDocument(text)
	if err != nil {
		t.Fatal(err)
	}
	body, _, _, _ := d.Lookup(v2Path, v2Protobuf)
	got := &openapiv2.Document{}
	if err := proto.Unmarshal(body.Joined(), got); err != nil || !proto.Equal(got, want) {
		t.Errorf("protobuf says something else: %v", err)
	}
	return doc
}

func withForeign(t *testing.T, defs []*crd.Definition, previous *Documents, all ...*Foreign) *Documents {
	return New(defs, previous, Options{Foreign: all, Report: func(err error) { t.Error(err) }})
}

// Of what another server describes its version becomes part of version 2, with what that
// needs, and nothing that is of other versions; without it the document is what it was.
func TestWhatOthersDescribeIsPartOfVersion2(t *testing.T) {
	defs := []*crd.Definition{disks(t, "disc.example.com", "a")}
	before := withForeign(t, defs, nil)
	f := readFish(t, `,"Meta":{"type":"object","description":"theirs"}`)
	with := withForeign(t, defs, before, f)
	doc := joinedDocument(t, with)
	if p := doc.Paths.Paths[fishPath]; p.Get == nil || p.Get.ID != "listFish" {
		t.Errorf("their path is %+v", p)
	}
	for _, path := range []string{"/api/v1/pods", "/apis/fish.example.com/v2/fishes", "/apis/fish.example.com/v1beta1"} {
		if _, there := doc.Paths.Paths[path]; there {
			t.Errorf("%s is there", path)
		}
	}
	if got := gvk(doc.Definitions["Fish"].Extensions); got != "[map[group:fish.example.com kind:Fish version:v1]]" {
		t.Errorf("fishes are of the kinds %s", got)
	}
	if _, there := doc.Definitions["OldFish"]; there || doc.Definitions["Meta"].Description != "theirs" || doc.Parameters["limit"].Name != "limit" {
		t.Error("what is needed is not there, or what is not is")
	}
	_, _, one, _ := before.Lookup(v2Path, "")
	_, _, two, _ := with.Lookup(v2Path, "")
	gone := withForeign(t, defs, with)
	_, _, three, _ := gone.Lookup(v2Path, "")
	if one == two || one != three || joinedDocument(t, gone).Definitions["Fish"].Type != nil {
		t.Errorf("the ETags are %s, %s, %s", one, two, three)
	}
}

// Things of the same name stay what they are here: others get another name, wherever they
// are referred to; what has the same content is shared, and says of which kinds it is.
func TestNamesThatClashAreChanged(t *testing.T) {
	const clash = `"type":"object","x-kubernetes-group-version-kind":[{"group":"fish.example.com","version":"v1","kind":"Meta"}]`
	defs := []*crd.Definition{disks(t, "disc.example.com", "a")}
	one := readFish(t, `,"Meta":{`+clash+`}`)
	same, err := ReadForeign([]byte(strings.ReplaceAll(fishDocument(`,"Meta":{"type":"object"}`), `fishes"`, `other"`)), fishV1)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.NewReplacer("fish.example.com", "fowl.example.com", `"Fish"`, `"Fowl"`, "/Fish", "/Fowl", `"type":"integer"`, `"type":"string"`).Replace(fishDocument(`,"Meta":{"type":"string"}`))
	other, err := ReadForeign([]byte(text), schema.GroupVersion{Group: "fowl.example.com", Version: "v1"})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		d := withForeign(t, defs, nil, one, other)
		doc := joinedDocument(t, d)
		ref := doc.Definitions["Fowl"].Properties["metadata"].Ref
		if doc.Definitions["Meta"].Type[0] != "object" || doc.Definitions["Meta_v2"].Type[0] != "string" || ref.String() != "#/definitions/Meta_v2" {
			t.Errorf("the reference is %s", ref.String())
		}
		get := doc.Paths.Paths["/apis/fowl.example.com/v1/fishes"].Get
		if at := get.Parameters[0].Ref; at.String() != "#/parameters/limit_v2" || doc.Parameters["limit_v2"].Type != "string" || doc.Parameters["limit"].Type != "integer" {
			t.Errorf("the parameter is %s", at.String())
		}
		// The next time nothing of it is made again.
		again := withForeign(t, append(defs, disks(t, "other.example.com", "a")), d, one, other)
		joinedDocument(t, again)
		if a, b := (*again.v2.adopted.Load())[other], again.v2.with.json(); a == nil || len(b) == 0 || d.v2.adopted != again.v2.adopted {
			t.Error("what was joined is forgotten")
		}
	}
	parts, _ := adopt([sections]fragments{}, []*Foreign{same, one}, nil)
	for _, f := range parts[definitionSection] {
		if f.name == "Meta" && !strings.Contains(string(f.json), `"kind":"Meta"`) || f.name == "Meta_v2" {
			t.Errorf("shared: %s", f.json)
		}
	}
	if len(parts[definitionSection]) != 2 || len(parts[pathSection]) != 2 {
		t.Errorf("there are %d definitions and %d paths", len(parts[definitionSection]), len(parts[pathSection]))
	}
}

// A name that a description has itself is none that another of its things gets, and neither
// is one that means something else here.
func TestOtherNamesAreFree(t *testing.T) {
	const refers = `{"type":"object","properties":{"x":{"$ref":"#/definitions/Meta_v2"}}}`
	f := readFish(t, `,"Meta":`+refers+`,"Meta_v2":{"type":"integer"}`)
	piece := func(name, text string) *fragment {
		p, err := newFragment(definitionSection, name, []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	for name, c := range map[string]struct {
		there fragments
		want  string
	}{
		"nothing is there":             {nil, "Fish Meta Meta_v2"},
		"another":                      {fragments{piece("Meta", `{"type":"number"}`)}, "Fish Meta Meta_v2 Meta_v3"},
		"others, one after the other":  {fragments{piece("Meta", `{"type":"number"}`), piece("Meta_v3", `{"type":"number"}`)}, "Fish Meta Meta_v2 Meta_v3 Meta_v4"},
		"the same, under another name": {fragments{piece("Meta", `{"type":"number"}`), piece("Meta_v3", refers)}, "Fish Meta Meta_v2 Meta_v3"},
		"the same":                     {fragments{piece("Meta", refers)}, "Fish Meta Meta_v2"},
	} {
		parts, came := adopt([sections]fragments{definitionSection: c.there}, []*Foreign{f}, nil)
		var names []string
		for _, p := range parts[definitionSection] {
			names = append(names, p.name)
		}
		slices.Sort(names)
		if got := strings.Join(slices.Compact(names), " "); got != c.want || came[f].err != nil {
			t.Errorf("%s: %s, %v", name, got, came[f].err)
		}
	}
}

// What is of kinds here and of others there is of all, in order.
func TestKindsOfWhatIsShared(t *testing.T) {
	kinds := func(group string) string {
		return `{"group":"` + group + `","kind":"Meta","version":"v1"}`
	}
	f := readFish(t, `,"Meta":{"type":"object","x-kubernetes-group-version-kind":[`+kinds("fish.example.com")+`]}`)
	own, err := newFragment(definitionSection, "Meta", []byte(`{"type":"object","x-kubernetes-group-version-kind":[`+kinds("a.example.com")+`,`+kinds("zoo.example.com")+`]}`))
	if err != nil {
		t.Fatal(err)
	}
	parts, came := adopt([sections]fragments{definitionSection: {own}}, []*Foreign{f}, nil)
	found := ""
	for _, p := range parts[definitionSection] {
		if p.name == "Meta" {
			found = string(p.json)
		}
	}
	a, fish, zoo := strings.Index(found, `"a.example.com"`), strings.Index(found, `"fish.example.com"`), strings.Index(found, `"zoo.example.com"`)
	if came[f].err != nil || a < 0 || a > fish || fish > zoo {
		t.Errorf("%s, %v", found, came[f].err)
	}
}

// What comes of a description is kept as long as what it clashes with is the same.
func TestOnlyWhatClashesWithWhatChangedIsJoinedAgain(t *testing.T) {
	f := readFish(t, `,"Meta":{"type":"object"}`)
	meta := func(text string) [sections]fragments {
		piece, err := newFragment(definitionSection, "Meta", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return [sections]fragments{definitionSection: {piece}}
	}
	parts := meta(`{"type":"string"}`)
	_, first := adopt(parts, []*Foreign{f}, nil)
	_, second := adopt(parts, []*Foreign{f}, first)
	_, third := adopt(meta(`{"type":"number"}`), []*Foreign{f}, second)
	if first[f].err != nil || first[f] != second[f] || third[f] == second[f] {
		t.Error("joined again though nothing changed, or not though it did")
	}
	// Where all paths are there already, nothing is added.
	taken := map[string]*fragment{fishPath: f.things[pathSection][fishPath].piece}
	if adds, err := (known{pathSection: taken}).with(f); len(adds) != 0 || err != nil {
		t.Errorf("%d pieces, %v", len(adds), err)
	}
	// What cannot be compared is left out, with what is there as it was.
	broken := &fragment{section: definitionSection, name: "Meta", json: []byte(`"Meta":{`)}
	left, after := adopt([sections]fragments{definitionSection: {broken}}, []*Foreign{f}, nil)
	if after[f].err == nil || len(left[definitionSection]) != 1 || len(left[pathSection]) != 0 {
		t.Errorf("%v, %v", after[f].err, left)
	}
}

// Descriptions that clients would fail on, or that are too large, are errors.
func TestDescriptionsThatAreBad(t *testing.T) {
	nested := strings.Repeat(`{"items":`, maxDepth) + `{}` + strings.Repeat("}", maxDepth)
	var many strings.Builder
	for i := range maxThings {
		fmt.Fprintf(&many, `,"D%d":{}`, i)
	}
	for text, want := range map[string]string{
		`<html>`: "invalid character", `[]`: "cannot unmarshal", `null`: "want 2.0", `{"swagger":"3.0"}`: "want 2.0",
		strings.Repeat("[", 1<<20):                                                     "nested",
		fishDocument(``):                                                               "referred to and not there",
		fishDocument(`,"Meta":7`):                                                      "Meta",
		fishDocument(`,"Meta":{"type":{}}`):                                            "Meta",
		fishDocument(`,"Meta":{"minimum":1e999}`):                                      "Meta",
		fishDocument(`,"Meta":{"$ref":"http://example.com/x"}`):                        "not understood",
		fishDocument(`,"Meta":{"$ref":"#/parameters/limit"}`):                          "not understood",
		fishDocument(`,"Meta":{"items":[{"$ref":"#/definitions/Other"}]}`):             "referred to and not there",
		fishDocument(`,"Meta":{"type":["string","object"]}`):                           "multiple types aren't supported",
		fishDocument(`,"Meta":{"type":"array"}`):                                       "array should have exactly one sub-item",
		fishDocument(`,"Meta":{"type":"fish"}`):                                        "Unknown primitive type",
		fishDocument(`,"Meta":{"x-kubernetes-group-version-kind":"all"}`):              "is no list",
		fishDocument(`,"Meta":` + nested):                                              "nested",
		fishDocument(`,"Meta":{"description":"` + strings.Repeat("x", maxKept) + `"}`): "bytes are about",
		fishDocument(many.String()):                                                    "more than 10000 definitions",
	} {
		if f, err := ReadForeign([]byte(text), fishV1); err == nil || f != nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "fish.example.com/v1") || len(err.Error()) > 1000 {
			t.Errorf("%.200s: %.1000v", text, err)
		}
	}
}

// A server may leave out which version of OpenAPI its description has, as some do.
func TestDescriptionsOfNoVersion(t *testing.T) {
	if f, err := ReadForeign([]byte(`{"paths":{"/apis/fish.example.com/v1/":{}}}`), fishV1); err != nil || f.things[pathSection]["/apis/fish.example.com/v1/"] == nil {
		t.Errorf("%+v, %v", f, err)
	}
}

// While it takes too long to join what others describe, the document is that of what is
// served here, and whoever asked first did not wait for it.
func TestOthersDoNotHoldUpTheDocument(t *testing.T) {
	d := withForeign(t, []*crd.Definition{disks(t, "disc.example.com", "a")}, nil, readFish(t, `,"Meta":{}`))
	d.v2.begin.Do(func() {}) // nobody joins them
	close(d.v2.late)
	if _, doc := version2(t, d); len(doc.Definitions) == 0 || doc.Definitions["Fish"].Type != nil {
		t.Error("it has what is not joined, or nothing")
	}
	d.v2.join()
	if _, doc := version2(t, d); doc.Definitions["Fish"].Type == nil {
		t.Error("it has not what is joined")
	}
}

// What cannot be joined is told once, and again where something else is why.
func TestWhatCannotBeJoinedIsToldOnce(t *testing.T) {
	f := readFish(t, `,"Meta":{"type":"object"}`)
	there := func(text string) *fragment {
		return &fragment{section: definitionSection, name: "Meta", json: []byte(`"Meta":` + text)}
	}
	told := 0
	var last *whole
	broken := there("{")
	for n, c := range []struct {
		*fragment
		told int
	}{{broken, 1}, {broken, 1}, {there("["), 2}, {there(`{"type":"object"}`), 2}} {
		last = newWhole(nil, []*Foreign{f}, last, func(error) { told++ })
		last.own = func() [sections]fragments { return [sections]fragments{definitionSection: {c.fragment}} }
		if last.join(); told != c.told {
			t.Errorf("document %d: told %d times, not %d", n, told, c.told)
		}
	}
}

// FuzzForeign has no description break the document of what is served here.
func FuzzForeign(f *testing.F) {
	for _, definitions := range []string{``, `,"Meta":{}`, `,"Meta":{"$ref":"#/definitions/Fish"}`, `,"Meta":{"x-kubernetes-group-version-kind":[7]}`} {
		f.Add(fishDocument(definitions))
	}
	own, err := newFragment(definitionSection, "Meta", []byte(`{"type":"object"}`))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		foreign, err := ReadForeign([]byte(text), fishV1)
		if err != nil {
			return
		}
		parts, _ := adopt([sections]fragments{definitionSection: {own}}, []*Foreign{foreign, foreign}, nil)
		body, err := joinJSON(parts)
		if err != nil || json.Unmarshal(body.Joined(), &spec.Swagger{}) != nil {
			t.Errorf("%v: %s", err, body.Joined())
		}
		doc := &openapiv2.Document{}
		if body, err = joinProtobuf(parts); err != nil || proto.Unmarshal(body.Joined(), doc) != nil {
			t.Errorf("as protobuf: %v", err)
		}
		if _, err := openapiproto.NewOpenAPIData(doc); err != nil { // which kubectl does
			t.Errorf("%v: %s", err, text)
		}
	})
}
