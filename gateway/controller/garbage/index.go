package garbage

import (
	"maps"
	"slices"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wasmgate/wasmgate/gateway/controller"
)

// index knows which objects refer to which owners. It holds a little for each
// object that has owner references and for each uid that one refers to, and
// nothing for all others. All methods may be called from anywhere.
type index struct {
	// wake is told of what has to be looked at. It must not call back.
	wake func(controller.Key)

	mu         sync.Mutex
	dependents map[controller.Key]*dependent
	owners     map[types.UID]*owner
	// foreground are the objects that wait for their dependents.
	foreground map[types.UID]waiter
	// blank are the objects that could never be read, with the telling of their
	// kind that last had them: they may depend on anything.
	blank map[controller.Key]uint32
	// unresolved are dependents with an owner of a kind that is not followed,
	// and round counts how often these were asked to be looked at again.
	unresolved map[controller.Key]struct{}
	round      uint64
}

// dependent is an object with owners.
type dependent struct {
	key   controller.Key
	uid   types.UID
	links []link
	// told is the telling of its kind that last had the object.
	told uint32
}

// link is what a dependent says of one owner.
type link struct {
	*owner
	blocks bool
}

// waiter is an object that waits for its dependents.
type waiter struct {
	key  controller.Key
	told uint32
}

// owner is a uid that dependents refer to.
type owner struct {
	uid        types.UID
	dependents map[*dependent]struct{}
	// blocking counts the dependents that block, for each namespace of these.
	blocking []tally
	// gone is where an object of the uid was seen to go, if none was seen since.
	gone *departure
	// absent are places where the store had no object of the uid.
	absent []absence
}

// tally is how many dependents of a namespace block an owner.
type tally struct {
	namespace string
	n         int
}

// block counts so many more that block an owner.
func (o *owner) block(namespace string, more int) {
	i := slices.IndexFunc(o.blocking, func(t tally) bool { return t.namespace == namespace })
	if i < 0 {
		o.blocking = append(o.blocking, tally{namespace, more})
		return
	}
	if o.blocking[i].n += more; o.blocking[i].n == 0 {
		o.blocking = slices.Delete(o.blocking, i, i+1)
	}
}

// blockedIn is how many dependents block an owner that is in a namespace: those of others
// refer to nothing there. One in no namespace has them in all.
func (o *owner) blockedIn(namespace string) (n int) {
	for _, t := range o.blocking {
		if namespace == "" || namespace == t.namespace {
			n += t.n
		}
	}
	return n
}

// departure is where an object was seen to go.
type departure struct {
	place controller.Key
	// as are the kinds that it could be named by. They are not changed.
	as []schema.GroupKind
}

// absence is a place where an owner is not.
type absence struct {
	place controller.Key
	// elsewhere: it is in another namespace.
	elsewhere bool
}

func newIndex(wake func(controller.Key)) *index {
	return &index{
		wake:       wake,
		dependents: map[controller.Key]*dependent{},
		owners:     map[types.UID]*owner{},
		foreground: map[types.UID]waiter{},
		blank:      map[controller.Key]uint32{},
		unresolved: map[controller.Key]struct{}{},
	}
}

// set takes the present state of an object, of the given telling of its kind.
func (x *index) set(gr schema.GroupResource, m *metav1.ObjectMeta, told uint32) {
	key := controller.Key{GroupResource: gr, Namespace: m.Namespace, Name: m.Name}
	x.mu.Lock()
	defer x.mu.Unlock()
	if m.UID == "" {
		x.setUnreadableLocked(key, told)
		return
	}
	delete(x.blank, key)
	if o := x.owners[m.UID]; o != nil {
		o.gone, o.absent = nil, nil
	}
	d := x.dependents[key]
	if d != nil && d.uid != m.UID { // another object of the name
		x.removeLocked(d)
		d = nil
	}
	if d == nil && len(m.OwnerReferences) > 0 {
		d = &dependent{key: key, uid: m.UID}
	}
	if d != nil {
		d.told = told
		if x.linkLocked(d, m.OwnerReferences) {
			x.wake(key)
		}
	}
	if orphans(m) {
		x.wake(key)
	}
	_, waited := x.foreground[m.UID]
	waits := deletesDependents(m)
	if waits {
		x.foreground[m.UID] = waiter{key, told}
	} else {
		delete(x.foreground, m.UID)
	}
	if waits != waited {
		x.wake(key)
	}
}

