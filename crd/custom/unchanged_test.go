package custom

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/crd/object"
)

// again is what FromConversion makes of data.
func again(s *shape, data []byte) ([]byte, error) {
	tree, _, err := object.ParseObject(data)
	if err != nil {
		return nil, err
	}
	if err := s.FromConversion(tree); err != nil {
		return nil, err
	}
	return object.Encode(tree)
}

// reallyUnchanged holds Unchanged to decoding and encoding again.
func reallyUnchanged(t *testing.T, s *shape, data []byte) (said, is bool) {
	t.Helper()
	out, err := again(s, data)
	is = err == nil && bytes.Equal(out, data)
	if said = s.unchanged(data); said && !is {
		t.Errorf("said to be unchanged: %s\nit becomes: %s, %v", data, out, err)
	}
	return said, is
}

const unchangedSchema = `
type: object
properties:
  spec:
    type: object
    properties:
      s: {type: string}
      nullable: {type: string, nullable: true}
      l: {type: array, items: {type: object, properties: {a: {type: string}}}}
      m: {type: object, additionalProperties: {type: string}}
      open: {type: object, additionalProperties: true}
      free: {x-kubernetes-preserve-unknown-fields: true}
      freeList: {type: array, x-kubernetes-preserve-unknown-fields: true, items: {type: object}}
      half: {type: object, x-kubernetes-preserve-unknown-fields: true, properties: {a: {type: object}}}
      embedded: {type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true}
      withDefault: {type: string, default: d}
`

