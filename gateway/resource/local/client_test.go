package local_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/wasmgate/wasmgate/gateway/catalog/catalogtest"
	"github.com/wasmgate/wasmgate/gateway/resource"
	"github.com/wasmgate/wasmgate/storage"
)

func TestInternal_RES05(t *testing.T) {
	w := newWorld(t)
	w.create(cronTabs, tab(v1, "one", "h", "1", `"namespace":"default"`))
	u, err := w.Get(w.ctx(), cronTabs, "default", "one")
	if err != nil || u.Object["port"] != "1" {
		t.Fatal(u, err)
	}
	u.Object["port"] = "2"
	if u, err = w.Update(w.ctx(), cronTabs, "", u); err != nil || u.Object["port"] != "2" {
		t.Errorf("got %v, %v", u, err)
	}
	for ns, want := range map[string]int{"": 1, "default": 1, "other": 0} {
		if list, err := w.List(w.ctx(), cronTabs, ns); err != nil || len(list) != want || want == 1 && list[0].GetName() != "one" {
			t.Errorf("in namespace %q: %v, %v", ns, list, err)
		}
	}
	// What cannot be read can still be counted and named.
	w.put("/registry/example.com/crontabs/default/two", "x")
	list, err := w.ListMetadata(w.ctx(), cronTabs, "")
	if err != nil || len(list) != 2 || list[0].Name != "one" || list[0].UID == "" || list[1].Name != "two" || list[1].Namespace != "default" {
		t.Errorf("got %v, %v", list, err)
	}
	if _, err := w.List(w.ctx(), cronTabs, ""); err == nil {
		t.Error("an unreadable object was listed")
	}
	names, stop := w.follow(w.ctx())
	for _, want := range []string{"default/one", "default/two", "/", "default/one"} {
		if got := <-names; got != want {
			t.Errorf("followed %s, want %s", got, want)
		}
		if want == "/" { // all that exists has been told
			// changes nothing for who follows
			w.put("/registry/apiextensions.k8s.io/customresourcedefinitions/crontabs.example.com", w.definition(catalogtest.V1beta1))
			if err := w.Delete(w.ctx(), cronTabs, "default", "one", metav1.DeleteOptions{}); err != nil {
				t.Error(err)
			}
		}
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
}

// follow follows the CronTabs until stop is called.
func (w *world) follow(ctx context.Context) (names chan string, stop func() error) {
	ctx, cancel := context.WithCancel(ctx)
	names, done := make(chan string), make(chan error, 1)
	go func() {
		done <- w.Follow(ctx, cronTabs, func(namespace, name string) {
			select {
			case names <- namespace + "/" + name:
			case <-ctx.Done():
			}
		})
	}()
	return names, func() error { cancel(); return <-done }
}

// The gateway's own writes pass the stages too, under a name of their own.
func TestStagesOfInternalWrites(t *testing.T) {
	w := newWorld(t)
	u := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "example.com/v1", "kind": "CronTab", "host": "h",
		"metadata": map[string]any{"name": "one", "namespace": "default"}}}
	u, err := w.Create(w.ctx(), cronTabs, u)
	if err != nil {
		t.Fatal(err)
	}
	w.seen()
	u.Object["host"] = "i"
	if _, err = w.Update(w.ctx(), cronTabs, "", u); err != nil {
		t.Fatal(err)
	}
	w.seen()
	w.remove(cronTabs, "default", "one")
	want := []string{"CREATE by system:wasmgate:tester", "UPDATE by system:wasmgate:tester", "DELETE by system:wasmgate:tester"}
	if !slices.Equal(w.asked, want) {
		t.Errorf("asked %q, want %q", w.asked, want)
	}
	if w.Converter.Calls.Load() != 0 {
		t.Error("an internal write needed the converter")
	}
}

// What is beneath a request asks nobody.
func TestWhatIsBeneathARequestAsksNobody(t *testing.T) {
	w := newWorld(t)
	made := w.create(configMaps, configMap("one", `,"finalizers":["example.com/f"]`))
	w.asked = nil
	out, err := w.Edit(w.ctx(), configMaps, "", "default", "one", resource.Edit{Change: func(u *unstructured.Unstructured) error {
		return unstructured.SetNestedField(u.Object, "y", "data", "edited")
	}})
	if data, _, _ := unstructured.NestedStringMap(out.Object, "data"); err != nil || data["edited"] != "y" || data["k"] != "text" {
		t.Errorf("edited %v, %v", data, err)
	}
	w.seen()
	uid := made.GetUID()
	if err := w.UpdateMetadata(w.ctx(), configMaps, "default", "one", metav1.Preconditions{UID: &uid}, func(m metav1.Object) { m.SetFinalizers(nil) }); err != nil {
		t.Error(err)
	}
	if !slices.Equal(w.asked, []string{"UPDATE by system:wasmgate:tester"}) { // of metadata it is
		t.Errorf("asked %q", w.asked)
	}
	w.asked = nil
	no := errors.New("no")
	if err := w.Remove(w.ctx(), configMaps, "default", "one", metav1.DeleteOptions{}, func(*unstructured.Unstructured) error { return no }); !errors.Is(err, no) {
		t.Errorf("got %v", err)
	}
	if err := w.Remove(w.ctx(), configMaps, "default", "one", metav1.DeleteOptions{}, func(*unstructured.Unstructured) error { return nil }); err != nil || w.asked != nil {
		t.Errorf("%v, asked %v", err, w.asked)
	}
	w.seen()
	if _, err := w.Get(w.ctx(), configMaps, "default", "one"); !apierrors.IsNotFound(err) {
		t.Errorf("got %v", err)
	}
}

