package garbage_test

import (
	"bytes"
	"context"
	"strings"
	"sync/atomic"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wasmgate/wasmgate/gateway/controller"
)

var eventKind = schema.GroupResource{Resource: "events"}

// nobody is an owner that never was.
func nobody(kind string) made {
	return made{ref: metav1.OwnerReference{APIVersion: "v1", Kind: kind, Name: "nobody", UID: "uid-nobody"}}
}

// reports are the events about references across namespaces, by the object
// involved.
func (w *world) reports() map[string]*unstructured.Unstructured {
	w.t.Helper()
	return w.eventsOf("OwnerRefInvalidNamespace")
}

// eventsOf are the events of a reason, by the object involved.
func (w *world) eventsOf(reason string) map[string]*unstructured.Unstructured {
	w.t.Helper()
	if err := w.Client.Fresh(w.ctx()); err != nil {
		w.t.Fatal(err)
	}
	all, err := w.Client.List(w.ctx(), eventKind, "")
	if err != nil {
		w.t.Fatal(err)
	}
	out := map[string]*unstructured.Unstructured{}
	for _, e := range all {
		if is, _, _ := unstructured.NestedString(e.Object, "reason"); is == reason {
			name, _, _ := unstructured.NestedString(e.Object, "involvedObject", "name")
			out[name] = e
		}
	}
	return out
}

func TestOwnersThatNeverWereKeepNothing_DEL05(t *testing.T) {
	w := newWorld(t)
	w.collect()
	other := w.create(key(maps, "other"), nil, nil, nil)
	one := w.create(key(maps, "one"), nil, nil, []made{nobody("ConfigMap")})
	two := w.create(key(tabs, "two"), nil, nil, []made{nobody("ConfigMap"), other})
	w.becomes(one, "-")
	w.becomes(two, "other")
	// Nor does one that is gone when the reference is made.
	w.delete(other, background)
	late := w.create(key(maps, "late"), nil, nil, []made{other})
	w.becomes(two, "-")
	w.becomes(late, "-")
}

// stale does not find some owners in its cache.
type stale struct {
	*world
	hidden types.UID
	asked  atomic.Int32
}

func (s *stale) Ownership(ctx context.Context, gr schema.GroupResource, namespace, name string, live bool) (*metav1.ObjectMeta, error) {
	m, err := s.world.Ownership(ctx, gr, namespace, name, live)
	if err == nil && m.UID == s.hidden {
		if live {
			s.asked.Add(1)
			return m, nil
		}
		return nil, apierrors.NewNotFound(gr, name)
	}
	return m, err
}

// That the cache has no owner is not enough.
func TestAbsenceIsAskedOfTheStore_DEL05(t *testing.T) {
	w := newWorld(t)
	owner := w.create(key(maps, "owner"), nil, nil, nil)
	one := w.create(key(tabs, "one"), nil, nil, []made{owner})
	s := &stale{world: w, hidden: owner.ref.UID}
	w.collectWith(s)
	w.eventually("the store is asked", func() bool { return s.asked.Load() > 0 })
	never := w.create(key(tabs, "never"), nil, nil, []made{nobody("Secret")})
	w.becomes(never, "-")
	w.is(one, "owner")
	w.deletes("never Background")
}

// The store is asked once for each owner, not for each dependent.
func TestAbsenceIsAskedOnce(t *testing.T) {
	w := newWorld(t)
	var asked atomic.Int32
	w.failing(func(op string, k controller.Key) error {
		if op == "live" && k.Name == "nobody" {
			asked.Add(1)
		}
		if op == "delete" {
			return apierrors.NewInternalError(context.Canceled)
		}
		return nil
	})
	first := w.create(key(maps, "first"), nil, nil, []made{nobody("ConfigMap")})
	w.collect()
	w.eventually("it is asked", func() bool { return asked.Load() > 0 })
	w.failing(func(op string, k controller.Key) error {
		if op == "live" && k.Name == "nobody" {
			asked.Add(1)
		}
		return nil
	})
	w.becomes(first, "-")
	if n := asked.Load(); n != 1 {
		t.Errorf("asked %d times", n)
	}
}

