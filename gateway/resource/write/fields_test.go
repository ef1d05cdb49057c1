package write

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wasmgate/wasmgate/gateway/resource"
)

// Every write but a deletion says who owns what it wrote; the gateway's own
// ones do at whatever version an object is stored.
func TestEveryWriteHasAnOwner_SSA04_SSA06(t *testing.T) {
	w := newWorld(t)
	as := func(manager string) resource.WriteOptions {
		return resource.WriteOptions{Caller: resource.Caller{FieldManager: manager}}
	}
	one := w.at(v1, "one")
	made := w.must(w.Create(w.ctx(), w.at(v1, ""), []byte(tab(v1, "one", "h", "1", `"finalizers":["example.com/a","example.com/b"]`)), as("creator")))
	if owners(made) != "creator Update" {
		t.Errorf("created: %s", owners(made))
	}
	got := w.must(w.Patch(w.ctx(), one, types.MergePatchType, []byte(`{"port":"2"}`), as("patcher")))
	if owners(got) != "creator Update , patcher Update" {
		t.Errorf("patched: %s", owners(got))
	}
	got = w.must(w.Patch(w.ctx(), w.sub("one", "status"), types.MergePatchType, []byte(`{"status":{"replicas":1}}`), as("reporter")))
	if owners(got) != "creator Update , patcher Update , reporter Update status" {
		t.Errorf("its status: %s", owners(got))
	}
	// A change of metadata by the gateway takes what it changes, and nothing
	// else, also when the storage version is another one by now.
	w.define(v1beta1, false)
	w.conv.BreakDown("no conversion")
	uid := made.GetUID()
	err := w.UpdateMetadata(w.ctx(), w.at(v1, "one"), metav1.Preconditions{UID: &uid}, func(m metav1.Object) {
		m.SetFinalizers([]string{"example.com/b"})
	}, resource.Component("collector"))
	if err != nil {
		t.Fatal(err)
	}
	w.conv.Repair()
	after := w.read(w.at(v1, "one"))
	if len(after.GetManagedFields()) != 3 || after.Object["port"] != "2" || len(after.GetFinalizers()) != 1 {
		t.Errorf("by the gateway: %v", after.Object)
	}
	for _, e := range after.GetManagedFields() {
		if e.APIVersion != "example.com/v1" || strings.Contains(e.FieldsV1.GetRawString(), "example.com/a") {
			t.Errorf("%s owns %s at %s", e.Manager, e.FieldsV1.GetRawString(), e.APIVersion)
		}
	}
}

// One empty entry gives up the managedFields; of a custom resource an empty
// list does not.
func TestWritesMayClearTheOwners_SSA27(t *testing.T) {
	w := newWorld(t)
	one := w.at(v1, "one")
	w.must(w.apply(one, "a", `"metadata":{"name":"one"},"host":"h"`))
	patch := func(body string) string {
		t.Helper()
		return owners(w.must(w.Patch(w.ctx(), one, types.MergePatchType, []byte(body), resource.WriteOptions{Caller: resource.Caller{FieldManager: "p"}})))
	}
	if got := patch(`{"metadata":{"managedFields":[]}}`); got != "a Apply" {
		t.Errorf("an empty list: %s", got)
	}
	if got := patch(`{"metadata":{"managedFields":[{}]}}`); got != "" {
		t.Errorf("one empty entry: %s", got)
	}
	// Then nobody's writes are followed until somebody applies.
	if got := patch(`{"port":"3"}`); got != "" {
		t.Errorf("afterwards: %s", got)
	}
	if got := owners(w.must(w.apply(one, "b", `"metadata":{"name":"one"},"host":"h"`))); !strings.Contains(got, "b Apply") {
		t.Errorf("applied again: %s", got)
	}
}

// A change of metadata by the gateway has the time of the last one that changed something,
// though whose the fields are stays the same.
func TestChangesOfMetadataHaveTheirTime_SSA04(t *testing.T) {
	w := newWorld(t)
	const long = "2020-01-02T03:04:05Z"
	as := resource.WriteOptions{Caller: resource.Caller{FieldManager: "client"}}
	w.must(w.Create(w.ctx(), w.at(v1, ""), []byte(tab(v1, "one", "h", "1", `"labels":{"a":"1"}`)), as))
	w.must(w.Patch(w.ctx(), w.at(v1, "one"), types.MergePatchType, []byte(`{"metadata":{"managedFields":[{"manager":"collector","operation":"Update","apiVersion":"example.com/v1",
		"time":"`+long+`","fieldsType":"FieldsV1","fieldsV1":{"f:metadata":{"f:labels":{".":{},"f:a":{}}}}}]}}`), as))
	for _, step := range []struct {
		label string
		long  bool
	}{{"1", true}, {"2", false}} {
		before := w.read(w.at(v1, "one"))
		if err := w.UpdateMetadata(w.ctx(), w.at(v1, "one"), metav1.Preconditions{}, func(m metav1.Object) {
			m.SetLabels(map[string]string{"a": step.label})
		}, resource.Component("collector")); err != nil {
			t.Fatal(err)
		}
		after := w.read(w.at(v1, "one"))
		if same := after.GetResourceVersion() == before.GetResourceVersion(); same != step.long {
			t.Errorf("%s: nothing is written: %v", step.label, same)
		}
		for _, e := range after.GetManagedFields() {
			if e.Manager == "collector" && (e.Time.UTC().Format(time.RFC3339) == long) != step.long {
				t.Errorf("%s: the time is %s", step.label, e.Time)
			}
		}
		if got := owners(after); got != "collector Update" {
			t.Errorf("%s: %s", step.label, got)
		}
	}
}
