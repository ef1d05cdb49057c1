package write

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wasmgate/wasmgate/gateway/resource"
	"github.com/wasmgate/wasmgate/gateway/view/encoding"
	"github.com/wasmgate/wasmgate/storage"
	"github.com/wasmgate/wasmgate/storage/storagetest"
)

func deletion() *metav1.DeleteOptions { return &metav1.DeleteOptions{} }

func TestFinalizers_DEL01_DEL02_DEL03_DEL04(t *testing.T) {
	w := newWorld(t)
	one := w.at(v1, "one")
	made := w.create(w.at(v1, ""), tab(v1, "one", "h", "1", `"finalizers":["example.com/f","example.com/g"]`))
	merge := func(body string) (*resource.Written, error) {
		return w.Patch(w.ctx(), one, types.MergePatchType, []byte(body), resource.WriteOptions{})
	}
	_, err := merge(`{"metadata":{"deletionTimestamp":"2020-01-01T00:00:00Z"}}`)
	refused(t, err, 422, "Invalid", "metadata.deletionTimestamp: Invalid value")
	watch, err := w.Watch(w.ctx(), w.at(v1, ""), &internalversion.ListOptions{ResourceVersion: made.GetResourceVersion()})
	if err != nil {
		t.Fatal(err)
	}
	defer watch.Stop()
	first := w.must(w.Delete(w.ctx(), one, deletion(), resource.WriteOptions{}))
	if at := first.GetDeletionTimestamp(); at == nil || first.GetGeneration() != 2 || *first.GetDeletionGracePeriodSeconds() != 0 {
		t.Errorf("got %v", first.Object)
	}
	again := w.must(w.Delete(w.ctx(), one, deletion(), resource.WriteOptions{}))
	if again.GetResourceVersion() != first.GetResourceVersion() {
		t.Error("a second deletion wrote")
	}
	_, err = merge(`{"metadata":{"finalizers":["example.com/f","example.com/g","example.com/h"]}}`)
	refused(t, err, 422, "Invalid", "no new finalizers can be added if the object is being deleted")
	if got := w.must(merge(`{"metadata":{"deletionTimestamp":null}}`)); got.GetDeletionTimestamp() == nil {
		t.Error("the deletion was taken back")
	}
	w.must(merge(`{"metadata":{"finalizers":["example.com/g"]}}`))
	out, err := merge(`{"metadata":{"finalizers":null}}`)
	if w.must(out, err); !out.Deleted {
		t.Error("not deleted")
	}
	if _, err := w.entry(w.ctx(), one); !apierrors.IsNotFound(err) {
		t.Errorf("afterwards: %v", err)
	}
	events, err := follow(w.ctx(), watch, one.Resource, v1, 3)
	if err != nil || !strings.HasPrefix(events[0], "MODIFIED") || !strings.HasPrefix(events[1], "MODIFIED") || !strings.HasPrefix(events[2], "DELETED") {
		t.Errorf("got %v, %v", events, err)
	}
}

func TestPreconditions_DEL05(t *testing.T) {
	w := newWorld(t)
	made := w.create(w.at(v1, ""), tab(v1, "one", "h", "1"))
	one := w.at(v1, "one")
	uid, other, rev, old := made.GetUID(), types.UID("zz"), made.GetResourceVersion(), "1"
	for _, c := range []struct {
		p    metav1.Preconditions
		want string
	}{
		{metav1.Preconditions{UID: &other}, `on CronTab.example.com "one": the UID in the precondition (zz) does not match the UID in record (` + string(uid) + `)`},
		{metav1.Preconditions{UID: &uid, ResourceVersion: &old}, `the ResourceVersion in the precondition (1) does not match the ResourceVersion in record (` + rev + `)`},
	} {
		_, err := w.Delete(w.ctx(), one, &metav1.DeleteOptions{Preconditions: &c.p}, resource.WriteOptions{})
		refused(t, err, 409, "Conflict", c.want)
	}
	_, err := w.Delete(w.ctx(), one, &metav1.DeleteOptions{GracePeriodSeconds: new(int64), PropagationPolicy: new(metav1.DeletionPropagation)}, resource.WriteOptions{})
	refused(t, err, 422, "Invalid", "propagationPolicy")
	_, err = w.Delete(w.ctx(), one, &metav1.DeleteOptions{DryRun: []string{""}}, resource.WriteOptions{DryRun: true})
	refused(t, err, 422, "Invalid", `dryRun: Unsupported value: [""]: supported values: "All"`)
	w.must(w.Delete(w.ctx(), one, &metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid, ResourceVersion: &rev}}, resource.WriteOptions{}))
	_, err = w.Delete(w.ctx(), one, deletion(), resource.WriteOptions{})
	refused(t, err, 404, "NotFound", "")
}