// A sample is spread over what is stored, and asks no converter.
func TestASampleIsSpread(t *testing.T) {
	w := newWorld(t)
	for _, name := range []string{"a", "b", "c", "d", "e", "f"} {
		w.create(configMaps, configMap(name, ``))
	}
	w.put("/registry/example.com/crontabs/default/odd", "x")
	w.create(cronTabs, tab(v1, "one", "h", "1", `"namespace":"default"`))
	w.seen()
	for most, want := range map[int]string{0: "[]", 1: "[a]", 3: "[a c e]", 100: "[a b c d e f]"} {
		sample, err := w.Client.Sample(configMaps, most)
		var names []string
		for _, data := range sample {
			obj := &unstructured.Unstructured{}
			if err := obj.UnmarshalJSON(data); err != nil {
				t.Fatal(err)
			}
			names = append(names, obj.GetName())
		}
		if err != nil || fmt.Sprint(names) != want {
			t.Errorf("%d at most: %v, %v; want %s", most, names, err, want)
		}
	}
	calls := w.Converter.Calls.Load()
	if sample, err := w.Client.Sample(cronTabs, 10); err != nil || len(sample) != 1 || w.Converter.Calls.Load() != calls {
		t.Errorf("%s, %v, with %d conversions", sample, err, w.Converter.Calls.Load()-calls)
	}
}

// Who visits objects reads those that it asks for, and stops with its own error.
func TestObjectsAreVisited(t *testing.T) {
	w := newWorld(t)
	for _, name := range []string{"a", "b", "c"} {
		w.create(configMaps, configMap(name, ``))
	}
	w.seen()
	enough := errors.New("enough")
	for last, want := range map[string]error{"c": nil, "b": enough} {
		var names []string
		err := w.Visit(w.ctx(), configMaps, "default", func(name string, revision int64, read func() (*unstructured.Unstructured, error)) error {
			obj, err := read()
			if err != nil || obj.GetName() != name || obj.GetResourceVersion() != strconv.FormatInt(revision, 10) {
				t.Errorf("%s at %d: %v, %v", name, revision, obj, err)
			}
			if names = append(names, name); name == last {
				return want
			}
			return nil
		})
		if !errors.Is(err, want) || names[len(names)-1] != last {
			t.Errorf("%q are visited: %v", names, err)
		}
	}
	if err := w.Visit(w.ctx(), configMaps, "other", func(string, int64, func() (*unstructured.Unstructured, error)) error { return enough }); err != nil {
		t.Errorf("in another namespace: %v", err)
	}
}

// What is stored is there as JSON, as it was written; what is not, is not found.
func TestStoredObjectsAsTheyAre(t *testing.T) {
	w := newWorld(t)
	made := w.create(configMaps, configMap("one", ``))
	w.put("/registry/example.com/crontabs/default/odd", "x")
	w.seen()
	data, err := w.Client.Stored(configMaps, "default", "one")
	obj := &unstructured.Unstructured{}
	if err != nil || obj.UnmarshalJSON(data) != nil || obj.GetUID() != made.GetUID() || obj.GetResourceVersion() != made.GetResourceVersion() || len(obj.GetManagedFields()) > 0 {
		t.Errorf("%s, %v", data, err)
	}
	if data, err := w.Client.Stored(configMaps, "default", "two"); !apierrors.IsNotFound(err) {
		t.Errorf("what is not there: %s, %v", data, err)
	}
	if data, err := w.Client.Stored(cronTabs, "default", "odd"); err == nil || apierrors.IsNotFound(err) {
		t.Errorf("what cannot be read: %s, %v", data, err)
	}
	m, err := w.GetMetadata(w.ctx(), configMaps, "default", "one")
	if err != nil || m.UID != made.GetUID() || m.Name != "one" || m.Namespace != "default" {
		t.Errorf("its metadata: %+v, %v", m, err)
	}
	if m, err := w.GetMetadata(w.ctx(), cronTabs, "default", "odd"); err == nil {
		t.Errorf("the metadata of what cannot be read: %+v", m)
	}
}

