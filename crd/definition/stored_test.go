package definition

import (
	"os"
	"reflect"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"

	"github.com/wasmgate/wasmgate/crd"
)

// rejoined puts what Outline took apart together again.
func rejoined(t *testing.T, data []byte) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	c, schemas, err := Outline(data)
	if err != nil {
		t.Fatal(err)
	}
	if len(schemas) != len(c.Spec.Versions) {
		t.Fatalf("%d schemas of %d versions", len(schemas), len(c.Spec.Versions))
	}
	for i, text := range schemas {
		if c.Spec.Versions[i].Schema != nil {
			t.Errorf("version %d comes with its schema", i)
		}
		if len(text) == 0 {
			continue
		}
		s, err := crd.ReadSchema(text)
		if err != nil {
			t.Fatal(err)
		}
		c.Spec.Versions[i].Schema = &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: s}
	}
	return c
}

func storedForms(t *testing.T) map[string][]byte {
	t.Helper()
	real, err := os.ReadFile("testdata/stored.json")
	if err != nil {
		t.Fatal(err)
	}
	const head = `{"metadata":{"name":"as.example.com","managedFields":[{"manager":"m"}],"uid":"u"},"kind":"CustomResourceDefinition","apiVersion":"apiextensions.k8s.io/`
	const names = `"group":"example.com","scope":"Cluster","names":{"plural":"as","kind":"A"}`
	forms := map[string][]byte{
		"kube-apiserver's": real,
		"one for all":      []byte(head + `v1beta1","spec":{` + names + `,"validation":{"openAPIV3Schema":{"type":"object","default":{"a":1.5}}},"versions":[{"name":"v1","served":true,"storage":true},{"name":"v2"}]}}`),
		"one for each":     []byte(head + `v1beta1","spec":{"versions":[{"name":"v1","schema":{"openAPIV3Schema":{"type":"object"}}},{"schema":null,"name":"v2"}, {"name":"v3", "schema" : { "openAPIV3Schema" : {"type":"object","description":"\"}{"} } }],` + names + `}}`),
		"v1":               []byte(head + `v1","spec":{` + names + `,"versions":[{"name":"v1","schema":{"openAPIV3Schema":{"type":"object","properties":{"schema":{"type":"string"}}}}},{"name":"v2","schema":{}}]},"status":{"conditions":[]}}`),
		"none":             []byte(head + `v1","spec":{` + names + `,"validation":null}}`),
	}
	c, err := FromStored(forms["one for each"])
	if err != nil {
		t.Fatal(err)
	}
	c.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: Kind})
	var proto strings.Builder
	if err := protobuf.NewSerializer(scheme, scheme).Encode(c, &proto); err != nil {
		t.Fatal(err)
	}
	forms["protobuf"] = []byte(proto.String())
	return forms
}

func TestAnOutlineWithItsSchemasIsTheWhole(t *testing.T) {
	for name, data := range storedForms(t) {
		want, err := FromStored(data)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		got := rejoined(t, data)
		if got.ManagedFields != nil {
			t.Errorf("%s: it has managed fields", name)
		}
		got.ManagedFields, got.TypeMeta = want.ManagedFields, want.TypeMeta
		for i := range want.Spec.Versions { // a schema without content is none
			if s := want.Spec.Versions[i].Schema; s != nil && s.OpenAPIV3Schema == nil {
				want.Spec.Versions[i].Schema = nil
			}
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %+v\nwant %+v", name, got, want)
		}
	}
}

func TestWhatHasNoOutline(t *testing.T) {
	for _, text := range []string{``, `x`, `[]`, `{`, `{"spec":{"versions":[{"schema":}]}}`, `{"apiVersion":"v1","kind":"Pod"}`, `{"spec":{"versions":[`} {
		if c, _, err := Outline([]byte(text)); err == nil {
			t.Errorf("%s: %+v", text, c)
		}
	}
}

// What is not where it belongs is left to the decoder, which says what is
// wrong.
func FuzzOutline(f *testing.F) {
	for _, s := range []string{`{"spec":[],"metadata":1}`, `{"spec":{"versions":{"a":{"schema":1}},"validation":[{}]}}`, `{"spec":{"versions":[1,[{"schema":{}}]]}}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c, schemas, err := Outline(data)
		if err == nil && len(schemas) != len(c.Spec.Versions) {
			t.Errorf("%d schemas of %d versions", len(schemas), len(c.Spec.Versions))
		}
	})
}
