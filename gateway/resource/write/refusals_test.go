package write

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wasmgate/wasmgate/crd/object"
	"github.com/wasmgate/wasmgate/gateway/resource"
	"github.com/wasmgate/wasmgate/sdk/rawjson"
)

// The owners in an object of a version that there is no more are left to a
// migration, by whoever loosens its metadata.
func TestOwnersInAnObjectOfARetiredVersion_CRD32(t *testing.T) {
	w := newWorld(t)
	const managed = `[{"apiVersion":"example.com/v0","fieldsType":"FieldsV1","fieldsV1":{"f:metadata":{"f:finalizers":{"v:\"example.com/a\"":{}}}},"manager":"m","operation":"Apply","time":"2020-01-01T00:00:00Z"}]`
	w.put("one", tab("v0", "one", "h", "1", `"namespace":"default"`, `"uid":"u"`, `"finalizers":["example.com/a","example.com/b"]`, `"managedFields":`+managed))
	err := w.UpdateMetadata(w.ctx(), w.at(v1, "one"), metav1.Preconditions{}, func(m metav1.Object) {
		m.SetFinalizers([]string{"example.com/b"})
	}, resource.Component("collector"))
	if err != nil {
		t.Fatal(err)
	}
	tree, _, err := object.ParseObject(w.raw(w.at(v1, "one")).Value)
	if err != nil {
		t.Fatal(err)
	}
	if m, err := object.TakeManaged(tree); err != nil || string(m) != managed || tree["apiVersion"] != "example.com/v0" || strings.Contains(string(w.raw(w.at(v1, "one")).Value), `"finalizers":["example.com/a"`) {
		t.Errorf("they are %s of %v, %v", m, tree, err)
	}
}

// A write of metadata that changes nothing is none, however the owners in the
// stored object are spelt.
func TestMetadataAsItWasIsNotWritten_SSA05(t *testing.T) {
	w := newWorld(t)
	const managed = `[{"manager":"m","operation":"Update","apiVersion":"example.com/v1","time":"2020-01-01T00:00:00Z","fieldsType":"FieldsV1","fieldsV1":{"f:metadata":{"f:finalizers":{"v:\"example.com/a\"":{}}}}}]`
	one := w.at(v1, "one")
	w.create(one, tab(v1, "one", "h", "1", `"finalizers":["example.com/a"]`))
	stored := string(w.raw(one).Value)
	from := strings.Index(stored, `"managedFields":`) + len(`"managedFields":`)
	end, err := rawjson.Skip([]byte(stored), from)
	if err != nil {
		t.Fatal(err)
	}
	w.put("one", stored[:from]+managed+stored[end:])
	before := w.revision()
	update := func(change func(metav1.Object)) {
		t.Helper()
		if err := w.UpdateMetadata(w.ctx(), w.at(v1, "one"), metav1.Preconditions{}, change, resource.Component("collector")); err != nil {
			t.Fatal(err)
		}
	}
	update(func(m metav1.Object) { m.SetFinalizers(m.GetFinalizers()) })
	if now := w.revision(); now != before || !strings.Contains(string(w.raw(one).Value), managed) {
		t.Errorf("nothing was changed at %d after %d: %s", now, before, w.raw(one).Value)
	}
	update(func(m metav1.Object) { m.SetLabels(map[string]string{"a": "b"}) })
	if now := w.read(one); w.revision() == before || owners(now) != "m Update , collector Update" {
		t.Errorf("the owners after a change: %s", owners(now))
	}
}
