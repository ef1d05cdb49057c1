package resource

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// ready tells whether a channel is closed.
func ready(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// next is what a feed tells, one word for each object.
func next(t *testing.T, f *Feed) (words []string, anew bool) {
	t.Helper()
	for more := true; more; {
		var again bool
		var err error
		again, more, err = f.Next(func(m *metav1.ObjectMeta, gone bool) {
			word := m.Namespace + "/" + m.Name
			if gone {
				word = "-" + word
			}
			for _, r := range m.OwnerReferences {
				word += " <" + string(r.UID)
			}
			if m.UID == "" {
				word += " ?"
			}
			words = append(words, word)
		})
		if err != nil {
			t.Fatal(err)
		}
		anew = anew || again
	}
	return words, anew
}

func TestFeedTellsEveryChangeOfOwnersOnce(t *testing.T) {
	w := newWorld(t)
	in := w.Internal(Component("garbage-collector"))
	maps := w.builtin("configmaps", "default", "")
	w.create(maps, configMap("one", "text"))
	w.putAt("/registry/configmaps/default/bad", "no object")
	w.wait(w.revision())
	f, err := in.Feed(schema.GroupResource{Resource: "configmaps"})
	if err != nil {
		t.Fatal(err)
	}
	if !ready(f.Wait()) {
		t.Error("there is nothing to tell at first")
	}
	words, anew := next(t, f)
	if !anew || !slices.Equal(words, []string{"default/bad ?", "default/one"}) {
		t.Errorf("told %v, anew: %v", words, anew)
	}
	if ready(f.Wait()) {
		t.Error("there is more to tell")
	}
	if words, anew := next(t, f); words != nil || anew {
		t.Errorf("told %v, anew: %v", words, anew)
	}
	waiting := f.Wait()
	two := strings.Replace(configMap("two", "text"), `"name":"two"`, `"name":"two","ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"one","uid":"uid-one"}]`, 1)
	w.create(maps, two)
	one := maps
	one.Name = "two"
	if _, err := w.Engine.Delete(w.ctx(), one, &metav1.DeleteOptions{}, WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	w.wait(w.revision())
	if !ready(waiting) {
		t.Error("nobody is woken")
	}
	if words, anew := next(t, f); anew || !slices.Equal(words, []string{"default/two <uid-one", "-default/two <uid-one"}) {
		t.Errorf("told %v, anew: %v", words, anew)
	}
}

// A backlog is told in parts, none of which is lost.
func TestFeedTellsInParts(t *testing.T) {
	w := newWorld(t)
	f, err := w.Internal(Component("garbage-collector")).Feed(schema.GroupResource{Resource: "configmaps"})
	if err != nil {
		t.Fatal(err)
	}
	next(t, f)
	for i := range maxChanges + 1 {
		w.putAt(fmt.Sprintf("/registry/configmaps/default/%d", i), `{"metadata":{"name":"x","namespace":"default","uid":"u"}}`)
	}
	w.wait(w.revision())
	told := 0
	count := func(*metav1.ObjectMeta, bool) { told++ }
	if anew, more, err := f.Next(count); anew || !more || err != nil || told != maxChanges {
		t.Errorf("anew: %v, more: %v, %d told, %v", anew, more, told, err)
	}
	if anew, more, err := f.Next(count); anew || more || err != nil || told != maxChanges+1 {
		t.Errorf("anew: %v, more: %v, %d told, %v", anew, more, told, err)
	}
}

func TestOwnershipOfWhatIsCachedAndStored(t *testing.T) {
	w := newWorld(t)
	in := w.Internal(Component("garbage-collector"))
	gr := schema.GroupResource{Resource: "configmaps"}
	maps := w.builtin("configmaps", "default", "")
	made := w.create(maps, strings.Replace(configMap("one", "text"), `"name":"one"`,
		`"name":"one","finalizers":["orphan"],"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"o","uid":"uid-o","blockOwnerDeletion":true}]`, 1))
	w.putAt("/registry/configmaps/default/bad", "no object")
	w.putAt("/registry/configmaps/default/json", `{"metadata":{"uid":"uid-json","deletionTimestamp":"2026-01-02T03:04:05Z","finalizers":["f"]}}`)
	w.wait(w.revision())
	for _, live := range []bool{false, true} {
		m, err := in.Ownership(w.ctx(), gr, "default", "one", live)
		if err != nil || m.UID != made.GetUID() || m.ResourceVersion != made.GetResourceVersion() || len(m.OwnerReferences) != 1 ||
			!*m.OwnerReferences[0].BlockOwnerDeletion || !slices.Equal(m.Finalizers, []string{"orphan"}) || m.DeletionTimestamp != nil {
			t.Errorf("live: %v: got %+v, %v", live, m, err)
		}
		m, err = in.Ownership(w.ctx(), gr, "default", "json", live)
		if err != nil || m.UID != "uid-json" || m.Name != "json" || m.DeletionTimestamp.Second() != 5 || !slices.Equal(m.Finalizers, []string{"f"}) {
			t.Errorf("live: %v: got %+v, %v", live, m, err)
		}
		if m, err = in.Ownership(w.ctx(), gr, "default", "bad", live); err != nil || m.UID != "" || m.Name != "bad" || m.Namespace != "default" {
			t.Errorf("live: %v: got %+v, %v", live, m, err)
		}
		if _, err = in.Ownership(w.ctx(), gr, "default", "none", live); !apierrors.IsNotFound(err) {
			t.Errorf("live: %v: %v", live, err)
		}
	}
	ctx, cancel := context.WithCancel(w.ctx())
	cancel()
	if _, err := in.Ownership(ctx, gr, "default", "none", true); err == nil || apierrors.IsNotFound(err) {
		t.Errorf("nobody was asked: %v", err)
	}
}

// putAt writes past all stages.
func (w *world) putAt(key, text string) {
	w.t.Helper()
	if _, err := w.store.Create(w.ctx(), key, []byte(text), 0); err != nil {
		w.t.Fatal(err)
	}
}
