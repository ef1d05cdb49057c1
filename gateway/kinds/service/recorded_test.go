package service

import (
	"encoding/json"
	"os"
	"reflect"
	"regexp"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/gateway/resource"
)

// recorded is what kube-apiserver made of a manifest; bench/kinds records it.
type recorded struct {
	From     string         `json:"from"`
	Manifest map[string]any `json:"manifest"`
	Code     int            `json:"code"`
	Object   map[string]any `json:"object"`
	Columns  []any          `json:"columns"`
	Cells    []any          `json:"cells"`
}

// Objects of all kinds become here what kube-apiserver made of them, and are
// printed as it prints them.
func TestObjectsAreKubeAPIServers(t *testing.T) {
	data, err := os.ReadFile("testdata/kinds.json")
	if err != nil {
		t.Fatal(err)
	}
	var all []recorded
	if err := json.Unmarshal(data, &all); err != nil || len(all) == 0 {
		t.Fatal(len(all), err)
	}
	w := newWorld(t, "10.0.0.0/24", Ports{30000, 32767})
	served := w.Catalog().Snapshot()
	for _, r := range all {
		manifest := unstructured.Unstructured{Object: r.Manifest}
		gvk := manifest.GroupVersionKind()
		i := slices.IndexFunc(served.Definitions, func(d *crd.Definition) bool { return d.Group == gvk.Group && d.Kind == gvk.Kind })
		if i < 0 {
			t.Errorf("%s: %s is not served", r.From, gvk)
			continue
		}
		d := served.Definitions[i]
		target := resource.Target{Resource: served.Resource(d.GroupResource()), Version: d.Version(gvk.Version)}
		manifest.SetNamespace("")
		manifest.SetResourceVersion("")
		if d.Namespaced {
			target.Namespace = "default"
		}
		body, err := json.Marshal(manifest.Object)
		if err != nil {
			t.Fatal(err)
		}
		out, err := w.Engine.Create(t.Context(), target, body, resource.WriteOptions{Caller: resource.Component("test"), DryRun: true})
		if (err == nil) != (r.Code < 300) {
			t.Errorf("%s: %s %s: %v, want code %d", r.From, gvk.Kind, manifest.GetName(), err, r.Code)
			continue
		}
		if err != nil {
			continue
		}
		got := &unstructured.Unstructured{}
		if err := got.UnmarshalJSON(out.Object); err != nil {
			t.Fatal(err)
		}
		table, err := target.Version.Table.ConvertToTable(t.Context(), got, &metav1.TableOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if cells := masked(t, table.Rows[0].Cells); !reflect.DeepEqual(cells, masked(t, r.Cells)) || len(table.ColumnDefinitions) != len(r.Columns) {
			t.Errorf("%s: %s %s: the table has\n%v, want\n%v", r.From, gvk.Kind, manifest.GetName(), cells, masked(t, r.Cells))
		}
		if g, want := withoutChance(t, got.Object), withoutChance(t, r.Object); g != want {
			t.Errorf("%s: %s %s:\ngot  %s\nwant %s", r.From, gvk.Kind, manifest.GetName(), g, want)
		}
	}
}

// chance is what differs from run to run.
var chance = regexp.MustCompile(`"(AGE|ADDRESS|UID|SOME|<unknown>|[0-9]+(s|ms|m)|10\.0\.0\.[0-9]+|20[0-9-]+T[0-9:]+Z|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22})"|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}|:3[0-9]{4}/`)

func masked(t *testing.T, cells []any) string {
	data, err := json.Marshal(cells)
	if err != nil {
		t.Fatal(err)
	}
	return string(regexp.MustCompile("=UID").ReplaceAll(chance.ReplaceAll(data, []byte("*")), []byte("=*")))
}

// withoutChance is an object without what no two servers have in common.
func withoutChance(t *testing.T, tree map[string]any) string {
	u := unstructured.Unstructured{Object: tree}
	for _, name := range []string{"uid", "resourceVersion", "creationTimestamp", "managedFields", "namespace"} {
		unstructured.RemoveNestedField(u.Object, "metadata", name)
	}
	data, err := json.Marshal(u.Object)
	if err != nil {
		t.Fatal(err)
	}
	data = regexp.MustCompile(`"nodePort":([0-9]+|"SOME")`).ReplaceAll(data, []byte(`"nodePort":0`))
	return string(chance.ReplaceAll(data, []byte(`"*"`)))
}