func TestOwnersInAnotherNamespaceAreAbsentAndReported_DEL05(t *testing.T) {
	w := newWorld(t)
	far := w.create(elsewhere(maps, "far"), nil, nil, nil)
	other := w.create(key(maps, "other"), nil, nil, nil)
	w.collect()
	one := w.create(key(maps, "one"), nil, nil, []made{far})
	two := w.create(key(tabs, "two"), nil, nil, []made{far})
	shared := w.create(key(maps, "shared"), nil, nil, []made{far, other})
	gone := w.create(key(maps, "gone"), nil, nil, []made{nobody("ConfigMap")})
	w.becomes(one, "-")
	w.becomes(two, "-")
	w.becomes(shared, "other")
	w.becomes(gone, "-")
	w.is(far, "")
	reports := w.reports()
	if len(reports) != 3 || reports["one"] == nil || reports["two"] == nil || reports["shared"] == nil {
		t.Fatalf("reported %v", reports)
	}
	e := reports["two"].Object
	for path, want := range map[string]string{
		"type": "Warning", "metadata.namespace": "default", "involvedObject.namespace": "default", "involvedObject.kind": "CronTab",
		"involvedObject.apiVersion": "example.com/v1", "involvedObject.uid": string(two.ref.UID), "source.component": "garbage-collector-controller",
		"message": `ownerRef [v1/ConfigMap, namespace: default, name: far, uid: ` + string(far.ref.UID) + `] does not exist in namespace "default"`,
	} {
		if got, _, _ := unstructured.NestedString(e, strings.Split(path, ".")...); got != want {
			t.Errorf("%s is %q, want %q", path, got, want)
		}
	}
}

// In which namespace an owner of an object in none would be nobody can tell.
func TestOwnersInANamespaceDoNotOwnWhatIsInNone_DEL05(t *testing.T) {
	w := newWorld(t)
	w.define(fleet)
	owner := w.create(key(maps, "owner"), nil, nil, nil)
	one := w.create(key(fleets, "one"), nil, nil, []made{owner})
	w.collect()
	w.eventually("it is reported", func() bool { return w.reports()["one"] != nil })
	if e := w.reports()["one"]; e.GetNamespace() != "default" {
		t.Errorf("reported in %q", e.GetNamespace())
	}
	w.delete(owner, background)
	end := w.create(key(maps, "end"), nil, nil, []made{owner})
	w.becomes(end, "-")
	w.is(one, "owner") // which was woken before end was
	second := w.create(key(maps, "second"), nil, nil, []made{owner})
	w.becomes(second, "-")
	w.is(one, "owner")
}

// An owner that was seen to go is the one that is meant where nothing but its kind's
// definition is missing: not one of another kind, or place, that has its uid.
func TestAnOwnerThatWentIsKnownByAllThatNamesIt_DEL05(t *testing.T) {
	w := newWorld(t)
	owner := w.create(key(maps, "owner"), nil, nil, nil)
	as := func(name string, ref func(*metav1.OwnerReference)) made {
		m := owner
		ref(&m.ref)
		return w.create(key(tabs, name), nil, nil, []made{m})
	}
	unserved := as("unserved", func(r *metav1.OwnerReference) { r.APIVersion, r.Kind = "example.com/v1", "Ship" })
	grouped := as("grouped", func(r *metav1.OwnerReference) { r.APIVersion = "example.com/v1" })
	renamed := as("renamed", func(r *metav1.OwnerReference) { r.Name = "another" })
	right := as("right", func(*metav1.OwnerReference) {})
	stop := w.collect()
	w.becomes(renamed, "-")
	w.delete(owner, background)
	w.becomes(right, "-")
	w.keeps(unserved, "owner", stop)
	w.is(grouped, "owner")
}

// A report that cannot be made holds nothing up.
func TestReportsHoldNothingUp(t *testing.T) {
	w := newWorld(t)
	far := w.create(elsewhere(maps, "far"), nil, nil, nil)
	one := w.create(key(maps, strings.Repeat("x", 253)), nil, nil, []made{far})
	w.failing(func(op string, _ controller.Key) error {
		if op == "create" {
			return apierrors.NewForbidden(eventKind, "", context.Canceled)
		}
		return nil
	})
	w.collect()
	w.becomes(one, "-")
	w.failing(nil)
	long := w.create(key(tabs, strings.Repeat("y", 253)), nil, nil, []made{far})
	w.becomes(long, "-")
	if r := w.reports(); len(r) != 1 || r[long.Name] == nil {
		t.Errorf("reported %v", r)
	}
}

