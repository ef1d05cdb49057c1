package garbage

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wasmgate/wasmgate/gateway/controller"
)

// of are the dependents of an owner that is in a namespace, or in none, and how many of
// them block it.
func (x *index) of(uid types.UID, namespace string) (dependents []controller.Key, blocking int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	o := x.owners[uid]
	if o == nil {
		return nil, 0
	}
	for d := range o.dependents {
		dependents = append(dependents, d.key)
	}
	return dependents, o.blockedIn(namespace)
}

// blockers are the dependents that block an owner that is in a namespace, or in none, in
// order.
func (x *index) blockers(uid types.UID, namespace string) (out []controller.Key) {
	x.mu.Lock()
	defer x.mu.Unlock()
	o := x.owners[uid]
	if o == nil {
		return nil
	}
	for d := range o.dependents {
		if (namespace == "" || namespace == d.key.Namespace) && slices.Contains(d.links, link{o, true}) {
			out = append(out, d.key)
		}
	}
	slices.SortFunc(out, func(a, b controller.Key) int { return strings.Compare(a.String(), b.String()) })
	return out
}

// owns tells whether an object has dependents.
func (x *index) owns(uid types.UID) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.owners[uid] != nil
}

// unread finds the first object, by its name, that may depend on an owner at a
// place, and could never be read.
func (x *index) unread(place controller.Key) (first controller.Key, found bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for key := range x.blank {
		if (place.Namespace == "" || place.Namespace == key.Namespace) && (!found || key.String() < first.String()) {
			first, found = key, true
		}
	}
	return first, found
}

// lacks tells whether it is known that no object of the uid is at a place, and
// that there is one in another namespace.
func (x *index) lacks(uid types.UID, place controller.Key) (absent, elsewhere bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	o := x.owners[uid]
	if o == nil {
		return false, false
	}
	if o.gone != nil && o.gone.place == place {
		return true, false
	}
	for _, a := range o.absent {
		if a.place == place {
			return true, a.elsewhere
		}
	}
	return false, false
}

// lost tells whether an object of the uid was seen to go that was of a kind, of a
// name, and in a namespace or in none: what is left to tell of a kind that is not
// followed any more.
func (x *index) lost(uid types.UID, kind schema.GroupKind, namespace, name string) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	o := x.owners[uid]
	if o == nil || o.gone == nil {
		return false
	}
	p := o.gone.place
	return p.Name == name && (p.Namespace == "" || p.Namespace == namespace) && slices.Contains(o.gone.as, kind)
}

// maxAbsent bounds what is remembered of places; nearly all owners have one.
const maxAbsent = 16

// lack remembers that the store has no object of the uid at a place.
func (x *index) lack(uid types.UID, a absence) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if o := x.owners[uid]; o != nil && len(o.absent) < maxAbsent && !slices.Contains(o.absent, a) {
		o.absent = append(o.absent, a)
	}
}

// postpone has a dependent looked at again when other kinds are followed than
// in round.
func (x *index) postpone(key controller.Key, round uint64) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if round != x.round {
		x.wake(key)
		return
	}
	x.unresolved[key] = struct{}{}
}

// resume has what was postponed looked at.
func (x *index) resume() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.round++
	for key := range x.unresolved {
		x.wake(key)
	}
	clear(x.unresolved)
}

// nextRound is what to call postpone with after the kinds were looked at.
func (x *index) nextRound() uint64 {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.round
}

// reach tells whether from waits for to, or for something that does, or is it.
func (x *index) reach(from, to types.UID) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	seen := map[types.UID]bool{}
	next := []types.UID{from}
	for len(next) > 0 {
		uid := next[len(next)-1]
		next = next[:len(next)-1]
		if uid == to {
			return true
		}
		_, waits := x.foreground[uid]
		if o := x.owners[uid]; o != nil && waits && !seen[uid] {
			seen[uid] = true
			for d := range o.dependents {
				if slices.Contains(d.links, link{o, true}) {
					next = append(next, d.uid)
				}
			}
		}
	}
	return false
}
