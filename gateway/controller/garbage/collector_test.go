package garbage_test

import (
	"sync/atomic"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wasmgate/wasmgate/gateway/catalog/catalogtest"
	"github.com/wasmgate/wasmgate/gateway/controller"
)

const (
	orphan     = metav1.DeletePropagationOrphan
	foreground = metav1.DeletePropagationForeground
	background = metav1.DeletePropagationBackground
)

// elsewhere is an object of the other namespace.
func elsewhere(gr schema.GroupResource, name string) controller.Key {
	return controller.Key{GroupResource: gr, Namespace: "other", Name: name}
}

func TestOrphanedDependentsStayAndForget_DEL05(t *testing.T) {
	w := newWorld(t)
	owner := w.create(key(maps, "owner"), nil, nil, nil)
	second := w.create(key(tabs, "second"), nil, nil, nil)
	one := w.create(key(maps, "one"), nil, []made{owner}, nil)
	two := w.create(key(tabs, "two"), []string{"example.com/f"}, []made{second}, []made{owner})
	far := w.create(elsewhere(maps, "far"), nil, nil, []made{owner}) // refers to nothing in its namespace
	w.delete(owner, orphan)
	w.is(owner, "deleting orphan") // until there is a collector
	w.collect()
	w.becomes(owner, "-")
	w.is(one, "")
	w.is(two, "[second] example.com/f")
	w.becomes(far, "-")
	w.is(second, "")
	w.deletes("far Background")
}

func TestForegroundDeletesDependentsFirst_DEL05(t *testing.T) {
	w := newWorld(t)
	w.collect()
	owner := w.create(key(tabs, "owner"), nil, nil, nil)
	child := w.create(key(maps, "child"), nil, []made{owner}, nil)
	grandchild := w.create(key(tabs, "grandchild"), []string{"example.com/f"}, []made{child}, nil)
	leaf := w.create(key(maps, "leaf"), nil, nil, []made{owner})
	careful := w.create(key(maps, "careful"), []string{"orphan"}, []made{owner}, nil)
	kept := w.create(key(maps, "kept"), nil, []made{careful}, nil)
	bystander := w.create(key(maps, "bystander"), nil, nil, nil)
	w.delete(owner, foreground)
	w.becomes(leaf, "-")
	w.becomes(careful, "-")
	w.becomes(grandchild, "[child] deleting example.com/f")
	w.is(owner, "deleting foregroundDeletion")
	w.is(child, "[owner] deleting foregroundDeletion")
	w.loosen(grandchild, "example.com/f")
	w.becomes(owner, "-")
	w.is(child, "-")
	w.is(grandchild, "-")
	w.is(kept, "")
	w.is(bystander, "")
	w.deletes("careful as it is, child Foreground, grandchild Background, leaf Background")
}

// After a background deletion the owner is gone at once, and its dependents
// follow with theirs, but for what another owner keeps and what was asked to
// leave its dependents alone.
func TestBackgroundDeletesDependentsAfterwards_DEL05(t *testing.T) {
	w := newWorld(t)
	w.collect()
	owner := w.create(key(maps, "owner"), nil, nil, nil)
	other := w.create(key(tabs, "other"), nil, nil, nil)
	one := w.create(key(maps, "one"), nil, []made{owner}, nil)
	grandchild := w.create(key(tabs, "grandchild"), nil, nil, []made{one})
	held := w.create(key(tabs, "held"), []string{"example.com/f"}, nil, []made{owner})
	shared := w.create(key(tabs, "shared"), nil, []made{owner, other}, nil)
	careful := w.create(key(maps, "careful"), []string{"orphan"}, []made{owner}, nil)
	kept := w.create(key(maps, "kept"), nil, []made{careful}, nil)
	w.delete(owner, background)
	w.is(owner, "-")
	for m, want := range map[*made]string{&one: "-", &grandchild: "-", &held: "owner deleting example.com/f", &shared: "[other]", &careful: "-", &kept: ""} {
		w.becomes(*m, want)
	}
	w.is(other, "")
	w.loosen(held, "example.com/f")
	w.is(held, "-")
	w.deletes("careful as it is, grandchild Background, held Background, one Background")
	w.eventually("all are counted", func() bool { return w.collected.Load() >= 4 })
	if n := w.collected.Load(); n != 4 {
		t.Errorf("counted %d", n)
	}
}