// An owner of a kind that is not served may exist; once it is served, that is
// found out.
func TestKindsThatAreNotServedYet_DEL05(t *testing.T) {
	w := newWorld(t)
	never := made{ref: metav1.OwnerReference{APIVersion: "example.com/v1", Kind: "Fleet", Name: "nobody", UID: "uid-nobody"}}
	one := w.create(key(maps, "one"), nil, nil, []made{never})
	w.collect()
	end := w.create(key(tabs, "end"), nil, nil, []made{nobody("ConfigMap")})
	w.becomes(end, "-")
	w.is(one, "nobody")
	w.define(fleet)
	w.becomes(one, "-")
}

// A kind that is followed may get another name; what goes then went under that one.
func TestKindsThatAreCalledOtherwise_DEL05(t *testing.T) {
	w := newWorld(t)
	w.define(fleet)
	w.collect()
	never := made{ref: metav1.OwnerReference{APIVersion: "example.com/v1", Kind: "Armada", Name: "nobody", UID: "uid-nobody"}}
	first := w.create(key(maps, "first"), nil, nil, []made{never})
	w.rewrite("/registry/apiextensions.k8s.io/customresourcedefinitions/fleets.example.com", func(was []byte) []byte {
		return bytes.ReplaceAll(was, []byte(`"Fleet`), []byte(`"Armada`))
	})
	w.becomes(first, "-") // so that is known
	var looks atomic.Int32
	w.failing(func(op string, k controller.Key) error {
		if op == "look" && k.Name == "owner" {
			looks.Add(1)
		}
		if op == "delete" && k.Name == "one" {
			return apierrors.NewInternalError(context.Canceled)
		}
		return nil
	})
	owner := w.create(key(fleets, "owner"), nil, nil, nil)
	one := w.create(key(maps, "one"), nil, nil, []made{owner})
	w.eventually("its owner is looked for", func() bool { return looks.Load() > 0 })
	w.delete(owner, background)
	w.undefine("fleets.example.com")
	w.define(strings.NewReplacer("fleet", "ship", "Fleet", "Ship").Replace(fleet))
	never.ref.Kind = "Ship"
	second := w.create(key(maps, "second"), nil, nil, []made{never})
	w.becomes(second, "-") // so that they are followed no longer is known
	w.failing(nil)
	w.becomes(one, "-")
}

// What an owner leaves whose definition went after it is found all the same.
func TestDefinitionsGoAfterTheirObjects_DEL05(t *testing.T) {
	w := newWorld(t)
	w.define(fleet)
	owner := w.create(key(fleets, "owner"), nil, nil, nil)
	one := w.create(key(maps, "one"), nil, nil, []made{owner})
	never := owner
	never.ref.UID = "another"
	first := w.create(key(maps, "first"), nil, nil, []made{never})
	w.collect()
	w.becomes(first, "-") // so fleets are followed
	w.delete(owner, background)
	w.undefine("fleets.example.com")
	w.becomes(one, "-")
}

// Who takes the collection over finds what happened while nobody had it.
func TestRestartsLoseNothing_DEL05(t *testing.T) {
	w := newWorld(t)
	stop := w.collect()
	owner := w.create(key(maps, "owner"), nil, nil, nil)
	front := w.create(key(tabs, "front"), nil, nil, nil)
	one := w.create(key(maps, "one"), nil, nil, []made{owner})
	two := w.create(key(maps, "two"), []string{"example.com/f"}, []made{front}, nil)
	w.delete(front, foreground)
	w.becomes(two, "[front] deleting example.com/f")
	stop()
	w.delete(owner, background)
	w.loosen(two, "example.com/f")
	w.is(one, "owner")
	w.is(front, "deleting foregroundDeletion")
	w.collect()
	w.becomes(one, "-")
	w.becomes(front, "-")
}

