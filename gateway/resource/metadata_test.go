package resource

import (
	"slices"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
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
	find := func() *metav1.PartialObjectMetadata {
		t.Helper()
		w.wait(w.revision())
		found, err := in.ListMetadata(w.ctx(), cronTabs, "default")
		if err != nil {
			t.Fatal(err)
		}
		if len(found) == 0 {
			return nil
		}
		return &found[0]
	}
	loosen("orphan")
	got := find()
	if got == nil || !slices.Equal(got.Finalizers, []string{"example.com/f"}) || got.Generation != 1 || got.DeletionTimestamp != nil {
		t.Fatalf("got %+v", got)
	}
	before := w.revision()
	loosen("nothing that it has")
	if w.revision() != before {
		t.Error("no change was written")
	}
	loosen("example.com/f") // nobody deletes it: it stays
	if got = find(); got == nil || got.UID != uid || got.ResourceVersion == "" || len(got.Finalizers) > 0 {
		t.Fatalf("got %+v", got)
	}
	if err := in.Delete(w.ctx(), cronTabs, "default", "one", *propagation(t, "orphan")); err != nil {
		t.Fatal(err)
	}
	loosen("orphan")
	if got := find(); got != nil {
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
	if _, err := in.Ownership(w.ctx(), none, "", "x", false); !meta.IsNoMatchError(err) {
		t.Errorf("of no kind: %v", err)
	}
	if _, err := in.Feed(none); !apierrors.IsNotFound(err) {
		t.Errorf("of no kind: %v", err)
	}
}