func TestAnotherOwnerKeepsADependent(t *testing.T) {
	gone := made{key(maps, "gone"), metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: "gone", UID: "uid-gone"}}
	for name, c := range map[string]struct {
		other func(w *world) made
		want  string
	}{
		"that exists": {func(w *world) made { return w.create(key(tabs, "other"), nil, nil, nil) }, "[other]"},
		"that is being deleted, but not after its dependents": {func(w *world) made {
			m := w.create(key(maps, "other"), []string{"example.com/f"}, nil, nil)
			w.delete(m, background)
			return m
		}, "[other]"},
		"in no namespace": {func(w *world) made { w.define(fleet); return w.create(key(fleets, "other"), nil, nil, nil) }, "[other]"},
		"of a kind that nobody knows": {func(*world) made {
			return made{ref: metav1.OwnerReference{APIVersion: "nobody.example.com/v1", Kind: "Known", Name: "other", UID: "x"}}
		}, "[other]"},
		"of a known group and another kind": {func(w *world) made {
			m := w.create(key(tabs, "other"), nil, nil, nil)
			m.ref.Kind = "Known"
			return m
		}, "[other]"},
		"that cannot be read": {func(w *world) made {
			w.put("/registry/configmaps/default/other", "no object")
			return made{ref: metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: "other", UID: "x"}}
		}, "[other]"},
		"but not one that is gone": {func(*world) made { return gone }, "-"},
		"but not one that was replaced": {func(w *world) made {
			m := w.create(key(maps, "other"), nil, nil, nil)
			m.ref.UID = "another"
			return m
		}, "-"},
		"but not one of another namespace": {func(w *world) made { return w.create(elsewhere(maps, "other"), nil, nil, nil) }, "-"},
		"but not one that goes after its dependents": {func(w *world) made {
			m := w.create(key(maps, "other"), []string{"example.com/f"}, nil, nil)
			w.delete(m, foreground)
			return m
		}, "-"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			other := c.other(w)
			owner := w.create(key(maps, "owner"), nil, nil, nil)
			one := w.create(key(maps, "one"), nil, []made{owner, other}, nil)
			w.delete(owner, foreground)
			w.collect()
			w.becomes(owner, "-")
			w.is(one, c.want)
		})
	}
}

// Who refers to an owner from another namespace is none of its dependents, and holds its
// deletion up as little as it goes with it.
func TestDependentsOfOtherNamespacesHoldNothingUp_DEL05(t *testing.T) {
	w := newWorld(t)
	owner := w.create(key(maps, "owner"), nil, nil, nil)
	near := w.create(key(maps, "near"), []string{"example.com/f"}, []made{owner}, nil)
	far := w.create(elsewhere(maps, "far"), []string{"example.com/f"}, []made{owner}, nil)
	w.delete(owner, foreground)
	w.collect()
	w.becomes(near, "[owner] deleting example.com/f")
	w.becomes(far, "[owner] deleting example.com/f")
	w.is(owner, "deleting foregroundDeletion")
	w.loosen(near, "example.com/f")
	w.becomes(owner, "-")
	w.is(far, "[owner] deleting example.com/f")
}

func TestOwnersInNoNamespaceOwnEverywhere(t *testing.T) {
	for policy, want := range map[metav1.DeletionPropagation]string{orphan: "", foreground: "-"} {
		t.Run(string(policy), func(t *testing.T) {
			w := newWorld(t)
			w.collect()
			w.define(fleet) // after the start
			owner := w.create(key(fleets, "owner"), nil, nil, nil)
			near := w.create(key(maps, "near"), nil, []made{owner}, nil)
			far := w.create(elsewhere(tabs, "far"), nil, []made{owner}, nil)
			same := w.create(key(fleets, "same"), nil, []made{owner}, nil)
			w.delete(owner, policy)
			w.becomes(owner, "-")
			w.is(near, want)
			w.is(far, want)
			w.is(same, want)
		})
	}
}

// A converter that fails holds up no deletion.
func TestBrokenConvertersHoldNothingUp(t *testing.T) {
	for policy, want := range map[metav1.DeletionPropagation]string{orphan: "", foreground: "-"} {
		t.Run(string(policy), func(t *testing.T) {
			w := newWorld(t)
			owner := w.create(key(tabs, "owner"), nil, nil, nil)
			one := w.create(key(tabs, "one"), nil, []made{owner}, nil)
			// From now on everything that is stored is at another version.
			if kv, err := w.store.Get(w.ctx(), "/registry/apiextensions.k8s.io/customresourcedefinitions/crontabs.example.com"); err != nil {
				t.Fatal(err)
			} else if _, err = w.store.Delete(w.ctx(), kv.Key, kv.Revision); err != nil {
				t.Fatal(err)
			}
			w.eventually("the kind goes", func() bool { return w.Catalog().Snapshot().Resource(tabs) == nil })
			w.define(catalogtest.CronTab(catalogtest.V1beta1, false))
			w.conv.BreakDown("no conversion")
			w.delete(owner, policy)
			w.collect()
			w.becomes(owner, "-")
			w.is(one, want)
		})
	}
}

func TestOwnersInACircleDoNotWaitForEachOther(t *testing.T) {
	t.Run("of three", func(t *testing.T) {
		w := newWorld(t)
		w.collect()
		a := w.create(key(maps, "a"), nil, nil, nil)
		b := w.create(key(maps, "b"), nil, []made{a}, nil)
		c := w.create(key(tabs, "c"), nil, []made{b}, nil)
		w.refer(a, c)
		w.delete(a, foreground)
		for _, m := range []made{a, b, c} {
			w.becomes(m, "-")
		}
	})
	t.Run("of two that were both deleted", func(t *testing.T) {
		w := newWorld(t)
		a := w.create(key(maps, "a"), nil, nil, nil)
		b := w.create(key(maps, "b"), nil, []made{a}, nil)
		w.refer(a, b)
		w.delete(a, foreground)
		w.delete(b, foreground)
		w.collect()
		w.becomes(a, "-")
		w.becomes(b, "-")
	})
	t.Run("of one", func(t *testing.T) {
		w := newWorld(t)
		a := w.create(key(maps, "a"), nil, nil, nil)
		w.refer(a, a)
		w.delete(a, foreground)
		w.collect()
		w.becomes(a, "-")
	})
}