// An object that cannot be read may be the owner that is meant; when it goes,
// nobody knows whose owner it was, and everything is looked at.
func TestUnreadableOwners(t *testing.T) {
	w := newWorld(t)
	w.put("/registry/configmaps/default/owner", "no object")
	one := w.create(key(tabs, "one"), nil, nil, []made{{ref: metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: "owner", UID: "x"}}})
	w.collect()
	end := w.create(key(tabs, "end"), nil, nil, []made{nobody("ConfigMap")})
	w.becomes(end, "-")
	w.is(one, "owner")
	kv, err := w.store.Get(w.ctx(), "/registry/configmaps/default/owner")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.store.Delete(w.ctx(), kv.Key, kv.Revision); err != nil {
		t.Fatal(err)
	}
	w.becomes(one, "-")
}

// A definition that goes before its objects, as when somebody takes its finalizer
// away, takes nothing with it: the objects may be served again.
func TestOwnersOfAKindThatIsServedNoLongerKeepWhatTheyOwn(t *testing.T) {
	w := newWorld(t)
	w.define(fleet)
	owner := w.create(key(fleets, "owner"), nil, nil, nil)
	one := w.create(key(maps, "one"), nil, nil, []made{owner})
	never := owner
	never.ref.UID = "another"
	first := w.create(key(maps, "first"), nil, nil, []made{never})
	stop := w.collect()
	w.becomes(first, "-") // so fleets are followed
	var looks atomic.Int32
	w.failing(func(op string, k controller.Key) error {
		if op == "look" && k.Name == "one" {
			looks.Add(1)
		}
		return nil
	})
	w.undefine("fleets.example.com")
	w.eventually("what has owners is looked at", func() bool { return looks.Load() > 0 })
	w.keeps(one, "owner", stop)
}

// A kind that is gone from one moment to the next, while an owner of it is
// looked for, has not lost the owner.
func TestAnOwnerIsNotAbsentForWantOfItsKind(t *testing.T) {
	w := newWorld(t)
	w.define(fleet)
	owner := w.create(key(fleets, "owner"), nil, nil, nil)
	one := w.create(key(maps, "one"), nil, nil, []made{owner})
	var looks atomic.Int32
	w.failing(func(_ string, k controller.Key) error {
		if k.GroupResource != fleets || k.Name != "owner" {
			return nil
		}
		looks.Add(1)
		_, err := w.Client.Ownership(t.Context(), schema.GroupResource{Group: "example.com", Resource: "none"}, "", "owner", false)
		return err
	})
	stop := w.collect()
	w.eventually("the owner is looked for", func() bool { return looks.Load() > 0 })
	w.keeps(one, "owner", stop)
}

// A definition whose objects are being looked at may be removed: they go with
// it and are not missed.
func TestKindsThatAreServedNoLonger(t *testing.T) {
	w := newWorld(t)
	w.define(fleet)
	owner := w.create(key(fleets, "owner"), nil, nil, nil)
	one := w.create(key(fleets, "one"), nil, []made{owner}, nil)
	w.collect()
	w.becomes(one, "[owner]")
	w.undefine("fleets.example.com")
	w.eventually("the kind goes", func() bool { return w.Catalog().Snapshot().Resource(fleets) == nil })
	w.define(fleet)
	w.delete(owner, foreground)
	w.becomes(owner, "-")
	w.is(one, "-")
}

// spoil replaces what is stored of an object by what nobody can read, and mend
// puts it back.
func (w *world) spoil(m made) (mend func()) {
	w.t.Helper()
	key := "/registry/" + m.Resource + "/" + m.Namespace + "/" + m.Name
	before := w.rewrite(key, func([]byte) []byte { return []byte("no object") })
	return func() { w.rewrite(key, func([]byte) []byte { return before }) }
}

// rewrite changes what is stored, past all stages, and returns what it was.
func (w *world) rewrite(key string, change func([]byte) []byte) []byte {
	w.t.Helper()
	kv, err := w.store.Get(w.ctx(), key)
	if err == nil {
		_, err = w.store.Update(w.ctx(), key, change(kv.Value), kv.Revision, 0)
	}
	if err != nil {
		w.t.Fatal(err)
	}
	if err := w.Client.Fresh(w.ctx()); err != nil {
		w.t.Fatal(err)
	}
	return kv.Value
}

