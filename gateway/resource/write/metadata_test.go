package write

import (
	"encoding/json"
	"slices"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wasmgate/wasmgate/gateway/resource"
	"github.com/wasmgate/wasmgate/gateway/view/encoding"
)

// A converter that fails is no reason to keep a finalizer or a reference.
func TestMetadataIsLoosenedAtTheStoredVersion_DEL03(t *testing.T) {
	w := newWorld(t)
	collector := resource.Component("garbage-collector")
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
		if err := w.UpdateMetadata(w.ctx(), w.at(v1, "one"), p, without("orphan"), collector); !apierrors.IsConflict(err) {
			t.Errorf("with %+v: %v", p, err)
		}
	}
	loosen := func(f string) {
		t.Helper()
		if err := w.UpdateMetadata(w.ctx(), w.at(v1, "one"), metav1.Preconditions{UID: &uid}, without(f), collector); err != nil {
			t.Fatal(err)
		}
	}
	find := func() *metav1.PartialObjectMetadata {
		t.Helper()
		w.wait(w.revision())
		data, err := w.Get(w.ctx(), w.at(v1, "one"), "0", encoding.MetadataOnly())
		if apierrors.IsNotFound(err) {
			return nil
		}
		var found metav1.PartialObjectMetadata
		if err == nil {
			err = json.Unmarshal(data.Bytes(), &found)
		}
		if err != nil {
			t.Fatal(err)
		}
		return &found
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
	if _, err := w.Delete(w.ctx(), w.at(v1, "one"), propagation(t, "orphan"), resource.WriteOptions{Caller: collector, NoReply: true}); err != nil {
		t.Fatal(err)
	}
	loosen("orphan")
	findsNothing(t, w, collector, uid, without, find)
}

// findsNothing shows that a resource that is not there is told as such.
func findsNothing(t *testing.T, w *world, collector resource.Caller, uid types.UID, without func(f string) func(metav1.Object), find func() *metav1.PartialObjectMetadata) {
	t.Helper()
	if got := find(); got != nil {
		t.Errorf("left %+v", got)
	}
	if err := w.UpdateMetadata(w.ctx(), w.at(v1, "one"), metav1.Preconditions{UID: &uid}, without("x"), collector); !apierrors.IsNotFound(err) {
		t.Errorf("of nothing: %v", err)
	}
}