// Objects as converters make them pass in one go, and what would be changed
// never does.
func TestUnchangedObjects_CRD12(t *testing.T) {
	whole := fooVersion(t, unchangedSchema, false).Shape.(*shape)
	deep := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	object := func(meta, spec string) string {
		return `{"apiVersion":"example.com/v1","kind":"Foo","metadata":{` + meta + `},"spec":{` + spec + `}}`
	}
	for _, c := range []struct {
		meta, spec string
		want       bool
	}{
		{``, ``, true},
		{`"name":"e"`, `"s":"x"`, true},
		{`"name":"e"`, `"unknown":"x"`, false},
		{``, `"s":"x","s":"y"`, false}, {``, `"s":"x","nullable":"y"`, false}, {``, `"nullable":"y","s":"x"`, true},
		{``, `"s":null`, false}, {``, `"nullable":null`, true}, {``, `"free":null`, false}, {``, `"unknown":null`, false},
		{``, `"l":[]`, true}, {``, `"l":[{"a":"b"},{}]`, true}, {``, `"l":[{"b":"b"}]`, false}, {``, `"l":[null]`, false}, {``, `"l":["x",1,true,false]`, true}, {``, `"l":[[{}],[null]]`, true}, {``, `"l":[[{"a":"b"}]]`, false}, {``, `"l":["x" ]`, false}, {``, `"l":["x",]`, false}, {``, `"l":[,"x"]`, false}, {``, `"l":["x""y"]`, false}, {``, `"l":["x"`, false},
		{``, `"m":{"a":"b","c":"d"}`, true}, {``, `"m":{"a":null}`, false}, {``, `"m":{"a":{}}`, true}, {``, `"m":{"a":{"b":"c"}}`, false},
		{``, `"open":{"a":1,"b":{},"c":null}`, true}, {``, `"open":{"a":{"b":"c"}}`, false}, {``, `"open":{"a":{"b":"c"}`, false},
		{``, `"free":{"a":{"b":[{"c":null},1]}}`, true}, {``, `"free":[null,{"a":{"b":1}}]`, true}, {``, `"free":{"b":1,"a":2}`, false}, {``, `"free":{"a":{"c":1,"b":1}}`, false}, {``, `"free":[{"c":1,"b":1}]`, false},
		{``, `"freeList":[{"a":{"b":1}}]`, false}, {``, `"freeList":[{}]`, true}, {``, `"half":{"a":{},"b":{"c":null}}`, true}, {``, `"half":{"a":{"b":1}}`, false},
		{``, `"embedded":{}`, false}, {``, `"embedded":"x"`, true}, {``, `"withDefault":"x"`, true},
		{``, `"free":` + deep(maxScanDepth-2), true}, {``, `"free":` + deep(maxScanDepth-1), false},
		{``, `"free":` + strings.Repeat(`{"a":`, maxScanDepth-2) + `1` + strings.Repeat(`}`, maxScanDepth-2), true}, {``, `"free":` + strings.Repeat(`{"a":`, maxScanDepth-1) + `1` + strings.Repeat(`}`, maxScanDepth-1), false},
		{``, `"free":[` + strings.Repeat(`[{}],`, maxScanDepth) + `1]`, true},

		{``, `"s":0`, true}, {``, `"s":-1`, true}, {``, `"s":-0`, false}, {``, `"s":00`, false}, {``, `"s":01`, false}, {``, `"s":10`, true}, {``, `"s":-`, false}, {``, `"s":9a`, false}, {``, `"s":1:`, false}, {``, `"s":1/`, false},
		{``, `"s":123456789012345678`, true}, {``, `"s":-123456789012345678`, true}, {``, `"s":1234567890123456789`, false}, {``, `"s":1.5`, false}, {``, `"s":1e3`, false}, {``, `"s":1E3`, false},
		{``, `"s":true`, true}, {``, `"s":false`, true}, {``, `"s":tru`, false}, {``, `"s":nul`, false}, {``, `"s":`, false},

		{``, `"s":"é\"\\\n\r\t\b\f~"`, true}, {``, `"s":"\/"`, false}, {``, `"s":"\u0041"`, false}, {``, `"s":"\u003c"`, false}, {``, `"s":"<"`, false}, {``, `"s":">"`, false}, {``, `"s":"&"`, false}, {``, "\"s\":\"\u2028\"", false}, {``, "\"s\":\"a\u2029\"", false}, {``, "\"s\":\"\u2027\u202a\ufffd\"", true}, {``, "\"s\":\"\xff\"", false}, {``, "\"s\":\"\x1f\"", false}, {``, "\"s\":\"\x7f\"", true}, {``, `"s":"x`, false}, {``, `"s":"x\`, false}, {``, "\"s\":\"\\\x00\"", false},
		{``, `"free":{"é":1}`, true}, {``, `"free":{"\"":1}`, false}, {``, `"free":{"<":1}`, false}, {``, `"free":{a:1}`, false}, {``, `"free":{"a"1}`, false}, {``, `"free":{"a":1"b":2}`, false}, {``, `"free":{,"a":1}`, false}, {``, `"free":{"a":1,}`, false}, {``, `"free":{"a" :1}`, false}, {``, `"free":{"a":1,"a":1}`, false}, {``, `"free":{"":1}`, true}, {``, `"free":{"":1,"":1}`, false},

		{`"annotations":{"a":"b"},"creationTimestamp":"2026-01-01T00:00:00Z","deletionGracePeriodSeconds":0,"deletionTimestamp":"2026-01-01T00:00:00Z","finalizers":["f"],"generateName":"x-","generation":1,"labels":{"a":""},"name":"e","namespace":"n","resourceVersion":"1","selfLink":"l","uid":"u"`, ``, true},
		{`"name":""`, ``, false}, {`"name":null`, ``, false}, {`"name":1`, ``, false}, {`"unknown":"x"`, ``, false}, {`"generation":0`, ``, false}, {`"generation":"1"`, ``, false}, {`"generation":1.0`, ``, false}, {`"generation":-1`, ``, true}, {`"deletionGracePeriodSeconds":"1"`, ``, false},
		{`"creationTimestamp":"2026-01-01T00:00:00+01:00"`, ``, false}, {`"creationTimestamp":null`, ``, false}, {`"deletionTimestamp":"x"`, ``, false}, {`"creationTimestamp":5`, ``, false},
		{`"labels":{}`, ``, false}, {`"labels":{"a":1}`, ``, false}, {`"annotations":[]`, ``, false}, {`"annotations":{"a":null}`, ``, false}, {`"annotations":{}`, ``, false},
		{`"finalizers":[]`, ``, false}, {`"finalizers":[1]`, ``, false}, {`"finalizers":"f"`, ``, false},
		{`"ownerReferences":[{"apiVersion":"v1","blockOwnerDeletion":false,"controller":true,"kind":"K","name":"n","uid":"u"}]`, ``, true}, {`"ownerReferences":[{"apiVersion":"v1","kind":"K","name":"n"}]`, ``, false}, {`"ownerReferences":[]`, ``, false}, {`"ownerReferences":[{"apiVersion":"v1","kind":"K","name":"n","uid":"u","unknown":1}]`, ``, false}, {`"ownerReferences":[{"apiVersion":"v1","controller":1,"kind":"K","name":"n","uid":"u"}]`, ``, false}, {`"ownerReferences":[{"apiVersion":1,"kind":"K","name":"n","uid":"u"}]`, ``, false},
		{`"managedFields":[{"fieldsV1":{"f:a": {}},"manager":"m"}]`, ``, true}, {`"managedFields": [{"manager":"m"}]`, ``, false}, {`"managedFields":[]`, ``, false}, {`"managedFields":[{"x":1}]`, ``, false}, {`"managedFields":[{"manager":"m"}`, ``, false},
	} {
		text := object(c.meta, c.spec)
		if said, is := reallyUnchanged(t, whole, []byte(text)); said != c.want {
			t.Errorf("%s: says %t, it is %t", text, said, is)
		}
	}
	plain := object(`"name":"e"`, `"s":"x"`)
	for _, data := range []string{``, `[]`, `{`, `"x"`, `null`, ` ` + plain, plain + ` `, plain + "\n", plain + plain, strings.Replace(plain, `"Foo"`, `5`, 1), strings.Replace(plain, `"example.com/v1"`, `null`, 1), strings.Replace(plain, `"example.com/v1"`, ``, 1), strings.Replace(plain, `"Foo"`, ``, 1), strings.Replace(plain, `"metadata":{`, `"metadata":[{`, 1), strings.Replace(plain, `,"spec"`, `,"status":{},"spec"`, 1)} {
		if said, _ := reallyUnchanged(t, whole, []byte(data)); said {
			t.Errorf("%q is said to be unchanged", data)
		}
	}
	for i := range len(plain) {
		if said, _ := reallyUnchanged(t, whole, []byte(plain[:i])); said {
			t.Errorf("%s is said to be unchanged", plain[:i])
		}
	}
	for schema, want := range map[string]bool{
		`{type: object, x-kubernetes-preserve-unknown-fields: true}`: true,
		`{type: object, additionalProperties: {type: object}}`:       true,
		`{type: object}`: false,
		`{type: object, x-kubernetes-preserve-unknown-fields: true, properties: {metadata: {type: object, properties: {name: {type: string, default: x}}}}}`: false,
	} {
		if said, _ := reallyUnchanged(t, fooVersion(t, schema, false).Shape.(*shape), []byte(object(`"name":"e"`, ``))); said != want {
			t.Errorf("%s: %t", schema, said)
		}
	}
	if newShape(nil, false).unchanged([]byte(plain)) {
		t.Error("unchanged without a schema")
	}
}

// Whatever the schema and the object: what is said to be unchanged is.
func TestUnchangedAnything_CRD12(t *testing.T) {
	said, is := 0, 0
	for seed := range uint64(400) {
		g := generator{rand.New(rand.NewPCG(seed, 17))}
		c := g.definition()
		if !valid(t, c) {
			continue
		}
		for _, v := range compile(t, c).Versions {
			for range 5 {
				data := g.converted(v)
				a, b := reallyUnchanged(t, v.Shape.(*shape), data)
				for _, n := range []*int{&said, &is} {
					if n == &said && a || n == &is && b {
						*n++
					}
				}
				// One byte is another, or not there.
				i := g.IntN(len(data))
				reallyUnchanged(t, v.Shape.(*shape), fmt.Appendf(nil, "%s%s", data[:i], data[i+1:]))
				data[i] = g.one(`"`, `\`, `{`, `}`, `[`, `]`, `,`, `:`, ` `, `0`, `-`, `n`, `a`, `<`, "\xff")[0]
				reallyUnchanged(t, v.Shape.(*shape), data)
			}
		}
	}
	if said < 100 || said < is/2 {
		t.Errorf("of %d unchanged objects %d were known: that shows too little", is, said)
	}
}

// converted is a random object as a good converter makes it.
func (g generator) converted(v *crd.Version) []byte {
	obj := g.objectOf(v)
	if g.often(8) {
		_ = v.Shape.FromConversion(obj)
	}
	data, _ := object.Encode(obj)
	return data
}

func FuzzUnchanged(f *testing.F) {
	for _, s := range fuzzSeeds {
		f.Add([]byte(s))
	}
	f.Add([]byte(`{"apiVersion":"example.com/v1","kind":"Foo","metadata":{"managedFields":[{"manager":"m"}],"name":"e"},"spec":{"free":{"a":[1,"x",null]},"s":"x"}}`))
	shapes := []*shape{fooVersion(f, unchangedSchema, false).Shape.(*shape)}
	for _, s := range subjects(f) {
		shapes = append(shapes, s.shape)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, s := range shapes {
			reallyUnchanged(t, s, data)
		}
	})
}

func BenchmarkUnchanged(b *testing.B) {
	d, err := Compile(definition(b, "Endpoint", one(endpointSchema)))
	if err != nil {
		b.Fatal(err)
	}
	v := d.Version("v1")
	data, err := object.Encode(parse(b, endpointObject))
	if err != nil {
		b.Fatal(err)
	}
	b.Run("Scan", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if !v.Unchanged(data) {
				b.Fatal("changed")
			}
		}
	})
	b.Run("DecodeAndEncode", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := again(v.Shape.(*shape), data); err != nil {
				b.Fatal(err)
			}
		}
	})
}
