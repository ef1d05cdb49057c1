package builtin

import (
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/wasmgate/wasmgate/crd/crdtest"
)

// What testdata holds are kube-apiserver's replies to writes of built-in
// objects: the same are accepted here, and become the same, and the others are
// refused in the same words.
func TestWritesAreKubeAPIServers_MIG02(t *testing.T) {
	data, err := os.ReadFile("testdata/writes/writes.json")
	if err != nil {
		t.Fatal(err)
	}
	var all []struct {
		Kind      string
		Old, Body json.RawMessage
		Code      int
		Message   string
		Object    map[string]any
	}
	if err := json.Unmarshal(data, &all); err != nil {
		t.Fatal(err)
	}
	defs := definitions(t)
	for i, w := range all {
		d := defs[w.Kind]
		place := func(o *unstructured.Unstructured) *unstructured.Unstructured {
			if d.Namespaced {
				o.SetNamespace(crdtest.Namespace)
			}
			return o
		}
		obj := place(crdtest.Shaped(t, d, string(w.Body)))
		if len(w.Old) == 0 {
			rest.FillObjectMetaSystemFields(obj)
			err = rest.BeforeCreate(crdtest.Registry(d, d.Versions[0].Strategy), crdtest.WriteContext(d), obj)
		} else {
			old := place(crdtest.Shaped(t, d, string(w.Old)))
			rest.FillObjectMetaSystemFields(old)
			if err := rest.BeforeCreate(crdtest.Registry(d, d.Versions[0].Strategy), crdtest.WriteContext(d), old); err != nil {
				t.Fatalf("%d: %v", i, err)
			}
			old.SetResourceVersion("7")
			obj.SetResourceVersion("7")
			obj.SetUID(old.GetUID())
			err = rest.BeforeUpdate(crdtest.Registry(d, d.Versions[0].Strategy), crdtest.WriteContext(d), obj, old)
		}
		if got := crdtest.Message(err); got != w.Message || (err == nil) != (w.Code < 300) {
			t.Errorf("%d: %s %.200s over %.200s:\ngot  %v\nwant %d %s", i, w.Kind, w.Body, w.Old, err, w.Code, w.Message)
			continue
		}
		if w.Code >= 300 {
			continue
		}
		for _, field := range []string{"uid", "resourceVersion", "creationTimestamp", "managedFields"} {
			unstructured.RemoveNestedField(obj.Object, "metadata", field)
		}
		text, err := json.Marshal(obj.Object)
		if err != nil {
			t.Fatal(err)
		}
		var got map[string]any
		if err := json.Unmarshal(text, &got); err != nil {
			t.Fatal(err)
		}
		want, err := json.Marshal(w.Object)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, w.Object) {
			t.Errorf("%d: %s %.200s over %.200s:\ngot  %s\nwant %s", i, w.Kind, w.Body, w.Old, strings.TrimSpace(string(text)), want)
		}
	}
}
