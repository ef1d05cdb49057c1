package garbage

import (
	"maps"
	"slices"
	"sync"

	"github.com/wasmgate/wasmgate/gateway/controller"
)

// waits knows which owners wait for the end of which dependents. The zero value
// is ready; all methods may be called from anywhere.
type waits struct {
	mu sync.Mutex
	// forDependents has what each owner waits for, byDependent the owners that
	// wait for each dependent. No
	// entry is empty.
	forDependents map[controller.Key][]controller.Key
	byDependent   map[controller.Key][]controller.Key
}

// set lets owner wait for dependents, and for none besides.
func (w *waits) set(owner controller.Key, dependents []node) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.forgetLocked(owner)
	if len(dependents) == 0 {
		return
	}
	if w.forDependents == nil {
		w.forDependents, w.byDependent = map[controller.Key][]controller.Key{}, map[controller.Key][]controller.Key{}
	}
	for _, n := range dependents {
		w.forDependents[owner] = append(w.forDependents[owner], n.Key)
		w.byDependent[n.Key] = append(w.byDependent[n.Key], owner)
	}
}

// forget lets owner wait for nothing.
func (w *waits) forget(owner controller.Key) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.forgetLocked(owner)
}

func (w *waits) forgetLocked(owner controller.Key) {
	for _, d := range w.forDependents[owner] {
		left := slices.DeleteFunc(w.byDependent[d], func(k controller.Key) bool { return k == owner })
		if len(left) == 0 {
			delete(w.byDependent, d)
		} else {
			w.byDependent[d] = left
		}
	}
	delete(w.forDependents, owner)
}

// on are the owners that wait for a dependent.
func (w *waits) on(dependent controller.Key) []controller.Key {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.byDependent[dependent])
}

// all are the owners that wait.
func (w *waits) all() []controller.Key {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Collect(maps.Keys(w.forDependents))
}

// concern tells whether key waits, or is waited for.
func (w *waits) concern(key controller.Key) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.forDependents[key] != nil || w.byDependent[key] != nil
}

// reach tells whether from waits for to, or for something that does.
func (w *waits) reach(from, to controller.Key) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	seen := map[controller.Key]bool{}
	next := []controller.Key{from}
	for len(next) > 0 {
		k := next[len(next)-1]
		next = next[:len(next)-1]
		if k == to {
			return true
		}
		if !seen[k] {
			seen[k] = true
			next = append(next, w.forDependents[k]...)
		}
	}
	return false
}
