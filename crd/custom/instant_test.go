package custom

import (
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor/direct"
)

func structuralOf(t *testing.T, schema string) *structural {
	t.Helper()
	s, err := structuralschema.NewStructural(internalOf(t, schema))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// The library is asked only where it may have something to do.
func TestWhatNeedsTheLibrary_CRD05(t *testing.T) {
	for _, c := range []struct {
		schema, object string
		want           needs
	}{
		{`{type: object}`, `{"apiVersion":"v1","kind":"K"}`, 0},
		{`{type: object}`, `{"a":1}`, needsPruning},
		{`{type: object, additionalProperties: true}`, `{"a":1,"b":"x"}`, 0},
		{`{type: object, additionalProperties: true}`, `{"a":{}}`, 0},
		{`{type: object, additionalProperties: true}`, `{"a":{"b":1}}`, needsPruning},
		{`{type: object, x-kubernetes-preserve-unknown-fields: true}`, `{"a":{"b":null}}`, 0},
		{`{type: object, properties: {a: {x-kubernetes-preserve-unknown-fields: true}}}`, `{"a":[{"b":1}]}`, 0},
		{`{type: object, properties: {a: {type: array, x-kubernetes-preserve-unknown-fields: true, items: {type: object}}}}`, `{"a":[{"b":1}]}`, needsPruning},
		{`{type: object, properties: {a: {type: array, items: {type: string}}}}`, `{"a":["x"]}`, 0},
		{`{type: object, properties: {a: {type: string, nullable: true}}}`, `{"a":null}`, 0},
		{`{type: object, properties: {a: {type: string}}}`, `{"a":null}`, needsPruning | needsDefaults},
		{`{type: object, properties: {a: {type: string, default: x}}}`, `{}`, needsDefaults},
		{`{type: object, properties: {a: {type: string, default: x}}}`, `{"a":"y"}`, 0},
	} {
		if got := compileNode(structuralOf(t, c.schema)).check(parse(t, c.object), true); got != c.want {
			t.Errorf("%s of %s: needs %b, want %b", c.object, c.schema, got, c.want)
		}
	}
	if got := (*node)(nil).check(map[string]any{}, true); got != needsPruning {
		t.Errorf("without a schema the root needs %b", got)
	}
	// Without a schema for the library, it would drop everything.
	s := newShape(structuralOf(t, `{type: object, properties: {a: {type: string}}}`), false)
	s.schema = nil
	obj := parse(t, head+`,"a":"x"}`)
	if _, err := s.FromClient(obj, false); err != nil || text(obj) != text(parse(t, head+`,"a":"x"}`)) {
		t.Errorf("the library was asked: %s, %v", text(obj), err)
	}
}

func TestDefaultsAreFoundAnywhere_CRD05(t *testing.T) {
	const leaf = `{type: string, default: x}`
	for schema, want := range map[string]bool{
		leaf:                                 true,
		`{type: array, items: ` + leaf + `}`: true,
		`{type: object, additionalProperties: ` + leaf + `}`:                                true,
		`{type: object, properties: {a: {type: string}, b: ` + leaf + `}}`:                  true,
		`{type: object, properties: {a: {type: array, items: {type: string}}}}`:             false,
		`{type: object, additionalProperties: true}`:                                        false,
		`{type: object, additionalProperties: {type: string}}`:                              false,
		`{type: object, properties: {a: {type: object, properties: {b: ` + leaf + `}}}}`:    true,
		`{type: object, properties: {a: {type: object, properties: {b: {type: integer}}}}}`: false,
	} {
		if got := hasDefaults(structuralOf(t, schema)); got != want {
			t.Errorf("%s: %t", schema, got)
		}
	}
	if hasDefaults(nil) {
		t.Error("no schema has defaults")
	}
	for schema, whole := range map[string]bool{
		`{type: object}`: false,
		`{type: object, properties: {metadata: {type: object}, apiVersion: {type: string}}}`:       false,
		`{type: object, properties: {metadata: {type: object, properties: {name: ` + leaf + `}}}}`: true,
		`{type: object, properties: {kind: ` + leaf + `}}`:                                         true,
		`{type: object, properties: {other: ` + leaf + `}}`:                                        false,
		`{type: object, x-kubernetes-embedded-resource: true}`:                                     true,
	} {
		if got := newShape(structuralOf(t, schema), false).whole; got != whole {
			t.Errorf("%s: the library gets the metadata: %t", schema, got)
		}
	}
}

func TestWhatNoShapeCanReadIsRefused(t *testing.T) {
	s := fooVersion(t, `{type: object}`, false).Shape
	bad := func() map[string]any { return parse(t, `{"kind":1}`) }
	if s.FromStorage(bad()) == nil || s.FromConversion(bad()) == nil {
		t.Error("an object whose kind is a number is read")
	}
}

// As kube-apiserver has it.
func TestWhatAnUpdateOfACustomResourceMayDo_UPD02(t *testing.T) {
	c := definition(t, "Foo", one(`{type: object, x-kubernetes-preserve-unknown-fields: true}`))
	c.Spec.Versions[0].Subresources = &apiextensionsv1.CustomResourceSubresources{
		Status: &apiextensionsv1.CustomResourceSubresourceStatus{},
		Scale:  &apiextensionsv1.CustomResourceSubresourceScale{SpecReplicasPath: ".spec.replicas", StatusReplicasPath: ".status.replicas"},
	}
	if d := compile(t, c); d.CreateOnUpdate || !d.ConditionalUpdate || !d.Namespaced {
		t.Errorf("creates %t, only with a resourceVersion %t, in namespaces %t", d.CreateOnUpdate, d.ConditionalUpdate, d.Namespaced)
	}
	c.Spec.Versions[0].Schema = nil
	if v := compile(t, c).Versions[0]; v.Subresources["status"] == nil {
		t.Error("without a schema there is no status")
	}
}

func TestStoredCBORIsRead_PER02(t *testing.T) {
	good, err := direct.Marshal(map[string]any{"kind": "Foo"})
	if err != nil {
		t.Fatal(err)
	}
	if tree, err := JSON.Decode(append(cborPrefix[:3:3], good...)); err != nil || tree["kind"] != "Foo" {
		t.Errorf("got %v, %v", tree, err)
	}
	if tree, err := JSON.Decode(append(cborPrefix[:3:3], 0xff)); err == nil || strings.Contains(err.Error(), "null") {
		t.Errorf("got %v, %v", tree, err)
	}
}

// What was merged by the schema is completed; nothing of it is dropped.
func TestWhatWasMergedIsCompleted_SSA03(t *testing.T) {
	s := fooVersion(t, `{type: object, properties: {a: {type: string, default: d}}}`, false).Shape
	obj := parse(t, head+`,"other":{"b":null}}`)
	if err := s.FromMerge(obj); err != nil || text(obj) != `{"a":"d","apiVersion":"example.com/v1","kind":"Foo","metadata":{"name":"e"},"other":{"b":null}}` {
		t.Errorf("got %s, %v", text(obj), err)
	}
	if s.FromMerge(parse(t, `{"kind":1}`)) == nil {
		t.Error("an object whose kind is a number is merged")
	}
}

// The library warns of finalizers only, so it is asked only where there are
// some.
func TestWarningsAreOfFinalizers(t *testing.T) {
	v := fooVersion(t, `{type: object}`, true)
	plain, bad := foo(t, `"a":1`), foo(t, `"a":1`)
	bad.SetFinalizers([]string{"bad"})
	for name, c := range map[string]struct {
		got  []string
		want int
	}{
		"created without": {v.Strategy.Validate(t.Context(), plain, nil).Warnings, 0}, "created with": {v.Strategy.Validate(t.Context(), bad, nil).Warnings, 1},
		"updated without": {v.Strategy.Validate(t.Context(), plain, plain).Warnings, 0}, "updated with": {v.Strategy.Validate(t.Context(), bad, plain).Warnings, 1},
		"status without": {v.Subresources["status"].Update.Validate(t.Context(), plain, plain).Warnings, 0},
	} {
		if len(c.got) != c.want {
			t.Errorf("%s: %q", name, c.got)
		}
	}
}