// refer gives an object an owner that it blocks.
func (w *world) refer(m, owner made) {
	w.t.Helper()
	err := w.Client.UpdateMetadata(w.ctx(), m.GroupResource, m.Namespace, m.Name, metav1.Preconditions{}, func(o metav1.Object) {
		ref, yes := owner.ref, true
		ref.BlockOwnerDeletion = &yes
		o.SetOwnerReferences(append(o.GetOwnerReferences(), ref))
	})
	if err != nil {
		w.t.Fatal(err)
	}
}

// What fails is tried again, and an owner is not let go before.
func TestFailuresAreTriedAgain(t *testing.T) {
	const failures = 3
	for policy, c := range map[metav1.DeletionPropagation]struct {
		ops  []string
		want string
	}{
		orphan:     {[]string{"look", "fresh", "kinds", "update", "feed"}, ""},
		foreground: {[]string{"look", "fresh", "kinds", "delete", "feed"}, "-"},
		background: {[]string{"look", "live", "kinds", "delete", "feed"}, "-"},
	} {
		for _, op := range c.ops {
			t.Run(string(policy)+" "+op, func(t *testing.T) {
				w := newWorld(t)
				owner := w.create(key(maps, "owner"), nil, nil, nil)
				one := w.create(key(tabs, "one"), nil, []made{owner}, nil)
				two := w.create(key(tabs, "two"), nil, nil, []made{owner})
				failed := w.failingAtFirst(op, failures, func() {
					if policy != background && w.state(owner) == "-" {
						t.Error("let go")
					}
				})
				w.delete(owner, policy)
				if op == "live" { // only of an owner that the collector never saw it asks whether there is one
					w.is(owner, "-")
				}
				w.collect()
				w.becomes(owner, "-")
				w.becomes(one, c.want)
				w.becomes(two, c.want)
				if failed.Load() <= failures {
					t.Errorf("failed %d times", failed.Load())
				}
				if n := w.syncErrors.Load(); (n > 0) != (op == "feed" || op == "kinds") {
					t.Errorf("counted %d failures", n)
				}
			})
		}
	}
}

// A dependent that got another owner after it was looked at is not deleted.
func TestADecisionIsForTheStateThatWasSeen(t *testing.T) {
	w := newWorld(t)
	owner := w.create(key(maps, "owner"), nil, nil, nil)
	other := w.create(key(maps, "other"), nil, nil, nil)
	one := w.create(key(tabs, "one"), nil, []made{owner}, nil)
	var late atomic.Bool
	w.failing(func(op string, k controller.Key) error {
		if op == "delete" && k.Name == "one" && late.CompareAndSwap(false, true) {
			w.refer(one, other)
		}
		return nil
	})
	w.delete(owner, foreground)
	w.collect()
	w.becomes(owner, "-")
	w.is(one, "[other]")
}

// An owner that changes its mind is not held up by what it waited for.
func TestTheFinalizerCanBeTakenAway(t *testing.T) {
	w := newWorld(t)
	w.collect()
	owner := w.create(key(maps, "owner"), nil, nil, nil)
	one := w.create(key(maps, "one"), []string{"example.com/f"}, []made{owner}, nil)
	w.delete(owner, foreground)
	w.becomes(one, "[owner] deleting example.com/f")
	w.delete(owner, background)
	w.is(owner, "-")
	w.loosen(one, "example.com/f")
	w.is(one, "-")
}

// Another object of the owner's name is no owner.
func TestUIDsTellOwnersApart_DEL05(t *testing.T) {
	w := newWorld(t)
	owner := w.create(key(maps, "owner"), nil, nil, nil)
	before := owner
	before.ref.UID = types.UID("another")
	one := w.create(key(tabs, "one"), nil, []made{before}, nil)
	two := w.create(key(tabs, "two"), nil, []made{owner}, nil)
	w.collect()
	w.becomes(one, "-")
	w.is(two, "[owner]")
}

// What validation refuses may be stored all the same.
func TestAnOwnerOfNoVersionKeepsADependent(t *testing.T) {
	w := newWorld(t)
	owner := w.create(key(maps, "owner"), nil, nil, nil)
	w.put("/registry/configmaps/default/one", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"one","namespace":"default","uid":"one","ownerReferences":[`+
		`{"apiVersion":"a/b/c","kind":"ConfigMap","name":"other","uid":"x"},{"apiVersion":"v1","kind":"ConfigMap","name":"owner","uid":"`+string(owner.ref.UID)+`"}]}}`)
	w.delete(owner, foreground)
	w.collect()
	w.becomes(owner, "-")
	w.becomes(made{Key: key(maps, "one")}, "other")
}
