package read_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/wasmgate/wasmgate/gateway/resource"
	"github.com/wasmgate/wasmgate/gateway/resource/read"
	"github.com/wasmgate/wasmgate/gateway/view/encoding"
	"github.com/wasmgate/wasmgate/storage"
	"github.com/wasmgate/wasmgate/storage/storagetest"
)

// byLabel selects by a label, byPort by a field of the other version.
func byLabel(t *testing.T) internalversion.ListOptions {
	t.Helper()
	s, err := labels.Parse("a=b")
	if err != nil {
		t.Fatal(err)
	}
	return internalversion.ListOptions{LabelSelector: s}
}

func byPort(t *testing.T, port string) internalversion.ListOptions {
	t.Helper()
	s, err := fields.ParseSelector("hostPort=" + port)
	if err != nil {
		t.Fatal(err)
	}
	return internalversion.ListOptions{FieldSelector: s}
}

// put stores bytes where a CronTab of the default namespace would be, and waits
// until the cache has them. It returns the revision.
func (w *world) put(name, data string) int64 {
	w.t.Helper()
	key := w.at(v1, "").Resource.Key("default", name)
	kv, err := w.store.Get(w.ctx(), key)
	var rev int64
	if err == nil {
		rev, err = w.store.Update(w.ctx(), key, []byte(data), kv.Revision, 0)
	} else {
		rev, err = w.store.Create(w.ctx(), key, []byte(data), 0)
	}
	if err != nil {
		w.t.Fatal(err)
	}
	w.wait(rev)
	return rev
}

const odd = `{"metadata":{"labels":[]}}`

// A watch with a selection does not pass over what it cannot look into.
func TestWatchesDoNotPassOverUnreadableObjects_WATCH02(t *testing.T) {
	for name, o := range map[string]internalversion.ListOptions{
		"labels": byLabel(t),
		"both":   {LabelSelector: byLabel(t).LabelSelector, FieldSelector: byPort(t, "h:1").FieldSelector},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			at := w.at(v1beta1, "")
			watch := w.watch(at, o)
			rev := w.put("bad", odd)
			_, _, err := watch.Next(w.ctx())
			refused(t, err, 500, "InternalError", "cannot be read")
			// What it was before matters as well.
			o.ResourceVersion = fmt.Sprint(rev)
			watch = w.watch(at, o)
			w.put("bad", tab(v1, "bad", "h", "1", `"labels":{"a":"b"}`))
			_, _, err = watch.Next(w.ctx())
			refused(t, err, 500, "InternalError", "cannot be read")
		})
	}
}

// What is known by its key to be of another shard, or not to be meant, need not be
// readable; what is meant has to be.
func TestSelectionsByKeyNeedNotReadTheRest_WATCH02(t *testing.T) {
	const lower, upper = "'0x0000000000000000', '0x8000000000000000')", "'0x8000000000000000', '0x10000000000000000')"
	const byNamespace = "shardRange(object.metadata.namespace, "
	named, err := fields.ParseSelector("metadata.name=good")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		o      internalversion.ListOptions
		passes bool
	}{
		"another shard":            {internalversion.ListOptions{ShardSelector: byNamespace + lower}, true},
		"another shard and labels": {internalversion.ListOptions{ShardSelector: byNamespace + lower, LabelSelector: byLabel(t).LabelSelector}, true},
		"its shard":                {internalversion.ListOptions{ShardSelector: byNamespace + upper, LabelSelector: byLabel(t).LabelSelector}, false},
		"no uid":                   {internalversion.ListOptions{ShardSelector: "shardRange(object.metadata.uid, " + lower}, false},
		"another name":             {internalversion.ListOptions{FieldSelector: named, LabelSelector: byLabel(t).LabelSelector}, true},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			good := w.at(v1, "")
			good.Namespace = "other" // whose hash is in the lower half, unlike that of default
			w.create(good, tab(v1, "good", "h", "1", `"labels":{"a":"b"}`))
			everywhere := w.at(v1, "")
			everywhere.Namespace = ""
			watch := w.watch(everywhere, c.o)
			w.put("bad", "x")
			l, listed := w.list(everywhere, c.o)
			_, _, watched := watch.Next(w.ctx())
			if !c.passes {
				refused(t, listed, 500, "InternalError", "cannot be read")
				refused(t, watched, 500, "InternalError", "cannot be read")
			} else if listed != nil || watched != nil || len(l.Entries) != 1 {
				t.Errorf("listed %+v, %v; watched %v", l, listed, watched)
			}
		})
	}
}

// A selection that looks into converted objects fails with their conversion;
// otherwise one call converts all that happened.
func TestWatchesConvertWhatTheySelectByAtOnce_CRD18_WATCH03(t *testing.T) {
	w := newWorld(t)
	watch := w.watch(w.at(v1beta1, ""), byPort(t, "h:1"))
	elsewhere := w.at(v1, "")
	elsewhere.Namespace = "other"
	w.create(elsewhere, tab(v1, "zero", "h", "1"))
	w.put("one", tab(v1, "one", "h", "1"))
	w.put("two", tab(v1, "two", "h", "2"))
	before := w.conv.Calls.Load()
	changes, more, err := watch.Next(w.ctx())
	if err != nil || more || len(changes) != 1 || w.conv.Calls.Load() != before+1 {
		t.Errorf("%d changes, more %t, %d conversions, %v", len(changes), more, w.conv.Calls.Load()-before, err)
	}
	w.conv.BreakDown("no conversion")
	w.put("three", tab(v1, "three", "h", "1"))
	if _, _, err := watch.Next(w.ctx()); err == nil || !strings.Contains(err.Error(), "no conversion") {
		t.Errorf("got %v", err)
	}
	if _, err := w.list(w.at(v1beta1, ""), byPort(t, "h:1")); err == nil || !strings.Contains(err.Error(), "no conversion") {
		t.Errorf("a list: %v", err)
	}
	late := byPort(t, "h:1")
	late.Watch = true
	if _, err := w.Watch(w.ctx(), w.at(v1beta1, ""), &late); err == nil || !strings.Contains(err.Error(), "no conversion") {
		t.Errorf("a watch that begins: %v", err)
	}
}