// setUnreadableLocked takes an object that cannot be read: it is there, and what
// was known of it still holds. Who waits for it is to be told.
func (x *index) setUnreadableLocked(key controller.Key, told uint32) {
	if d := x.dependents[key]; d != nil {
		d.told = told
		for _, l := range d.links {
			if w, waits := x.foreground[l.uid]; waits && l.blocks {
				x.wake(w.key)
			}
		}
	} else {
		x.blank[key] = told
	}
	for uid, w := range x.foreground {
		if w.key == key {
			x.foreground[uid] = waiter{key, told}
		}
	}
}

// linkLocked lets d have the owners of refs and no others, and tells whether
// that is news.
func (x *index) linkLocked(d *dependent, refs []metav1.OwnerReference) bool {
	if slices.EqualFunc(d.links, distinct(refs, d.uid), func(l link, r metav1.OwnerReference) bool {
		return l.uid == r.UID && l.blocks == blocks(r)
	}) {
		return false
	}
	old := d.links
	d.links = nil
	for _, r := range distinct(refs, d.uid) {
		o := x.owners[r.UID]
		if o == nil {
			o = &owner{uid: r.UID, dependents: map[*dependent]struct{}{}}
			x.owners[r.UID] = o
		}
		o.dependents[d] = struct{}{}
		if blocks(r) {
			o.block(d.key.Namespace, 1)
		}
		d.links = append(d.links, link{o, blocks(r)})
	}
	x.unlinkLocked(d, old)
	if len(d.links) == 0 {
		delete(x.dependents, d.key)
		delete(x.unresolved, d.key)
		return false
	}
	x.dependents[d.key] = d
	return true
}

// distinct are the references to different objects that are not self. One that
// blocks stands for all others to its owner.
func distinct(refs []metav1.OwnerReference, self types.UID) []metav1.OwnerReference {
	out := make([]metav1.OwnerReference, 0, len(refs))
	for _, r := range refs {
		i := slices.IndexFunc(out, func(o metav1.OwnerReference) bool { return o.UID == r.UID })
		switch {
		case r.UID == self:
		case i < 0:
			out = append(out, r)
		case blocks(r):
			out[i] = r
		}
	}
	return out
}

// unlinkLocked takes former links of d away. Owners that nothing blocks any
// more may go.
func (x *index) unlinkLocked(d *dependent, old []link) {
	for _, l := range old {
		if l.blocks {
			l.block(d.key.Namespace, -1)
		}
		if !slices.ContainsFunc(d.links, func(now link) bool { return now.owner == l.owner }) {
			delete(l.dependents, d)
		}
		if w, waits := x.foreground[l.uid]; waits && l.blocks && l.blockedIn(w.key.Namespace) == 0 {
			x.wake(w.key)
		}
		if len(l.dependents) == 0 {
			delete(x.owners, l.uid)
		}
	}
}

func (x *index) removeLocked(d *dependent) {
	old := d.links
	d.links = nil
	x.unlinkLocked(d, old)
	delete(x.dependents, d.key)
	delete(x.unresolved, d.key)
}

// remove takes an object out that is gone, of what is known as kinds.
func (x *index) remove(gr schema.GroupResource, m *metav1.ObjectMeta, kinds ...schema.GroupKind) {
	x.mu.Lock()
	defer x.mu.Unlock()
	key := controller.Key{GroupResource: gr, Namespace: m.Namespace, Name: m.Name}
	if d := x.dependents[key]; d != nil {
		x.removeLocked(d)
	}
	if m.UID == "" { // it could not be read; nobody knows whose owner it was
		delete(x.blank, key)
		maps.DeleteFunc(x.foreground, func(_ types.UID, w waiter) bool { return w.key == key })
		x.wakeAllLocked()
		return
	}
	delete(x.foreground, m.UID)
	if o := x.owners[m.UID]; o != nil {
		o.gone = &departure{key, kinds}
		for d := range o.dependents {
			x.wake(d.key)
		}
	}
}

// prune takes out the objects of a kind that its last telling did not have.
// Whose owners went with them nobody can tell.
func (x *index) prune(gr schema.GroupResource, told uint32) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for key, d := range x.dependents {
		if key.GroupResource == gr && d.told != told {
			x.removeLocked(d)
		}
	}
	maps.DeleteFunc(x.foreground, func(_ types.UID, w waiter) bool { return w.key.GroupResource == gr && w.told != told })
	maps.DeleteFunc(x.blank, func(key controller.Key, t uint32) bool { return key.GroupResource == gr && t != told })
	x.wakeAllLocked()
}

func (x *index) wakeAllLocked() {
	for key := range x.dependents {
		x.wake(key)
	}
	for _, w := range x.foreground {
		x.wake(w.key)
	}
}
