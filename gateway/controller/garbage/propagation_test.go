package garbage_test

import (
	"sync/atomic"
	"testing"

	"github.com/wasmgate/wasmgate/gateway/controller"
)

// A dependent that carries foregroundDeletion already goes after its own
// dependents, whatever its owner was deleted with.
func TestAFinalizerSaysWhatBecomesOfItsDependents_DEL05(t *testing.T) {
	w := newWorld(t)
	w.collect()
	owner := w.create(key(maps, "owner"), nil, nil, nil)
	careful := w.create(key(maps, "careful"), []string{"foregroundDeletion"}, nil, []made{owner})
	child := w.create(key(tabs, "child"), []string{"example.com/f"}, []made{careful}, nil)
	w.delete(owner, background)
	w.becomes(child, "[careful] deleting example.com/f")
	w.is(careful, "owner deleting foregroundDeletion")
	w.loosen(child, "example.com/f")
	w.becomes(careful, "-")
	w.is(child, "-")
	w.deletes("careful as it is, child Background")
}

// Two that own each other are in each other's way only where both references
// block. A reference that does not is left as it is.
func TestAReferenceThatDoesNotBlockIsNoCircle(t *testing.T) {
	w := newWorld(t)
	a := w.create(key(maps, "a"), nil, nil, nil)
	b := w.create(key(maps, "b"), nil, nil, []made{a})
	w.refer(a, b)
	held := w.create(key(tabs, "held"), []string{"example.com/f"}, []made{a}, nil)
	last := w.create(key(tabs, "last"), nil, nil, []made{b})
	w.delete(a, foreground)
	w.delete(b, foreground)
	var changed atomic.Int32
	w.failing(func(op string, k controller.Key) error {
		if op == "update" && k.Name == "b" && w.state(a) != "-" {
			changed.Add(1)
		}
		return nil
	})
	w.collect()
	w.becomes(held, "[a] deleting example.com/f")
	w.becomes(last, "-")
	w.is(b, "a deleting foregroundDeletion")
	if n := changed.Load(); n != 0 {
		t.Errorf("b was written %d times while a waited for another", n)
	}
	w.loosen(held, "example.com/f")
	w.becomes(a, "-")
	w.becomes(b, "-")
}

// What an owner keeps is not written.
func TestWhatIsKeptIsLeftAlone(t *testing.T) {
	w := newWorld(t)
	owner := w.create(key(maps, "owner"), nil, nil, nil)
	kept := w.create(key(tabs, "kept"), nil, []made{owner}, nil)
	var changed atomic.Int32
	w.failing(func(op string, k controller.Key) error {
		if op == "update" && k.Name == "kept" {
			changed.Add(1)
		}
		return nil
	})
	w.keeps(kept, "[owner]", w.collect())
	if n := changed.Load(); n != 0 {
		t.Errorf("it was written %d times", n)
	}
}