// A dependent that cannot be read any more is still there, and so holds up the
// owner that it blocked when it was read last.
func TestUnreadableDependentsBlock_DEL05(t *testing.T) {
	w := newWorld(t)
	owner := w.create(key(tabs, "owner"), nil, nil, nil)
	one := w.create(key(maps, "one"), []string{"example.com/f"}, []made{owner}, nil)
	free := w.create(key(maps, "free"), []string{"example.com/f"}, nil, []made{owner})
	w.collect()
	w.delete(owner, foreground)
	w.becomes(one, "[owner] deleting example.com/f")
	w.becomes(free, "owner deleting example.com/f")
	w.spoil(free) // which is in nobody's way
	mend := w.spoil(one)
	end := w.create(key(tabs, "end"), nil, nil, []made{nobody("ConfigMap")})
	w.becomes(end, "-") // so everything that there was to do was done
	w.is(owner, "deleting foregroundDeletion")
	w.saysWhy(owner, "cannot be read; repair or remove it")
	mend()
	w.loosen(one, "example.com/f")
	w.becomes(one, "-")
	w.becomes(owner, "-")
}

// Nor is its owner let go before it has lost its reference: once it can be read
// again, it would be garbage.
func TestUnreadableDependentsAreOrphaned_DEL05(t *testing.T) {
	w := newWorld(t)
	owner := w.create(key(tabs, "owner"), []string{"example.com/f"}, nil, nil)
	one := w.create(key(maps, "one"), nil, []made{owner}, nil)
	w.collect()
	first := w.create(key(tabs, "first"), nil, nil, []made{nobody("ConfigMap")})
	w.becomes(first, "-") // so one was taken into the index
	mend := w.spoil(one)
	var looks atomic.Int32
	w.failing(func(op string, k controller.Key) error {
		if op == "look" && k.Name == "one" {
			looks.Add(1)
		}
		return nil
	})
	w.delete(owner, orphan)
	w.eventually("it is looked at again and again", func() bool { return looks.Load() > 3 || w.state(owner) == "deleting example.com/f" })
	w.is(owner, "deleting example.com/f orphan")
	w.saysWhy(owner, "cannot be read; repair or remove it")
	mend()
	w.becomes(owner, "deleting example.com/f")
	w.loosen(owner, "example.com/f")
	w.is(one, "")
}

// saysWhy waits for an event on an owner that says why it is not deleted: for the
// object "one".
func (w *world) saysWhy(owner made, why string) {
	w.t.Helper()
	w.eventually("it is told why", func() bool { return w.eventsOf("UnreadableDependent")[owner.Name] != nil })
	e := w.eventsOf("UnreadableDependent")[owner.Name]
	message, _, _ := unstructured.NestedString(e.Object, "message")
	uid, _, _ := unstructured.NestedString(e.Object, "involvedObject", "uid")
	kind, _, _ := unstructured.NestedString(e.Object, "involvedObject", "kind")
	if want := "configmaps/default/one " + why; !strings.HasSuffix(message, want) || uid != string(owner.ref.UID) || kind != owner.ref.Kind {
		w.t.Errorf("%s %s is told %q, want ... %q", kind, uid, message, want)
	}
}

// Who collects after a change of the leader never read it, and leaves what may
// own it.
func TestWhatWasNeverReadMayHaveOwners_DEL05(t *testing.T) {
	w := newWorld(t)
	owner := w.create(key(tabs, "owner"), nil, nil, nil)
	far := w.create(elsewhere(maps, "far"), nil, nil, nil)
	one := w.create(key(maps, "one"), nil, []made{owner}, nil)
	mend := w.spoil(one)
	w.collect()
	w.delete(far, orphan)
	w.delete(owner, orphan)
	w.becomes(far, "-") // its dependents are in its namespace
	w.is(owner, "deleting orphan")
	w.saysWhy(owner, "cannot be read and may be one; repair or remove it")
	mend()
	w.becomes(owner, "-")
	w.becomes(one, "")
}