// The cache shows an object that is being deleted; in truth it is gone and
// another one has its name.
func TestDeleteFromAStaleCache_DEL01(t *testing.T) {
	w := newWorld(t)
	one := w.at(v1, "one")
	w.create(w.at(v1, ""), tab(v1, "one", "h", "1", `"finalizers":["example.com/f"]`))
	w.must(w.Delete(w.ctx(), one, deletion(), resource.WriteOptions{}))
	w.wait(w.revision())
	release := w.store.holdUp()
	defer release()
	w.must(w.Patch(w.ctx(), one, types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), resource.WriteOptions{}))
	second := w.create(w.at(v1, ""), tab(v1, "one", "h", "2"))
	out, err := w.Delete(w.ctx(), one, deletion(), resource.WriteOptions{DryRun: true})
	if err != nil || !out.Deleted || out.UID != string(second.GetUID()) {
		t.Errorf("dry run: %+v, %v", out, err)
	}
	out, err = w.Delete(w.ctx(), one, deletion(), resource.WriteOptions{})
	if err != nil || !out.Deleted || out.UID != string(second.GetUID()) {
		t.Errorf("got %+v, %v", out, err)
	}
	// Gone in the store, still in the cache.
	_, err = w.Patch(w.ctx(), one, types.MergePatchType, []byte(`{"port":"3"}`), resource.WriteOptions{})
	refused(t, err, 404, "NotFound", "")
	_, err = w.Delete(w.ctx(), one, deletion(), resource.WriteOptions{})
	refused(t, err, 404, "NotFound", "")
}

