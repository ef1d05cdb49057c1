package resource

import (
	"slices"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// A converter that fails is no reason to keep a finalizer or a reference.
func TestMetadataIsLoosenedAtTheStoredVersion_DEL03(t *testing.T) {
	w := newWorld(t)
	in := w.Internal(Component("garbage-collector"))
	made := w.create(w.at(v1, ""), tab(v1, "one", "h", "1", `"finalizers":["orphan","example.com/f"]`))
	uid := made.GetUID()
	w.define(v1beta1, false) // stored at what is no longer the storage version
	w.conv.BreakDown("no conversion")
	without := func(f string) func(metav1.Object) {
		return func(m metav1.Object) {
			m.SetFinalizers(slices.DeleteFunc(m.GetFinalizers(), func(x string) bool { return x == f }))
		}
	}
	other, old := types.UID("other"), "1"
	for _, p := range []metav1.Preconditions{{UID: &other}, {ResourceVersion: &old}} {
		if err := in.UpdateMetadata(w.ctx(), cronTabs, "default", "one", p, without("orphan")); !apierrors.IsConflict(err) {
			t.Errorf("with %+v: %v", p, err)
		}
	}
	loosen := func(f string) {
		t.Helper()
		if err := in.UpdateMetadata(w.ctx(), cronTabs, "default", "one", metav1.Preconditions{UID: &uid}, without(f)); err != nil {
			t.Fatal(err)
		}
	}
	find := func(texts ...string) []metav1.PartialObjectMetadata {
		t.Helper()
		w.wait(w.revision())
		found, err := in.FindMetadata(w.ctx(), cronTabs, "default", "one", texts...)
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	loosen("orphan")
	got := find("example.com/f")
	if len(got) != 1 || !slices.Equal(got[0].Finalizers, []string{"example.com/f"}) || got[0].Generation != 1 || got[0].DeletionTimestamp != nil {
		t.Fatalf("got %+v", got)
	}
	before := w.revision()
	loosen("nothing that it has")
	if w.revision() != before {
		t.Error("no change was written")
	}
	loosen("example.com/f") // nobody deletes it: it stays
	if got = find(string(uid)); len(got) != 1 || got[0].ResourceVersion == "" {
		t.Fatalf("got %+v", got)
	}
	if got := find("orphan"); got != nil {
		t.Errorf("found %+v", got)
	}
	if err := in.Delete(w.ctx(), cronTabs, "default", "one", *propagation(t, "orphan")); err != nil {
		t.Fatal(err)
	}
	loosen("orphan")
	if got := find(string(uid)); got != nil {
		t.Errorf("left %+v", got)
	}
	if err := in.UpdateMetadata(w.ctx(), cronTabs, "default", "one", metav1.Preconditions{UID: &uid}, without("x")); !apierrors.IsNotFound(err) {
		t.Errorf("of nothing: %v", err)
	}
	none := cronTabs
	none.Resource = "nothing"
	if err := in.UpdateMetadata(w.ctx(), none, "default", "one", metav1.Preconditions{}, without("x")); !apierrors.IsNotFound(err) {
		t.Errorf("of no kind: %v", err)
	}
	if _, err := in.FindMetadata(w.ctx(), none, "", "", "x"); !apierrors.IsNotFound(err) {
		t.Errorf("of no kind: %v", err)
	}
}

func TestMetadataIsFoundByWhatIsStored(t *testing.T) {
	w := newWorld(t)
	in := w.Internal(Component("garbage-collector"))
	maps := w.builtin("configmaps", "default", "")
	for _, ns := range []string{"default", "other"} {
		maps.Namespace = ns
		for _, name := range []string{"one", "two"} {
			w.create(maps, configMap(name, "text-"+name+"-"+ns))
		}
	}
	w.wait(w.revision())
	gr := maps.Resource.GroupResource()
	for _, c := range []struct {
		namespace, name string
		texts           []string
		want            []string
	}{
		{"", "", []string{"text-"}, []string{"default/one", "default/two", "other/one", "other/two"}},
		{"other", "", []string{"text-"}, []string{"other/one", "other/two"}},
		{"", "", []string{"text-one-default", "text-two-other"}, []string{"default/one", "other/two"}},
		{"default", "two", []string{"text-"}, []string{"default/two"}},
		{"default", "two", []string{"text-one"}, nil},
		{"default", "three", []string{"text-"}, nil},
		{"", "", nil, nil},
	} {
		found, err := in.FindMetadata(w.ctx(), gr, c.namespace, c.name, c.texts...)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, m := range found {
			got = append(got, m.Namespace+"/"+m.Name)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%+v: got %v", c, got)
		}
	}
}
