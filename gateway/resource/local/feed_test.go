package local_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wasmgate/wasmgate/gateway/resource/local"
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
func next(t *testing.T, f *local.Feed) (words []string, anew bool) {
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
	w.create(configMaps, configMap("one", ""))
	w.put("/registry/configmaps/default/bad", "no object")
	f, err := w.Feed(configMaps)
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
	w.create(configMaps, configMap("two", `,"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"one","uid":"uid-one"}]`))
	w.remove(configMaps, "default", "two")
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
	f, err := w.Feed(configMaps)
	if err != nil {
		t.Fatal(err)
	}
	next(t, f)
	for i := range local.MaxEvents + 1 {
		w.put(fmt.Sprintf("/registry/configmaps/default/%d", i), `{"metadata":{"name":"x","namespace":"default","uid":"u"}}`)
	}
	told := 0
	count := func(*metav1.ObjectMeta, bool) { told++ }
	if anew, more, err := f.Next(count); anew || !more || err != nil || told != local.MaxEvents {
		t.Errorf("anew: %v, more: %v, %d told, %v", anew, more, told, err)
	}
	if anew, more, err := f.Next(count); anew || more || err != nil || told != local.MaxEvents+1 {
		t.Errorf("anew: %v, more: %v, %d told, %v", anew, more, told, err)
	}
}

func TestOwnershipOfWhatIsCachedAndStored(t *testing.T) {
	w := newWorld(t)
	made := w.create(configMaps, configMap("one", `,"finalizers":["orphan"],"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"o","uid":"uid-o","blockOwnerDeletion":true}]`))
	w.put("/registry/configmaps/default/bad", "no object")
	w.put("/registry/configmaps/default/json", `{"metadata":{"uid":"uid-json","deletionTimestamp":"2026-01-02T03:04:05Z","finalizers":["f"]}}`)
	for _, live := range []bool{false, true} {
		m, err := w.Ownership(w.ctx(), configMaps, "default", "one", live)
		if err != nil || m.UID != made.GetUID() || m.ResourceVersion != made.GetResourceVersion() || len(m.OwnerReferences) != 1 ||
			!*m.OwnerReferences[0].BlockOwnerDeletion || !slices.Equal(m.Finalizers, []string{"orphan"}) || m.DeletionTimestamp != nil {
			t.Errorf("live: %v: got %+v, %v", live, m, err)
		}
		m, err = w.Ownership(w.ctx(), configMaps, "default", "json", live)
		if err != nil || m.UID != "uid-json" || m.Name != "json" || m.DeletionTimestamp.Second() != 5 || !slices.Equal(m.Finalizers, []string{"f"}) {
			t.Errorf("live: %v: got %+v, %v", live, m, err)
		}
		if m, err = w.Ownership(w.ctx(), configMaps, "default", "bad", live); err != nil || m.UID != "" || m.Name != "bad" || m.Namespace != "default" {
			t.Errorf("live: %v: got %+v, %v", live, m, err)
		}
		if _, err = w.Ownership(w.ctx(), configMaps, "default", "none", live); !apierrors.IsNotFound(err) {
			t.Errorf("live: %v: %v", live, err)
		}
	}
	ctx, cancel := context.WithCancel(w.ctx())
	cancel()
	if _, err := w.Ownership(ctx, configMaps, "default", "none", true); err == nil || apierrors.IsNotFound(err) {
		t.Errorf("nobody was asked: %v", err)
	}
}
