package write

import (
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/wasmgate/wasmgate/gateway/resource"
	"github.com/wasmgate/wasmgate/gateway/view/encoding"
)

const relic = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: relics.example.com, uid: uid-relic}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: relics, singular: relic, kind: Relic, listKind: RelicList}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
  - name: v1alpha1
    served: false
    storage: false
    schema: {openAPIV3Schema: {type: object, properties: {kept: {type: string}, old: {type: string, default: d}}}}
status:
  acceptedNames: {plural: relics, singular: relic, kind: Relic, listKind: RelicList}
  conditions: [{type: NamesAccepted, status: "True"}, {type: Established, status: "True"}]
`

// An object that is stored at a version that is neither served nor written any
// more still has that version's schema: it is pruned and defaulted by it before
// it is converted, on reading and on rewriting.
func TestObjectsOfARetiredVersion_CRD04_CRD32(t *testing.T) {
	w := newWorld(t)
	definition, err := yaml.YAMLToJSON([]byte(relic))
	if err != nil {
		t.Fatal(err)
	}
	crds := schema.GroupResource{Group: apiextensionsv1.GroupName, Resource: "customresourcedefinitions"}
	rev, err := w.store.Create(w.ctx(), w.catalog.Snapshot().Resource(crds).Key("", "relics.example.com"), definition, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.catalog.WaitApplied(w.ctx(), rev); err != nil {
		t.Fatal(err)
	}
	relics := schema.GroupResource{Group: "example.com", Resource: "relics"}
	key := w.catalog.Snapshot().Resource(relics).Key("default", "a")
	stored := `{"apiVersion":"example.com/v1alpha1","kind":"Relic","metadata":{"name":"a","namespace":"default","uid":"u","generation":1,` +
		`"managedFields":[{"manager":"m","operation":"Update","apiVersion":"example.com/v1alpha1","fieldsType":"FieldsV1","fieldsV1":{}},` +
		`{"manager":"n","operation":"Update","apiVersion":"example.com/v0","fieldsType":"FieldsV1","fieldsV1":{}}]},"kept":"k","gone":"g"}`
	if rev, err = w.store.Create(w.ctx(), key, []byte(stored), 0); err != nil {
		t.Fatal(err)
	}
	w.wait(rev)

	r, v := w.catalog.Snapshot().Find("example.com", "v1", "relics")
	data, err := w.Get(w.ctx(), resource.Target{Resource: r, Version: v, Namespace: "default", Name: "a"}, "", encoding.At(v1))
	if err != nil {
		t.Fatal(err)
	}
	if data := string(data.Bytes()); !strings.Contains(data, `"kept":"k","kind":"Relic"`) || !strings.Contains(data, `"old":"d"`) || strings.Contains(data, "gone") {
		t.Errorf("read as %s", data)
	}
	if _, v := w.catalog.Snapshot().Find("example.com", "v1alpha1", "relics"); v != nil {
		t.Error("it is served at the retired version")
	}

	r, err = w.catalog.Resource(relics)
	if err != nil {
		t.Fatal(err)
	}
	kv, err := w.store.Get(w.ctx(), key)
	if err != nil {
		t.Fatal(err)
	}
	value, changed, err := r.Rewrite(w.ctx(), kv)
	text := string(value)
	if err != nil || !changed || !strings.Contains(text, `{"apiVersion":"example.com/v1",`) || !strings.Contains(text, `"kept":"k"`) || !strings.Contains(text, `"old":"d"`) || strings.Contains(text, "gone") {
		t.Errorf("rewritten as %s, %t, %v", text, changed, err)
	}
	if !strings.Contains(text, `"apiVersion":"example.com/v1alpha1"`) || strings.Contains(text, "example.com/v0") {
		t.Errorf("the managers are %s", text)
	}
}
