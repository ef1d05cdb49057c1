package controllertest

import (
	"context"
	"slices"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// Feeding tells what becomes of a kind's objects.
type Feeding interface {
	// Wait returns a channel that is closed once Next has something to tell.
	Wait() <-chan struct{}
	// Next calls fn for what changed since the last call, first for all that there is.
	Next(fn func(m *metav1.ObjectMeta, gone bool)) (anew, more bool, err error)
}

func metadataUpdates(t *testing.T, w World) {
	a := MustCreate(t, w, CronTabs, ObjectTree("work", "a", "example.com/hold"))
	update := func(name string, p metav1.Preconditions, finalizers ...string) error {
		return w.UpdateMetadata(context.Background(), CronTabs, "work", name, p, func(m metav1.Object) { m.SetFinalizers(finalizers) })
	}
	uid, another, revision, old := a.GetUID(), types.UID("another"), a.GetResourceVersion(), "1"
	for what, p := range map[string]metav1.Preconditions{"uid": {UID: &another}, "resourceVersion": {UID: &uid, ResourceVersion: &old}} {
		if err := update("a", p); !apierrors.IsConflict(err) {
			t.Errorf("another %s: %v", what, err)
		}
	}
	if err := update("none", metav1.Preconditions{}); !apierrors.IsNotFound(err) {
		t.Errorf("an object that is not there: %v", err)
	}
	seen := metav1.Preconditions{UID: &uid, ResourceVersion: &revision}
	if err := update("a", seen, "example.com/hold"); err != nil || now(t, w, CronTabs, "work", "a").GetResourceVersion() != revision {
		t.Errorf("what changes nothing is written: %v", err)
	}
	if err := update("a", seen); err != nil || now(t, w, CronTabs, "work", "a").GetFinalizers() != nil {
		t.Errorf("it is held still: %v", err)
	}
	MustCreate(t, w, CronTabs, ObjectTree("work", "b", "example.com/hold"))
	remove(t, w, CronTabs, "work", "b")
	if err := update("b", metav1.Preconditions{}); err != nil || !gone(t, w, CronTabs, "work", "b") {
		t.Errorf("without finalizers it is there still: %v", err)
	}
}

func propagates(t *testing.T, w World) {
	a := MustCreate(t, w, CronTabs, ObjectTree("work", "a"))
	old := a.GetResourceVersion() + "0"
	err := w.Delete(context.Background(), CronTabs, "work", "a", metav1.DeleteOptions{Preconditions: &metav1.Preconditions{ResourceVersion: &old}})
	if !apierrors.IsConflict(err) {
		t.Errorf("another state: %v", err)
	}
	for _, c := range []struct {
		policy metav1.DeletionPropagation
		want   string
	}{{metav1.DeletePropagationForeground, metav1.FinalizerDeleteDependents}, {metav1.DeletePropagationOrphan, metav1.FinalizerOrphanDependents}, {metav1.DeletePropagationBackground, ""}} {
		if err := w.Delete(context.Background(), CronTabs, "work", "a", metav1.DeleteOptions{PropagationPolicy: &c.policy}); err != nil {
			t.Fatal(err)
		}
		if c.want == "" {
			if !gone(t, w, CronTabs, "work", "a") {
				t.Error("it is there still")
			}
			return
		}
		obj := now(t, w, CronTabs, "work", "a")
		if got := obj.GetFinalizers(); !slices.Equal(got, []string{c.want}) || obj.GetDeletionTimestamp() == nil {
			t.Errorf("%s: %v", c.policy, obj.Object)
		}
	}
}

func owns(t *testing.T, w World) {
	tree := ObjectTree("work", "a", "example.com/hold")
	tree["metadata"].(map[string]any)["ownerReferences"] = []any{map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "name": "o", "uid": "uid-o"}}
	a := MustCreate(t, w, CronTabs, tree)
	catchUp(t, w)
	for _, live := range []bool{false, true} {
		m, err := w.Ownership(context.Background(), CronTabs, "work", "a", live)
		if err != nil || m.UID != a.GetUID() || m.ResourceVersion != a.GetResourceVersion() || m.Namespace != "work" || m.Name != "a" ||
			len(m.OwnerReferences) != 1 || m.OwnerReferences[0].UID != "uid-o" || !slices.Equal(m.Finalizers, []string{"example.com/hold"}) {
			t.Errorf("live %v: %+v, %v", live, m, err)
		}
		if _, err := w.Ownership(context.Background(), CronTabs, "work", "none", live); !apierrors.IsNotFound(err) {
			t.Errorf("live %v, an object that is not there: %v", live, err)
		}
	}
	if _, err := w.Ownership(context.Background(), schema.GroupResource{Resource: "nothings"}, "", "a", false); !meta.IsNoMatchError(err) {
		t.Errorf("of no kind: %v", err)
	}
}

func feeds(t *testing.T, w World) {
	MustCreate(t, w, CronTabs, ObjectTree("work", "before"))
	catchUp(t, w)
	f, err := w.Feed(CronTabs)
	if err != nil {
		t.Fatal(err)
	}
	next := func(wantAnew bool, want ...string) {
		t.Helper()
		select {
		case <-f.Wait():
		default:
			t.Error("there is nothing to tell")
		}
		var told []string
		anew, _, err := f.Next(func(m *metav1.ObjectMeta, gone bool) {
			word := m.Name
			if gone {
				word = "-" + word
			}
			told = append(told, word)
		})
		if slices.Sort(told); err != nil || anew != wantAnew || !slices.Equal(told, want) {
			t.Errorf("told %q, anew %v, %v, want %q", told, anew, err, want)
		}
		select {
		case <-f.Wait():
			t.Error("there is more to tell")
		default:
		}
	}
	next(true, "before")
	waiting := f.Wait()
	MustCreate(t, w, CronTabs, ObjectTree("work", "after"))
	remove(t, w, CronTabs, "work", "before")
	catchUp(t, w)
	<-waiting
	next(false, "-before", "after")
}
