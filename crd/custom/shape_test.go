package custom

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/wasmgate/wasmgate/crd"
)

const head = `{"apiVersion":"example.com/v1","kind":"Foo","metadata":{"name":"e"}`

// fromClient shapes an object of those fields and returns all of it but its
// head.
func fromClient(t *testing.T, schema, fields string) (string, string) {
	t.Helper()
	obj := parse(t, head+","+fields+"}")
	unknown, err := fooVersion(t, schema, false).Shape.FromClient(obj, true)
	if err != nil {
		t.Fatal(err)
	}
	delete(obj, "apiVersion")
	delete(obj, "kind")
	delete(obj, "metadata")
	return text(obj), strings.Join(unknown, ", ")
}

func TestFromClient(t *testing.T) {
	for _, c := range []struct{ name, schema, in, out, unknown string }{
		{"FV-02 pruning", `{type: object, properties: {a: {type: string}}}`, `"z":1,"a":"x","y":{"q":1}`, `{"a":"x"}`, `unknown field "y", unknown field "z"`},
		{"FV-02 preserved", `{type: object, properties: {a: {type: object, x-kubernetes-preserve-unknown-fields: true}}}`, `"a":{"z":{"y":null}}`, `{"a":{"z":{"y":null}}}`, ""},
		{"CRD-05 nested", `{type: object, properties: {a: {type: array, items: {type: object, properties: {b: {type: string}}}}}}`, `"a":[{"b":"x"},{"c":1}]`, `{"a":[{"b":"x"},{}]}`, `unknown field "a[1].c"`},
		{"CRD-05 defaults", `{type: object, properties: {a: {type: string, default: d}, b: {type: object, default: {}, properties: {c: {type: integer, default: 3}}}}}`, `"b":{}`, `{"a":"d","b":{"c":3}}`, ""},
		{"CRD-05 nulls", `{type: object, properties: {a: {type: string, default: d}, b: {type: string}, c: {type: string, nullable: true}}}`, `"a":null,"b":null,"c":null`, `{"a":"d","c":null}`, ""},
		{"pruned defaults", `{type: object, properties: {a: {type: object, default: {b: x, z: 1}, properties: {b: {type: string}}}}}`, `"y":1`, `{"a":{"b":"x"}}`, `unknown field "y"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, unknown := fromClient(t, c.schema, c.in)
			if out != c.out || unknown != c.unknown {
				t.Errorf("got %s, %s", out, unknown)
			}
		})
	}
}

func TestFromClient_metadata(t *testing.T) {
	s := fooVersion(t, `{type: object}`, false).Shape
	obj := parse(t, `{"apiVersion":"example.com/v1","kind":"Foo","metadata":{"name":"e","creationTimestamp":null,"labels":{},"foo":1}}`)
	unknown, err := s.FromClient(obj, true)
	if err != nil || len(unknown) != 1 || unknown[0] != `unknown field "metadata.foo"` || text(obj["metadata"]) != `{"name":"e"}` {
		t.Errorf("got %s, %q, %v", text(obj), unknown, err)
	}
	for in, want := range map[string]string{
		`{"metadata":{"labels":{"a":1}}}`: "json: cannot unmarshal number into Go struct field ObjectMeta.labels of type string",
		`{"metadata":"x"}`:                "json: cannot unmarshal string into Go value of type v1.ObjectMeta",
		`{"kind":1}`:                      ".kind accessor error: 1 is of the type int64, expected string",
	} {
		if _, err := s.FromClient(parse(t, in), false); err == nil || err.Error() != want {
			t.Errorf("%s: got %v", in, err)
		}
	}
}

func TestFromStorage(t *testing.T) {
	s := fooVersion(t, `{type: object, properties: {a: {type: string, default: d}}}`, false).Shape
	obj := parse(t, `{"apiVersion":"example.com/v1","kind":"Foo","metadata":{"name":"e","labels":{"a":1}},"old":true}`)
	if err := s.FromStorage(obj); err != nil {
		t.Fatal(err)
	}
	if got := text(obj); got != `{"a":"d","apiVersion":"example.com/v1","kind":"Foo","metadata":{"generation":1,"name":"e"}}` {
		t.Errorf("got %s", got)
	}
}

func TestFromConversion_noDefaults(t *testing.T) {
	s := fooVersion(t, `{type: object, properties: {a: {type: string, default: d}}}`, false).Shape
	obj := parse(t, head+`,"old":true}`)
	if err := s.FromConversion(obj); err != nil || text(obj) != head+"}" {
		t.Errorf("got %s, %v", text(obj), err)
	}
}

// A part of an object has nulls where something was emptied, and keeps them.
func TestFromPart_keepsNulls(t *testing.T) {
	s := fooVersion(t, `{type: object, properties: {a: {type: object, properties: {b: {type: string}}}, c: {type: string, default: d}}}`, false).Shape
	obj := parse(t, head+`,"a":null,"old":null}`)
	if err := s.(crd.PartShape).FromPart(obj); err != nil || text(obj) != `{"a":null,`+head[1:]+"}" {
		t.Errorf("got %s, %v", text(obj), err)
	}
	if err := s.FromConversion(obj); err != nil || text(obj) != head+"}" {
		t.Errorf("of a whole object: got %s, %v", text(obj), err)
	}
}

// What is wrong in the metadata of an embedded resource is validation's to tell.
func TestFromPart_leavesEmbeddedMetadata(t *testing.T) {
	s := fooVersion(t, `{type: object, properties: {pod: {type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true}}}`, false).Shape
	whole := head + `,"pod":{"apiVersion":"v1","kind":"Pod","metadata":{"creationTimestamp":"never","odd":1}}`
	obj := parse(t, whole+"}")
	before := text(obj)
	if err := s.(crd.PartShape).FromPart(obj); err != nil || text(obj) != before {
		t.Errorf("got %s, %v", text(obj), err)
	}
	if err := s.FromConversion(obj); err == nil || !strings.Contains(err.Error(), "pod.metadata") {
		t.Errorf("of a whole object: %v", err)
	}
}

func TestPreserveUnknownFields(t *testing.T) {
	c := definition(t, "Foo", `[{name: v1, served: true, storage: true}]`)
	c.Spec.PreserveUnknownFields = true
	obj := parse(t, head+`,"anything":null}`)
	unknown, err := compile(t, c).Versions[0].Shape.FromClient(obj, true)
	if err != nil || len(unknown) > 0 || text(obj) != head[:0]+`{"anything":null,"apiVersion":"example.com/v1","kind":"Foo","metadata":{"name":"e"}}` {
		t.Errorf("got %s, %q, %v", text(obj), unknown, err)
	}
}

// TestShape_hammer shares one shape among goroutines.
func TestShape_hammer(t *testing.T) {
	v := fooVersion(t, `{type: object, properties: {a: {type: object, default: {b: {c: x}}, x-kubernetes-preserve-unknown-fields: true}}}`, false)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 200 {
				obj := parse(t, head+`,"x":1}`)
				if _, err := v.Shape.FromClient(obj, true); err != nil {
					t.Error(err)
				}
				// The default is a copy of its own.
				obj["a"].(map[string]any)["b"].(map[string]any)["c"] = "changed"
				obj = parse(t, head+`}`)
				if err := v.Shape.FromStorage(obj); err != nil || text(obj["a"]) != `{"b":{"c":"x"}}` {
					t.Errorf("got %s, %v", text(obj), err)
				}
			}
		})
	}
	wg.Wait()
}

// A library that names unknown fields by their whole paths needed all of the
// memory for this.
func TestNamingUnknownFieldsIsBounded_FV02(t *testing.T) {
	var fields strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&fields, `"f%d":1,`, i)
	}
	long := strings.Repeat("k", 1<<20)
	out, unknown := fromClient(t, `{type: object, properties: {m: {type: object, additionalProperties: {type: object, properties: {a: {type: string}}}}}}`,
		`"m":{"`+long+`":{`+fields.String()+`"a":"x"}}`)
	if unknown != "the names of its fields are too long to tell which of them are unknown" || out != `{"m":{"`+long+`":{"a":"x"}}}` {
		t.Errorf("got %.200s, %.200s", out, unknown)
	}
}

func TestSettled(t *testing.T) {
	const meta = `"apiVersion":"example.com/v1","kind":"Foo","metadata":{"name":"e","generation":1,"uid":"u"}`
	schema := `{type: object, properties: {a: {type: string, default: d}, b: {type: string}}}`
	for name, c := range map[string]struct {
		schema, in string
		want       bool
	}{
		"nothing to do":         {schema, `{` + meta + `,"a":"x","b":"y"}`, true},
		"a default":             {schema, `{` + meta + `,"b":"y"}`, false},
		"an unknown field":      {schema, `{` + meta + `,"a":"x","z":"y"}`, false},
		"a null":                {schema, `{` + meta + `,"a":"x","b":null}`, false},
		"no metadata":           {schema, `{"apiVersion":"example.com/v1","kind":"Foo","a":"x"}`, false},
		"metadata is a list":    {schema, `{"apiVersion":"example.com/v1","kind":"Foo","metadata":[],"a":"x"}`, false},
		"no kind":               {schema, `{"apiVersion":"example.com/v1","metadata":{"name":"e","generation":1},"a":"x"}`, false},
		"no version":            {schema, `{"kind":"Foo","metadata":{"name":"e","generation":1},"a":"x"}`, false},
		"no generation":         {schema, `{"apiVersion":"example.com/v1","kind":"Foo","metadata":{"name":"e"},"a":"x"}`, false},
		"empty labels":          {schema, `{"apiVersion":"example.com/v1","kind":"Foo","metadata":{"name":"e","generation":1,"labels":{}},"a":"x"}`, false},
		"unknown metadata":      {schema, `{"apiVersion":"example.com/v1","kind":"Foo","metadata":{"name":"e","generation":1,"x":1},"a":"x"}`, false},
		"labels":                {schema, `{"apiVersion":"example.com/v1","kind":"Foo","metadata":{"name":"e","generation":1,"labels":{"a":"b"}},"a":"x"}`, true},
		"no schema":             {`{type: object, x-kubernetes-preserve-unknown-fields: true}`, `{` + meta + `,"z":null}`, true},
		"defaults for metadata": {`{type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true}`, `{` + meta + `}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			obj := parse(t, c.in)
			if got := fooVersion(t, c.schema, false).Shape.Canonical(obj); got != c.want || text(obj) != text(parse(t, c.in)) {
				t.Errorf("%t, %s", got, text(obj))
			}
		})
	}
}