// A merge patch changes what it names, and passes on why it cannot.
func TestMergePatchesOfTheGateway(t *testing.T) {
	w := newWorld(t)
	w.create(configMaps, configMap("one", ``))
	w.seen()
	if err := w.MergePatch(w.ctx(), configMaps, "default", "one", map[string]any{"data": map[string]any{"more": "y"}}); err != nil {
		t.Fatal(err)
	}
	w.seen()
	obj, err := w.Get(w.ctx(), configMaps, "default", "one")
	if err != nil {
		t.Fatal(err)
	}
	if data, _, _ := unstructured.NestedStringMap(obj.Object, "data"); data["more"] != "y" || data["k"] != "text" {
		t.Errorf("it becomes %v", data)
	}
	if err := w.MergePatch(w.ctx(), configMaps, "default", "two", map[string]any{}); !apierrors.IsNotFound(err) {
		t.Errorf("of what is not there: %v", err)
	}
	if err := w.MergePatch(w.ctx(), configMaps, "default", "one", map[string]any{"a": make(chan int)}); err == nil {
		t.Error("what is no JSON is a patch")
	}
}

// A kind that is not served has nothing, and whoever asks for owners is told that
// nobody knows.
func TestAKindThatIsNotServed(t *testing.T) {
	w := newWorld(t)
	one := &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": "one"}}}
	for what, err := range map[string]error{
		"get":             second(w.Get(w.ctx(), none, "", "one")),
		"get of metadata": second(w.GetMetadata(w.ctx(), none, "", "one")),
		"list":            second(w.List(w.ctx(), none, "")),
		"list of names":   second(w.ListMetadata(w.ctx(), none, "")),
		"visit":           w.Visit(w.ctx(), none, "", nil),
		"stored":          second(w.Client.Stored(none, "", "one")),
		"sample":          second(w.Client.Sample(none, 1)),
		"create":          second(w.Create(w.ctx(), none, one)),
		"update":          second(w.Update(w.ctx(), none, "", one)),
		"delete":          w.Delete(w.ctx(), none, "", "one", metav1.DeleteOptions{}),
		"edit":            second(w.Edit(w.ctx(), none, "", "", "one", resource.Edit{})),
		"remove":          w.Remove(w.ctx(), none, "", "one", metav1.DeleteOptions{}, nil),
		"merge patch":     w.MergePatch(w.ctx(), none, "", "one", nil),
		"metadata":        w.UpdateMetadata(w.ctx(), none, "", "one", metav1.Preconditions{}, nil),
		"follow":          w.Follow(w.ctx(), none, nil),
		"feed":            second(w.Feed(none)),
	} {
		if !apierrors.IsNotFound(err) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := w.Ownership(w.ctx(), none, "", "x", false); !meta.IsNoMatchError(err) {
		t.Errorf("of no kind: %v", err)
	}
}

func second[T any](_ T, err error) error { return err }

// The definitions are those that the cache has seen, all of them.
func TestKindsAreWhatTheCacheHasSeen(t *testing.T) {
	w := newWorld(t)
	kinds, err := w.Kinds(w.ctx())
	if err != nil {
		t.Fatal(err)
	}
	found := false
	for _, k := range kinds {
		found = found || k.GroupResource() == cronTabs
	}
	if !found {
		t.Errorf("%d kinds, and no CronTab among them", len(kinds))
	}
}

// Who follows a kind over a gap of the history starts over; without a store nothing
// is fresh.
func TestFollowersOverAGapOfTheHistory_WATCH05(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.create(cronTabs, tab(v1, "one", "h", "1", `"namespace":"default"`))
		names, stop := w.follow(w.ctx())
		if one, told := <-names, <-names; one != "default/one" || told != "/" {
			t.Errorf("followed %s, %s", one, told)
		}
		w.Store.Down(errors.New("away"))
		synctest.Wait()
		if err := w.Fresh(w.ctx()); storage.KindOf(err) != storage.Unavailable {
			t.Errorf("fresh without a store: %v", err)
		}
		rev := w.Store.Apply(storage.Event{KV: storage.KV{Key: "/registry/example.com/crontabs/default/two", Value: []byte(tab(v1, "two", "h", "2"))}})
		if err := w.Store.Compact(t.Context(), rev); err != nil {
			t.Fatal(err)
		}
		w.Store.Down(nil)
		for _, want := range []string{"default/one", "default/two", "/"} {
			if got := <-names; got != want {
				t.Errorf("followed %s, want %s", got, want)
			}
		}
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}
