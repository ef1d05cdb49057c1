package rbac_test

import (
	"encoding/json"
	"os"
	"path"
	"reflect"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/wasmgate/wasmgate/storage/storagetest"
)

// ours are the objects that kube-apiserver has not, each with the reason.
var ours = map[string]string{
	"clusterroles/wasmgate:viewer":        "definitions, orders of versions and modules are read by view",
	"clusterroles/wasmgate:module-author": "modules are kinds of the gateway's own",
	"clusterroles/wasmgate:crd-author":    "definitions use modules",
	"clusterroles/wasmgate:trust-manager": "whose code modules may be is nobody's who writes modules",
}

// TestBootstrapIsKubeAPIServers_RBAC compares every role and binding of the beginning,
// whole but for uids, times, revisions and owners of fields, with what kube-apiserver
// 1.36.3 begins with. Nobody aggregates in either.
func TestBootstrapIsKubeAPIServers_RBAC(t *testing.T) {
	text, err := os.ReadFile("testdata/bootstrap.json")
	if err != nil {
		t.Fatal(err)
	}
	var recorded map[string][]map[string]any
	if err := json.Unmarshal(text, &recorded); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{}
	for plural, items := range recorded {
		for _, o := range items {
			u := unstructured.Unstructured{Object: o}
			want[path.Join(plural, u.GetNamespace(), u.GetName())] = o
		}
	}
	e := begin(t, storagetest.NewMemory())
	for _, kind := range kinds {
		all, err := e.List(t.Context(), kind, "")
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range all {
			name := path.Join(kind.Resource, o.GetNamespace(), o.GetName())
			if ours[name] != "" {
				continue
			}
			if got := reduced(t, o); !reflect.DeepEqual(got, want[name]) {
				t.Errorf("%s is\n%v, and kube-apiserver's\n%v", name, got, want[name])
			}
			delete(want, name)
		}
	}
	for name := range want {
		t.Errorf("%s is missing", name)
	}
	if n := len(recorded["clusterroles"]); n < 60 {
		t.Errorf("only %d cluster roles are recorded", n)
	}
}

// reduced is what is compared of an object.
func reduced(t *testing.T, o *unstructured.Unstructured) (out map[string]any) {
	t.Helper()
	m := o.Object["metadata"].(map[string]any)
	for _, field := range []string{"uid", "creationTimestamp", "resourceVersion", "managedFields"} {
		delete(m, field)
	}
	delete(o.Object, "apiVersion") // which items of kube-apiserver's lists do not have
	delete(o.Object, "kind")
	b, err := json.Marshal(o.Object)
	if err == nil {
		err = json.Unmarshal(b, &out)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}