func TestTerminatingNamespaceRefusesCreation_RES05(t *testing.T) {
	w := newWorld(t)
	ns := w.builtin("namespaces", "", "other")
	got := w.must(w.Delete(w.ctx(), ns, deletion(), resource.WriteOptions{}))
	if fmt.Sprint(got.Object["status"]) != "map[phase:Terminating]" {
		t.Errorf("got %v", got.Object)
	}
	w.wait(w.revision())
	_, err := w.Create(w.ctx(), w.builtin("configmaps", "other", ""), []byte(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"generateName":"c-"}}`), resource.WriteOptions{})
	refused(t, err, 403, "Forbidden", `configmaps "c-" is forbidden: unable to create new content in namespace other because it is being terminated`)
	if !apierrors.HasStatusCause(err, "NamespaceTerminating") {
		t.Error("the cause is missing")
	}
	ns.Subresource = "finalize"
	out, err := w.Update(w.ctx(), ns, []byte(`{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"other"},"spec":{}}`), resource.WriteOptions{})
	if w.must(out, err); !out.Deleted {
		t.Error("the finalized namespace is still there")
	}
	w.wait(w.revision())
	_, err = w.Create(w.ctx(), w.builtin("configmaps", "other", ""), []byte(configMap("c", "1")), resource.WriteOptions{})
	refused(t, err, 404, "NotFound", `namespaces "other" not found`)
}

func TestTerminatingDefinitionRefusesCreation(t *testing.T) {
	w := newWorld(t)
	w.create(w.at(v1, ""), tab(v1, "one", "h", "1"))
	w.define(v1, true)
	_, err := w.Create(w.ctx(), w.at(v1, ""), []byte(tab(v1, "two", "h", "1")), resource.WriteOptions{})
	refused(t, err, 403, "Forbidden", `crontabs.example.com "two" is forbidden: create not allowed while custom resource definition is terminating`)
	w.must(w.Patch(w.ctx(), w.at(v1, "one"), types.MergePatchType, []byte(`{"port":"2"}`), resource.WriteOptions{}))
	w.must(w.Delete(w.ctx(), w.at(v1, "one"), deletion(), resource.WriteOptions{}))
}

func TestDeleteCollectionChecksOptionsEvenOfNothing_VERB04(t *testing.T) {
	w := newWorld(t)
	odd := metav1.DeletionPropagation("odd")
	_, err := w.deleteAll(w.at(v1, ""), &internalversion.ListOptions{}, &metav1.DeleteOptions{PropagationPolicy: &odd}, resource.WriteOptions{}, encoding.At(v1))
	refused(t, err, 422, "Invalid", "propagationPolicy")
}

func TestDeleteCollection_VERB04(t *testing.T) {
	w := newWorld(t)
	for i := range 6 {
		w.create(w.at(v1, ""), tab(v1, fmt.Sprintf("tab-%d", i), "h", "1", fmt.Sprintf(`"labels":{"odd":"%d"}`, i%2), fmt.Sprintf(`"finalizers":[%s]`, map[bool]string{true: `"example.com/f"`}[i == 1])))
	}
	other := w.at(v1, "")
	other.Namespace = "other"
	w.create(other, tab(v1, "tab-1", "h", "1", `"labels":{"odd":"1"}`))
	odd, err := labels.Parse("odd=1")
	if err != nil {
		t.Fatal(err)
	}
	list, err := w.deleteAll(w.at(v1, ""), &internalversion.ListOptions{LabelSelector: odd}, deletion(), resource.WriteOptions{}, encoding.At(v1))
	if err != nil || len(list.Entries) != 3 {
		t.Fatal(list, err)
	}
	left, err := w.List(w.ctx(), w.at(v1, ""), &internalversion.ListOptions{})
	if err != nil || len(left.Entries) != 4 { // three, and the one with a finalizer
		t.Fatal(left, err)
	}
	if w.read(w.at(v1, "tab-1")).GetDeletionTimestamp() == nil {
		t.Error("the finalizer saved it")
	}
	w.read(resource.Target{Resource: other.Resource, Version: other.Version, Namespace: "other", Name: "tab-1"})
	// What cannot be answered is not begun.
	w.conv.BreakDown("no conversion")
	before := w.revision()
	_, err = w.deleteAll(w.at(v1beta1, ""), &internalversion.ListOptions{}, deletion(), resource.WriteOptions{}, encoding.At(v1))
	refused(t, err, 500, "", "no conversion")
	if w.revision() != before {
		t.Error("something was deleted")
	}
	// Events and other kinds in protobuf go the same way.
	w.create(w.builtin("configmaps", "default", ""), configMap("one", "1"))
	if _, err = w.deleteAll(w.builtin("configmaps", "default", ""), &internalversion.ListOptions{}, deletion(), resource.WriteOptions{}, encoding.At(v1)); err != nil {
		t.Error(err)
	}
	if _, err := w.entry(w.ctx(), w.builtin("configmaps", "default", "one")); !apierrors.IsNotFound(err) {
		t.Errorf("afterwards: %v", err)
	}
}

// What is listed to be deleted is listed in pages, so a revision names one state: what
// was created since then stays, as does what had gone.
func TestDeleteCollectionOfTheStateAtARevision_VERB04(t *testing.T) {
	w := newWorld(t)
	w.create(w.at(v1, ""), tab(v1, "old", "h", "1"))
	at := strconv.FormatInt(w.revision(), 10)
	w.create(w.at(v1, ""), tab(v1, "new", "h", "1"))
	list, err := w.deleteAll(w.at(v1, ""), &internalversion.ListOptions{ResourceVersion: at}, deletion(), resource.WriteOptions{}, encoding.At(v1))
	if err != nil || len(list.Entries) != 1 {
		t.Fatal(list, err)
	}
	w.read(w.at(v1, "new"))
	recent := &internalversion.ListOptions{ResourceVersion: at, ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan}
	if list, err = w.deleteAll(w.at(v1, ""), recent, deletion(), resource.WriteOptions{}, encoding.At(v1)); err != nil || len(list.Entries) != 1 {
		t.Fatal(list, err)
	}
	if _, err := w.entry(w.ctx(), w.at(v1, "new")); !apierrors.IsNotFound(err) {
		t.Errorf("afterwards: %v", err)
	}
}

// What somebody else deletes while a collection is deleted holds nothing up.
func TestDeleteCollectionBesideOtherDeletions_VERB04(t *testing.T) {
	w := newWorld(t)
	for _, name := range []string{"a", "b", "c"} {
		w.create(w.at(v1, ""), tab(v1, name, "h", "1"))
	}
	err := w.DeleteCollection(w.ctx(), w.at(v1, ""), &internalversion.ListOptions{}, deletion(), resource.WriteOptions{}, func(l *resource.List) error {
		if len(l.Entries) != 3 {
			t.Errorf("%d objects", len(l.Entries))
		}
		for _, name := range []string{"a", "b"} {
			w.must(w.Delete(w.ctx(), w.at(v1, name), deletion(), resource.WriteOptions{}))
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	if left, err := w.List(w.ctx(), w.at(v1, ""), &internalversion.ListOptions{}); err != nil || len(left.Entries) != 0 {
		t.Errorf("left are %d, %v", len(left.Entries), err)
	}
}

// A pod that has time to end is still there after an update, and after an update that
// releases its last finalizer; it goes with a deletion that leaves it none.
func TestUpdatesDoNotCutAGracePeriodShort_DEL03(t *testing.T) {
	w := newWorld(t)
	pods := w.builtin("pods", "default", "")
	for name, finalizers := range map[string]string{"free": `[]`, "held": `["example.com/f"]`} {
		w.create(pods, `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"`+name+`","finalizers":`+finalizers+`},"spec":{"nodeName":"n","containers":[{"name":"c","image":"i"}]}}`)
		at := w.builtin("pods", "default", name)
		w.must(w.Delete(w.ctx(), at, propagation(t, "grace=30"), resource.WriteOptions{}))
		for _, patch := range []string{`{"metadata":{"labels":{"a":"b"}}}`, `{"metadata":{"finalizers":null}}`} {
			w.must(w.Patch(w.ctx(), at, types.MergePatchType, []byte(patch), resource.WriteOptions{}))
			if left := w.read(at).GetDeletionGracePeriodSeconds(); left == nil || *left != 30 {
				t.Errorf("%s after %s has %v seconds", name, patch, left)
			}
		}
		w.must(w.Delete(w.ctx(), at, propagation(t, "grace=0"), resource.WriteOptions{}))
		if _, err := w.entry(w.ctx(), at); !apierrors.IsNotFound(err) {
			t.Errorf("%s without time: %v", name, err)
		}
	}
}

// Whoever watches sees the mark of a pod that is deleted at once, and then its end: one
// that is on no node, one that is forced, and one that loses the rest of its time. A dry
// run leaves no mark.
func TestPodsAreMarkedBeforeTheyGo_DEL03(t *testing.T) {
	w := newWorld(t)
	pods := w.builtin("pods", "default", "")
	watch := w.watch(pods, internalversion.ListOptions{})
	for name, words := range map[string][]string{"free": {"background"}, "forced": {"grace=0"}, "shortened": {"grace=30", "grace=0"}} {
		node := ""
		if name != "free" {
			node = `"nodeName":"n",`
		}
		w.create(pods, `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"`+name+`"},"spec":{`+node+`"containers":[{"name":"c","image":"i"}]}}`)
		at := w.builtin("pods", "default", name)
		w.must(w.Delete(w.ctx(), at, propagation(t, words[0]), resource.WriteOptions{DryRun: true}))
		for _, word := range words {
			w.must(w.Delete(w.ctx(), at, propagation(t, word), resource.WriteOptions{}))
		}
		want := append(slices.Repeat([]string{"MODIFIED"}, len(words)), "DELETED")
		events, err := follow(w.ctx(), watch, pods.Resource, "v1", len(want)+1)
		if err != nil {
			t.Fatal(name, err)
		}
		for i, event := range events[1:] {
			kind, text, _ := strings.Cut(event, " ")
			at := w.parse([]byte(text))
			took, marked := at.GetDeletionGracePeriodSeconds(), at.GetDeletionTimestamp() != nil
			if kind != want[i] || !marked || took == nil || *took != 0 && i >= len(words)-1 {
				t.Errorf("%s: event %d is %s, want %s of a pod that ends at once", name, i, event, want[i])
			}
		}
	}
}

// full is a store in which there is no room for what changes, when it is full, or which says
// something else of that.
type full struct {
	storage.Store
	now  atomic.Bool
	says storage.Kind
}

func (f *full) Update(ctx context.Context, key string, value []byte, rev int64, ttl time.Duration) (int64, error) {
	if f.now.Load() {
		return 0, &storage.Error{Kind: cmp.Or(f.says, storage.Full), Key: key}
	}
	return f.Store.Update(ctx, key, value, rev, ttl)
}

// A store that is full becomes emptier by deletions, of pods too, for whose mark it has no
// room. Others that want a mark wait for that.
func TestPodsGoFromAFullStore_DEL03(t *testing.T) {
	store := &full{Store: storagetest.NewMemory()}
	w := worldOver(t, store)
	pods := w.builtin("pods", "default", "")
	const pod = `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"NAME"},"spec":{NODE"containers":[{"name":"c","image":"i"}]}}`
	w.create(pods, strings.NewReplacer("NAME", "free", "NODE", "").Replace(pod))
	w.create(pods, strings.NewReplacer("NAME", "runs", "NODE", `"nodeName":"n",`).Replace(pod))
	store.now.Store(true)
	free, runs := w.builtin("pods", "default", "free"), w.builtin("pods", "default", "runs")
	if out, err := w.Delete(w.ctx(), free, propagation(t, "background"), resource.WriteOptions{}); err != nil || !out.Deleted {
		t.Fatalf("it stays: %v", err)
	}
	_, err := w.Delete(w.ctx(), free, propagation(t, "background"), resource.WriteOptions{})
	refused(t, err, 404, "NotFound", "free")
	_, err = w.Delete(w.ctx(), runs, propagation(t, "background"), resource.WriteOptions{})
	refused(t, err, 500, "InternalError", "database space exceeded")
}

// A pod whose mark the store did not confirm stays as it is: there may be room.
func TestPodsStayWhoseMarkIsNotConfirmed(t *testing.T) {
	store := &full{Store: storagetest.NewMemory(), says: storage.Unavailable}
	w := worldOver(t, store)
	w.create(w.builtin("pods", "default", ""), `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"free"},"spec":{"containers":[{"name":"c","image":"i"}]}}`)
	free := w.builtin("pods", "default", "free")
	before := w.raw(free)
	store.now.Store(true)
	_, err := w.Delete(w.ctx(), free, propagation(t, "background"), resource.WriteOptions{})
	refused(t, err, 500, "", "did not confirm the write")
	if now := w.raw(free); now.Revision != before.Revision {
		t.Errorf("it is %s", now.Value)
	}
}

// Who meets a conflict when it removes what it marked says that it is gone where that is so.
func TestAnotherObjectOfTheName(t *testing.T) {
	w := newWorld(t)
	at := w.builtin("pods", "default", "one")
	w.create(w.builtin("pods", "default", ""), `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"one"},"spec":{"containers":[{"name":"c","image":"i"}]}}`)
	uid := w.read(at).GetUID()
	one := &Write{request: request{Target: at}, writer: w.Writer}
	if one.another(w.ctx(), uid) || !one.another(w.ctx(), "other") {
		t.Error("the same object is another, or the other way round")
	}
	one.Name = "none"
	if !one.another(w.ctx(), uid) {
		t.Error("there is one")
	}
}

// What a kind does not let go stays, for clients and for the gateway itself.
func TestAKindMayRefuseADeletion_RES05(t *testing.T) {
	w := newWorld(t)
	ns := w.builtin("namespaces", "", "default")
	before := w.revision()
	_, err := w.Delete(w.ctx(), ns, deletion(), resource.WriteOptions{})
	refused(t, err, 403, "Forbidden", "this namespace may not be deleted")
	_, err = w.Delete(w.ctx(), ns, deletion(), resource.WriteOptions{Caller: resource.Component("test"), NoReply: true})
	refused(t, err, 403, "Forbidden", "this namespace may not be deleted")
	if w.revision() != before || w.read(ns).GetDeletionTimestamp() != nil {
		t.Error("it is being deleted")
	}
}