// A watch whose history went is told so.
func TestWatchesOverAGapOfTheHistory_WATCH05(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := storagetest.NewMemory()
		w := worldOver(t, m)
		w.put("one", tab(v1, "one", "h", "1"))
		watch := w.watch(w.at(v1, ""), internalversion.ListOptions{ResourceVersion: fmt.Sprint(w.revision())})
		m.Down(errors.New("away"))
		synctest.Wait()
		if w.cache.Healthy() == nil {
			t.Error("healthy without a store")
		}
		rev := m.Apply(storage.Event{KV: storage.KV{Key: w.at(v1, "").Resource.Key("default", "two"), Value: []byte(tab(v1, "two", "h", "2"))}})
		if err := m.Compact(t.Context(), rev); err != nil {
			t.Fatal(err)
		}
		m.Down(nil)
		w.wait(rev)
		_, _, err := watch.Next(w.ctx())
		refused(t, err, 410, "Expired", "too old resource version")
	})
}

// Metadata that cannot be read is no metadata.
func TestMetadataThatCannotBeRead(t *testing.T) {
	w := newWorld(t)
	w.put("bad", "x")
	at := w.at(v1, "")
	if _, err := w.encoded(at, &internalversion.ListOptions{}, encoding.MetadataOnly()); !apierrors.IsInternalError(err) {
		t.Errorf("a list: %v", err)
	}
	if _, err := w.deleteAll(at, &internalversion.ListOptions{}, &metav1.DeleteOptions{}, resource.WriteOptions{}, encoding.MetadataOnly()); !apierrors.IsInternalError(err) {
		t.Errorf("a deletion of all: %v", err)
	}
	// A namespace that says nothing of itself takes no objects.
	ns := w.builtin("namespaces", "", "")
	rev, err := w.store.Create(w.ctx(), ns.Resource.Key("", "odd"), []byte("x"), 0)
	if err != nil {
		t.Fatal(err)
	}
	w.wait(rev)
	_, err = w.Create(w.ctx(), w.builtin("configmaps", "odd", ""), []byte(configMap("a", "1")), resource.WriteOptions{})
	refused(t, err, 500, "InternalError", "cannot be read")
}

// Errors of the store about one object are the API's.
func TestStoreErrorsAreStatuses(t *testing.T) {
	one := newWorld(t).at(v1, "one")
	foreign := errors.New("of somebody else")
	if err := one.StoreError(foreign); !errors.Is(err, foreign) {
		t.Errorf("got %v", err)
	}
	for kind, want := range map[storage.Kind]metav1.StatusReason{
		storage.NotFound: metav1.StatusReasonNotFound, storage.Exists: metav1.StatusReasonAlreadyExists, storage.Conflict: metav1.StatusReasonConflict,
		storage.TooLarge: metav1.StatusReasonRequestEntityTooLarge, storage.Compacted: metav1.StatusReasonExpired,
		storage.Full: metav1.StatusReasonInternalError, storage.TooMany: metav1.StatusReasonInternalError, storage.FutureRevision: metav1.StatusReasonTimeout, storage.Unavailable: metav1.StatusReasonServerTimeout,
	} {
		if got := apierrors.ReasonForError(one.StoreError(&storage.Error{Kind: kind})); got != want {
			t.Errorf("%v: %s, want %s", kind, got, want)
		}
	}
}

// How many are left is said only of a list of everything, whether it comes from
// memory or from the store's history.
func TestWhatRemainsIsCountedWithoutSelection_LIST03_LIST04_LIST07(t *testing.T) {
	w := newWorld(t)
	for _, name := range []string{"one", "two", "three"} {
		w.put(name, tab(v1, name, "h", "1", `"labels":{"a":"b"}`))
	}
	selected := byLabel(t)
	selected.Limit = 1
	for name, list := range map[string]func(resource.Target, internalversion.ListOptions) (*resource.List, error){"memory": w.list, "history": w.listPast} {
		l, err := list(w.at(v1, ""), internalversion.ListOptions{Limit: 1})
		if err != nil || l.Continue == "" || l.Remaining == nil || *l.Remaining != 2 {
			t.Errorf("all, from %s: %+v, %v", name, l, err)
		}
		if l, err = list(w.at(v1, ""), selected); err != nil || l.Continue == "" || l.Remaining != nil {
			t.Errorf("a selection, from %s: %+v, %v", name, l, err)
		}
		if l, err = list(w.at(v1, ""), internalversion.ListOptions{Limit: 3}); err != nil || l.Continue != "" || l.Remaining != nil {
			t.Errorf("the last page, from %s: %+v, %v", name, l, err)
		}
	}
}

// Of errors that are about nothing unreadable, objects have no say.
func TestOtherErrorsOfListsStayAsTheyAre(t *testing.T) {
	want := errors.New("another one")
	if err := new(read.Reader).NameUnreadable(t.Context(), resource.Target{}, want); err != want {
		t.Errorf("%v", err)
	}
	if err := new(read.Reader).NameUnreadable(t.Context(), resource.Target{}, nil); err != nil {
		t.Errorf("%v", err)
	}
}
