package custom

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/wasmgate/wasmgate/crd"
)

// partsOf are what a version is compiled to.
func partsOf(t *testing.T, v *crd.Version) *parts {
	t.Helper()
	p, err := v.Strategy.(*strategy).made.parts()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// judge compares what is accepted at once with the library's own strategies.
func judge(t *testing.T, v *crd.Version, obj, old map[string]any) (accepted bool) {
	t.Helper()
	p := partsOf(t, v)
	whole, ofStatus := p.library()
	u := &unstructured.Unstructured{Object: obj}
	ctx := context.Background()
	if old == nil {
		accepted = p.quick.Accepts(u, nil)
		if errs := whole.Validate(ctx, u); accepted && len(errs) > 0 {
			t.Errorf("accepted %s: %v", text(obj), errs)
		}
		return accepted
	}
	before := &unstructured.Unstructured{Object: old}
	accepted = p.quick.Accepts(u, before)
	updates := []libraryUpdate{whole}
	if v.Subresources["status"] != nil {
		updates = append(updates, ofStatus)
	}
	for _, l := range updates {
		if errs := l.ValidateUpdate(ctx, u, before); accepted && len(errs) > 0 {
			t.Errorf("accepted the change from %s to %s: %v", text(old), text(obj), errs)
		}
	}
	return accepted
}

// Metadata as clients send it is accepted at once, and what is not valid never
// is.
func TestQuickMetadata(t *testing.T) {
	v := fooVersion(t, `{type: object}`, true)
	long := strings.Repeat("v", 256<<10-1)
	const plain = `"name":"e","namespace":"n"`
	for _, c := range []struct {
		meta string
		want bool
	}{
		{plain, true},
		{`"name":"e"`, false}, {`"namespace":"n"`, false}, {`"name":"E","namespace":"n"`, false}, {`"name":"e","namespace":"a.b"`, false}, {`"name":1,"namespace":"n"`, false}, {`"name":"e","namespace":1`, false},
		{plain + `,"uid":"u","resourceVersion":"1","generation":1,"creationTimestamp":"2026-01-01T00:00:00Z"`, true},
		{plain + `,"uid":1`, false}, {plain + `,"resourceVersion":1`, false}, {plain + `,"generation":0`, true}, {plain + `,"generation":-1`, false}, {plain + `,"generation":"1"`, false},
		{plain + `,"creationTimestamp":"x"`, false}, {plain + `,"creationTimestamp":null`, false}, {plain + `,"unknown":"x"`, false}, {plain + `,"generateName":"x"`, false}, {plain + `,"finalizers":["a/b"]`, false},
		{plain + `,"labels":{"a.b/c":"d","e":""}`, true}, {plain + `,"labels":{}`, true}, {plain + `,"labels":{"a":1}`, false}, {plain + `,"labels":{"a":"b c"}`, false}, {plain + `,"labels":{"a b":"c"}`, false}, {plain + `,"labels":{"A.b/c":""}`, false}, {plain + `,"labels":[]`, false}, {plain + `,"labels":null`, false},
		{plain + `,"annotations":{"A.b/c":"anything at all"}`, true}, {plain + `,"annotations":{"a":1}`, false}, {plain + `,"annotations":{"a b":"c"}`, false}, {plain + `,"annotations":[]`, false},
		{plain + `,"annotations":{"a":"` + long + `"}`, true}, {plain + `,"annotations":{"a":"` + long + `v"}`, false}, {plain + `,"annotations":{"aa":"` + long + `"}`, false},
		{plain + `,"ownerReferences":[` + owner() + `]`, true}, {plain + `,"ownerReferences":[]`, true}, {plain + `,"ownerReferences":{}`, false},
		{plain + `,"ownerReferences":[` + owner(`"v1"`, `"a/v1"`) + `]`, true}, {plain + `,"ownerReferences":[` + owner(`"v1"`, `"a/b/c"`) + `]`, false}, {plain + `,"ownerReferences":[` + owner(`"v1"`, `"a/"`) + `]`, false}, {plain + `,"ownerReferences":[` + owner(`"v1"`, `""`) + `]`, false},
		{plain + `,"ownerReferences":[` + owner(`"K"`, `""`) + `]`, false}, {plain + `,"ownerReferences":[` + owner(`"N"`, `""`) + `]`, false}, {plain + `,"ownerReferences":[` + owner(`"U"`, `""`) + `]`, false}, {plain + `,"ownerReferences":[` + owner(`"K"`, `"Event"`) + `]`, false}, {plain + `,"ownerReferences":[` + owner(`"uid":"U"`, `"other":"U"`) + `]`, false},
		{plain + `,"ownerReferences":[` + owner() + `,` + owner(`true`, `false`) + `]`, true}, {plain + `,"ownerReferences":[` + owner() + `,` + owner() + `]`, false},
	} {
		obj := parse(t, `{"apiVersion":"example.com/v1","kind":"Foo","metadata":{`+c.meta+`}}`)
		if got := judge(t, v, obj, nil); got != c.want {
			t.Errorf("%.200s: %t", c.meta, got)
		}
	}
}

// owner is an owner reference with replacements.
func owner(pairs ...string) string {
	return strings.NewReplacer(pairs...).Replace(`{"apiVersion":"v1","kind":"K","name":"N","uid":"U","controller":true}`)
}

func TestQuickMetadataOfUpdates(t *testing.T) {
	v := fooVersion(t, `{type: object}`, true)
	const was = `"name":"e","namespace":"n","uid":"u","creationTimestamp":"2026-01-01T00:00:00Z","generation":2,"resourceVersion":"1","labels":{"a":"b"}`
	for _, c := range []struct {
		from, to string // within was
		old      bool   // replaced in the state before as well
		want     bool
	}{
		{``, ``, false, true}, {`2,`, `3,`, false, true}, {`2,`, `1,`, false, false}, {`2,`, `"2",`, false, false}, {`"generation":2,`, ``, false, false}, {`"generation":2,`, ``, true, true},
		{`"e"`, `"f"`, false, false}, {`"n"`, `"m"`, false, false}, {`"u"`, `"v"`, false, false}, {`26-`, `27-`, false, false}, {`"uid":"u",`, ``, false, false}, {`"uid":"u",`, ``, true, true}, {`"u"`, `5`, true, false},
		{`"1"`, `"2"`, false, true}, {`"1"`, `""`, false, false}, {`"1"`, `1`, false, false}, {`"resourceVersion":"1",`, ``, false, false},
		{`"b"`, `"c"`, false, true}, {`"b"`, `"c d"`, false, false}, {`"labels":{"a":"b"}`, `"annotations":{"a":"c d"}`, false, true}, {`"b"`, `"c d"`, true, false},
		{`"2026`, `"x2026`, true, false}, {`"labels":{"a":"b"}`, `"labels":null`, true, false},
		{`"labels":{"a":"b"}`, `"generateName":"-"`, false, true}, {`"labels":{"a":"b"}`, `"generateName":1`, false, false}, {`"labels":{"a":"b"}`, `"finalizers":["a b"]`, false, true}, {`"labels":{"a":"b"}`, `"finalizers":[1]`, false, false},
		{`"labels":{"a":"b"}`, `"deletionTimestamp":"2026-01-01T00:00:00Z"`, true, false}, {`"labels":{"a":"b"}`, `"deletionTimestamp":"2026-01-01T00:00:00Z"`, false, false}, {`"labels":{"a":"b"}`, `"deletionGracePeriodSeconds":0`, true, false},
		{`"labels":{"a":"b"}`, `"ownerReferences":[` + owner() + `]`, false, true}, {`"labels":{"a":"b"}`, `"ownerReferences":[` + owner(`"K"`, `""`) + `]`, false, false}, {`"labels":{"a":"b"}`, `"selfLink":"x"`, false, false},
	} {
		meta := strings.Replace(was, c.from, c.to, 1)
		before := was
		if c.old {
			before = meta
		}
		object := func(meta string) map[string]any {
			return parse(t, `{"apiVersion":"example.com/v1","kind":"Foo","metadata":{`+meta+`}}`)
		}
		if got := judge(t, v, object(meta), object(before)); got != c.want {
			t.Errorf("%+v: %t", c, got)
		}
		if got := judge(t, v, object(meta), object(`"labels":1,`+before)); got && !strings.Contains(before, `"labels"`) {
			t.Errorf("%+v: accepted after what cannot be read", c)
		}
	}
	// The state before has to be readable too.
	obj := parse(t, `{"apiVersion":"example.com/v1","kind":"Foo","metadata":{`+was+`}}`)
	for _, bad := range []string{`"labels":{"a":"b"}`, `"unknown":1`, `"labels":{"a":1}`, `"labels":null`} {
		old := parse(t, `{"apiVersion":"example.com/v1","kind":"Foo","metadata":{`+strings.Replace(was, `"labels":{"a":"b"}`, bad, 1)+`}}`)
		if got := judge(t, v, obj, old); got != (bad == `"labels":{"a":"b"}`) {
			t.Errorf("after %s: %t", bad, got)
		}
	}
}

// What the schema asks for beyond types and bounds is never passed over.
func TestQuickKnowsItsLimits(t *testing.T) {
	elements := func(n int, format string) string {
		var list []string
		for i := range n {
			list = append(list, fmt.Sprintf(format, i))
		}
		return `"a":[` + strings.Join(list, ",") + `]`
	}
	const (
		set   = `{type: object, properties: {a: {type: array, x-kubernetes-list-type: set, items: {type: string}}}}`
		any   = `{type: object, properties: {a: {type: array, x-kubernetes-list-type: set, items: {x-kubernetes-preserve-unknown-fields: true}}}}`
		byKey = `{type: object, properties: {a: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [k], items: {type: object, required: [k], properties: {k: {type: string}}}}}}`
		two   = `{type: object, properties: {a: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [k, l], items: {type: object, required: [k], properties: {k: {type: string}, l: {type: number}}}}}}`
		deep  = `{type: object, properties: {b: {type: object, additionalProperties: {type: array, items: ` + set + `}}}}`
		free  = `{type: object, properties: {a: {type: array, x-kubernetes-list-type: atomic, items: {type: string}}}}`
	)
	for _, c := range []struct {
		schema, fields string
		want           bool
	}{
		{set, `"a":["x","y"]`, true}, {set, `"a":["x","x"]`, false}, {set, `"a":["x","y","x"]`, false}, {set, `"a":["x","y","z","y"]`, false}, {set, `"a":[]`, true}, {set, `"b":["x","x"]`, true}, {free, `"a":["x","x"]`, true},
		{set, elements(31, `"%d"`), true}, {set, elements(3000, `"%d"`), true}, {set, elements(40, `"%d"`) + `,"b":1`, true},
		{any, `"a":[1,"1",true]`, true}, {any, `"a":[1,1]`, false}, {any, `"a":[1,"1",1]`, false}, {any, `"a":[1.5,2]`, false}, {any, `"a":[{},{}]`, false}, {any, `"a":[null]`, false},
		{byKey, `"a":[{"k":"x"},{"k":"y"}]`, true}, {byKey, `"a":[{"k":"x"},{"k":"x"}]`, false}, {byKey, `"a":[{"k":"x"},{"k":"y"},{"k":"x"}]`, false}, {byKey, `"a":[{"k":"x"},{}]`, false},
		{byKey, elements(31, `{"k":"%d"}`), true}, {byKey, elements(3000, `{"k":"%d"}`), true}, {byKey, strings.Replace(elements(40, `{"k":"%d"}`), "39", "17", 1), false}, {set, strings.Replace(elements(40, `"%d"`), "39", "17", 1), false},
		{two, elements(40, `{"k":"x","l":%d}`), true}, {two, strings.Replace(elements(40, `{"k":"x","l":%d}`), "39", "17", 1), false}, {two, strings.Replace(elements(40, `{"k":"x","l":%d}`), "39", "17.0", 1), false},
		{two, `"a":[{"k":"x","l":1},{"k":"x","l":2},{"k":"y","l":1}]`, true}, {two, `"a":[{"k":"x","l":1},{"k":"x","l":1}]`, false}, {two, `"a":[{"k":"x","l":1},{"k":"x","l":2},{"k":"x","l":1}]`, false}, {two, `"a":[{"k":"x","l":1},{"k":"x","l":1.0}]`, false}, {two, `"a":[{"k":"x"}]`, false},
		{deep, `"b":{"x":[{"a":["x"]},{"a":["y","z"]}],"y":[]}`, true}, {deep, `"b":{"x":[{"a":["x"]},{"a":["y","y"]}]}`, false}, {deep, `"b":{"y":[],"x":[{"a":["x","x"]}]}`, false}, {deep, `"b":{"x":[{"a":["x","y","x"]}]}`, false},
		{`{type: object, properties: {a: {type: string, x-kubernetes-validations: [{rule: "self != 'x'"}]}}}`, `"a":"x"`, false},
		{`{type: object, properties: {a: {type: array, items: {type: string, x-kubernetes-validations: [{rule: "self != 'x'"}]}}}}`, `"a":["x"]`, false},
		{`{type: object, additionalProperties: {type: string, x-kubernetes-validations: [{rule: "self != 'x'"}]}}`, `"a":"x"`, false},
		{`{type: object, properties: {a: {type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true}}}`, `"a":{}`, false},
		{`{type: object, properties: {a: {type: string}}, required: [a]}`, `"b":1`, false}, {`{type: object, properties: {a: {type: string}}, required: [a]}`, `"a":"x"`, true},
	} {
		v := fooVersion(t, c.schema, false)
		obj := foo(t, c.fields).Object
		if got := judge(t, v, obj, nil); got != c.want {
			t.Errorf("%s of %.300s: %t", c.fields, c.schema, got)
		}
		if got := judge(t, v, obj, foo(t, "").Object); got != c.want {
			t.Errorf("changed to %s of %.300s: %t", c.fields, c.schema, got)
		}
	}
	v := fooVersion(t, `{type: object}`, false)
	for _, change := range []string{`"kind":"Bar"`, `"kind":1`, `"apiVersion":"example.com/v2"`, `"metadata":1`} {
		obj := foo(t, change).Object
		if judge(t, v, obj, nil) || judge(t, v, obj, foo(t, "").Object) {
			t.Errorf("accepted with %s", change)
		}
	}
	q := partsOf(t, v).quick
	good, other := foo(t, ""), &unstructured.Unstructured{}
	if q.Accepts(other, nil) || q.Accepts(other, good) || q.Accepts(good, other) || q.Accepts(good, foo(t, `"metadata":1`)) {
		t.Error("accepted what is no object")
	}
	c := definition(t, "Foo", one(`{type: object, x-kubernetes-preserve-unknown-fields: true}`))
	c.Spec.Versions[0].Subresources = &apiextensionsv1.CustomResourceSubresources{Scale: &apiextensionsv1.CustomResourceSubresourceScale{SpecReplicasPath: ".spec.replicas", StatusReplicasPath: ".status.replicas"}}
	if judge(t, compile(t, c).Versions[0], foo(t, "").Object, nil) {
		t.Error("accepted without a look at the scale")
	}
	c = definition(t, "Foo", one(`{type: object}`))
	c.Spec.Scope = apiextensionsv1.ClusterScoped
	v = compile(t, c).Versions[0]
	if judge(t, v, foo(t, "").Object, nil) || !judge(t, v, foo(t, `"metadata":{"name":"e"}`).Object, nil) {
		t.Error("a namespace where there are none")
	}
}

// Rules anywhere in a schema are found.
func TestQuickFindsRules(t *testing.T) {
	const rule = `x-kubernetes-validations: [{rule: "true"}]`
	for schema, want := range map[string]bool{
		`{type: object, ` + rule + `}`:                                       true,
		`{type: object, properties: {a: {type: string, ` + rule + `}}}`:      true,
		`{type: object, additionalProperties: {type: string, ` + rule + `}}`: true,
		`{type: array, items: {type: string, ` + rule + `}}`:                 true,
		`{allOf: [{}, {` + rule + `}]}`:                                      true,
		`{anyOf: [{}, {` + rule + `}]}`:                                      true,
		`{oneOf: [{}, {` + rule + `}]}`:                                      true,
		`{not: {properties: {a: {` + rule + `}}}}`:                           true,
		`{type: object, properties: {a: {type: array, items: {type: string}}}, additionalProperties: {type: string}, not: {}, allOf: [{}]}`: false,
	} {
		if got := plain(internalOf(t, schema)); got == want {
			t.Errorf("%s: plain %t", schema, got)
		}
	}
}

// Whatever the definition and the object: what is accepted at once the library
// accepts.
func TestWhatIsAcceptedAtOnceIsValid(t *testing.T) {
	accepted, changed := 0, 0
	for seed := range uint64(500) {
		g := generator{rand.New(rand.NewPCG(seed, 11))}
		c := g.definition()
		if !valid(t, c) {
			continue
		}
		d := compile(t, c)
		for _, v := range d.Versions {
			var last map[string]any
			for range 6 {
				obj := g.objectOf(v)
				if _, err := v.Shape.FromClient(obj, false); err != nil {
					continue
				}
				if judge(t, v, obj, nil) {
					accepted++
				}
				if last != nil && judge(t, v, obj, last) {
					changed++
				}
				last = runtime.DeepCopyJSON(obj)
			}
		}
	}
	if accepted < 50 || changed < 50 {
		t.Errorf("only %d objects and %d changes were accepted: they show too little", accepted, changed)
	}
}

// objectOf is a random object, mostly with metadata as it should be.
func (g generator) objectOf(v *crd.Version) map[string]any {
	obj, ok := value(g.Rand, 4).(map[string]any)
	if !ok || g.often(5) {
		obj = map[string]any{}
	}
	obj["apiVersion"], obj["kind"] = "example.com/"+v.Name, "Foo"
	meta := map[string]any{"name": "e", "resourceVersion": "1", "generation": int64(g.IntN(3)), "labels": map[string]any{g.one("a", "a/b", "é"): g.one("", "b", " ")}}
	if g.often(5) {
		meta["namespace"] = "n"
	}
	if g.often(1) {
		meta[g.one("uid", "finalizers", "annotations", "deletionTimestamp", "generateName", "ownerReferences", "managedFields")] = value(g.Rand, 2)
	}
	obj["metadata"] = meta
	return obj
}

func internalOf(t *testing.T, schema string) *apiextensions.JSONSchemaProps {
	t.Helper()
	v := apiextensionsv1.CustomResourceDefinitionVersion{Schema: &apiextensionsv1.CustomResourceValidation{}}
	if err := yaml.UnmarshalStrict([]byte(schema), &v.Schema.OpenAPIV3Schema); err != nil {
		t.Fatal(err)
	}
	internal, err := internalSchema(&v)
	if err != nil {
		t.Fatal(err)
	}
	return internal
}
