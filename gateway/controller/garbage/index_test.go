package garbage

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wasmgate/wasmgate/gateway/controller"
)

var things = schema.GroupResource{Resource: "things"}

// probe is an index with what it woke.
type probe struct {
	*index
	woken []string
}

func newProbe() *probe {
	p := &probe{}
	p.index = newIndex(func(key controller.Key) { p.woken = append(p.woken, key.Name) })
	return p
}

// thing is an object whose uid is its name. Owners that it blocks are marked
// with an exclamation mark.
func thing(name string, owners ...string) *metav1.ObjectMeta {
	m := &metav1.ObjectMeta{Name: name, UID: types.UID(name)}
	for _, o := range owners {
		uid, block := strings.CutSuffix(o, "!")
		m.OwnerReferences = append(m.OwnerReferences, metav1.OwnerReference{UID: types.UID(uid), BlockOwnerDeletion: &block})
	}
	return m
}

// going is an object that waits with a finalizer.
func going(m *metav1.ObjectMeta, finalizer string) *metav1.ObjectMeta {
	now := metav1.Now()
	m.DeletionTimestamp, m.Finalizers = &now, []string{finalizer}
	return m
}

func (p *probe) takes(m *metav1.ObjectMeta) { p.set(things, m, 1) }

// wakes checks what was woken since the last time.
func (p *probe) wakes(t *testing.T, want ...string) {
	t.Helper()
	slices.Sort(p.woken)
	if !slices.Equal(p.woken, want) {
		t.Errorf("woke %v, want %v", p.woken, want)
	}
	p.woken = nil
}

// has checks the dependents of an owner, and how many block.
func (p *probe) has(t *testing.T, owner string, blocking int, want ...string) {
	t.Helper()
	keys, n := p.of(types.UID(owner), "")
	var names []string
	for _, k := range keys {
		names = append(names, k.Name)
	}
	slices.Sort(names)
	if !slices.Equal(names, want) || n != blocking || p.owns(types.UID(owner)) != (len(want) > 0) {
		t.Errorf("%s has %v, %d block; want %v, %d", owner, names, n, want, blocking)
	}
}

func (p *probe) empty(t *testing.T) {
	t.Helper()
	if len(p.dependents)+len(p.owners)+len(p.foreground)+len(p.unresolved) != 0 {
		t.Errorf("left %v, %v, %v, %v", p.dependents, p.owners, p.foreground, p.unresolved)
	}
}

func TestIndexFollowsReferences_DEL05(t *testing.T) {
	p := newProbe()
	p.takes(thing("plain"))
	p.wakes(t)
	p.empty(t)
	p.takes(thing("a", "o!", "p", "a", "o"))
	p.wakes(t, "a")
	p.has(t, "o", 1, "a")
	p.has(t, "p", 0, "a")
	p.has(t, "a", 0)
	p.takes(thing("a", "o!", "p"))
	p.wakes(t) // says the same
	p.takes(thing("b", "o"))
	p.wakes(t, "b")
	p.has(t, "o", 1, "a", "b")
	p.takes(thing("b", "o", "o!")) // one that blocks counts
	p.wakes(t, "b")
	p.has(t, "o", 2, "a", "b")
	p.takes(thing("a", "o", "q"))
	p.wakes(t, "a")
	p.has(t, "o", 1, "a", "b")
	p.has(t, "p", 0)
	p.has(t, "q", 0, "a")
	p.remove(things, thing("a"))
	p.wakes(t)
	p.has(t, "o", 1, "b")
	p.takes(thing("b"))
	p.wakes(t) // nobody owns it any more
	p.remove(things, thing("b"))
	p.empty(t)
	// Another object of the name has its own owners.
	p.takes(thing("c", "o!"))
	other := thing("c", "p")
	other.UID = "another"
	p.takes(other)
	p.has(t, "o", 0)
	p.has(t, "p", 0, "c")
	other.OwnerReferences, other.UID = nil, "yet another"
	p.takes(other)
	p.empty(t)
}

func TestIndexWakesWhatDependsOnTheEnd_DEL05(t *testing.T) {
	p := newProbe()
	place := controller.Key{GroupResource: things, Name: "o"}
	p.takes(thing("a", "o"))
	p.takes(thing("b", "o!"))
	p.takes(thing("c", "p"))
	p.woken = nil
	if absent, _ := p.lacks("o", place); absent {
		t.Error("it was not seen to go")
	}
	p.remove(things, thing("o"))
	p.wakes(t, "a", "b")
	for uid, want := range map[types.UID]bool{"o": true, "p": false, "none": false} {
		if absent, elsewhere := p.lacks(uid, place); absent != want || elsewhere {
			t.Errorf("%s: %v, %v", uid, absent, elsewhere)
		}
	}
	p.takes(thing("o")) // is back
	if absent, _ := p.lacks("o", place); absent {
		t.Error("it is there")
	}
	p.wakes(t)
	p.remove(things, &metav1.ObjectMeta{Name: "unreadable"})
	p.wakes(t, "a", "b", "c")
}

// Of a kind that nobody follows any more is known under what names objects went.
func TestIndexKnowsByWhatNamesObjectsWent_DEL05(t *testing.T) {
	thing1 := schema.GroupKind{Kind: "Thing"}
	for namespace, in := range map[string]map[string]bool{"": {"": true, "here": true}, "here": {"": false, "here": true, "there": false}} {
		p := newProbe()
		p.takes(thing("a", "o"))
		owner := thing("o")
		owner.Namespace = namespace
		if p.lost("o", thing1, namespace, "o") {
			t.Error("it was not seen to go")
		}
		p.remove(things, owner, schema.GroupKind{Group: "old", Kind: "Thing"}, thing1)
		for of, want := range in {
			if got := p.lost("o", thing1, of, "o"); got != want {
				t.Errorf("in %q: lost to one in %q: %v", namespace, of, got)
			}
		}
		if p.lost("o", thing1, namespace, "p") || p.lost("p", thing1, namespace, "p") || p.lost("o", schema.GroupKind{Kind: "Another"}, namespace, "o") {
			t.Error("it is another that went")
		}
		if absent, _ := p.lacks("o", controller.Key{GroupResource: things, Namespace: "there", Name: "o"}); absent {
			t.Error("nothing went there")
		}
		p.takes(owner)
		if p.lost("o", thing1, namespace, "o") {
			t.Error("it is back")
		}
	}
}

func TestIndexRemembersAbsence(t *testing.T) {
	p := newProbe()
	one, two := controller.Key{Name: "one"}, controller.Key{Name: "two"}
	p.lack("o", absence{one, false}) // nobody refers to it
	p.empty(t)
	p.takes(thing("a", "o"))
	p.lack("o", absence{one, true})
	for range 2 {
		p.lack("o", absence{two, false})
	}
	if absent, elsewhere := p.lacks("o", one); !absent || !elsewhere {
		t.Errorf("%v, %v", absent, elsewhere)
	}
	if absent, elsewhere := p.lacks("o", two); !absent || elsewhere {
		t.Errorf("%v, %v", absent, elsewhere)
	}
	if absent, _ := p.lacks("o", controller.Key{Name: "three"}); absent {
		t.Error("nobody looked there")
	}
	if n := len(p.owners["o"].absent); n != 2 {
		t.Errorf("%d are remembered", n)
	}
	for i := range 2 * maxAbsent {
		p.lack("o", absence{controller.Key{Name: fmt.Sprint(i)}, false})
	}
	if n := len(p.owners["o"].absent); n != maxAbsent {
		t.Errorf("%d are remembered", n)
	}
	p.takes(thing("o"))
	if absent, _ := p.lacks("o", one); absent {
		t.Error("it is there now")
	}
}

func TestIndexKnowsWhoWaits_DEL05(t *testing.T) {
	p := newProbe()
	p.takes(going(thing("o"), metav1.FinalizerDeleteDependents))
	p.wakes(t, "o")
	p.takes(going(thing("o"), metav1.FinalizerDeleteDependents))
	p.wakes(t)
	p.takes(thing("a", "o!"))
	p.takes(thing("b", "o!"))
	p.takes(thing("c", "o"))
	p.woken = nil
	p.remove(things, thing("a"))
	p.wakes(t)
	p.takes(thing("b", "o")) // blocks no longer
	p.wakes(t, "b", "o")
	p.remove(things, thing("c"))
	p.wakes(t)
	p.takes(thing("o"))
	p.wakes(t, "o")
	p.takes(thing("d", "o!"))
	p.remove(things, thing("d"))
	p.wakes(t, "d")
	p.takes(going(thing("o"), metav1.FinalizerDeleteDependents))
	p.remove(things, thing("o"))
	p.remove(things, thing("b"))
	p.empty(t)
	p.woken = nil
	for range 2 {
		p.takes(going(thing("x"), metav1.FinalizerOrphanDependents))
		p.wakes(t, "x")
	}
	p.empty(t)
}

func TestIndexFindsCircles_DEL05(t *testing.T) {
	p := newProbe()
	p.takes(going(thing("a", "c!"), metav1.FinalizerDeleteDependents))
	p.takes(going(thing("b", "a!"), metav1.FinalizerDeleteDependents))
	p.takes(thing("c", "b!"))
	p.takes(thing("d", "a"))
	p.takes(thing("e", "c!"))
	for _, c := range []struct {
		from, to types.UID
		want     bool
	}{
		{"a", "c", true}, {"b", "c", true}, {"a", "a", true}, {"c", "a", false}, // c itself does not wait yet
		{"a", "d", false}, {"a", "e", false}, {"none", "a", false},
	} {
		if got := p.reach(c.from, c.to); got != c.want {
			t.Errorf("%s reaches %s: %v", c.from, c.to, got)
		}
	}
	p.takes(going(thing("c", "b!"), metav1.FinalizerDeleteDependents))
	if !p.reach("c", "b") || !p.reach("a", "e") || p.reach("a", "d") {
		t.Error("the circle is lost")
	}
}

func TestIndexPrunesWhatWasNotToldAgain(t *testing.T) {
	p := newProbe()
	p.set(things, thing("a", "o"), 1)
	p.set(things, thing("b", "o"), 1)
	p.set(schema.GroupResource{Resource: "others"}, thing("c", "o"), 1)
	p.set(things, going(thing("w"), metav1.FinalizerDeleteDependents), 1)
	p.set(things, going(thing("x"), metav1.FinalizerDeleteDependents), 1)
	p.set(things, thing("b", "o"), 2)
	p.set(things, going(thing("x"), metav1.FinalizerDeleteDependents), 2)
	p.woken = nil
	p.prune(things, 2)
	p.wakes(t, "b", "c", "x") // whose owners may have gone unnoticed
	p.has(t, "o", 0, "b", "c")
}

func TestIndexPostpones(t *testing.T) {
	p := newProbe()
	key := controller.Key{Name: "a"}
	before := p.nextRound()
	p.postpone(key, before)
	p.wakes(t)
	p.resume()
	p.wakes(t, "a")
	p.resume()
	p.wakes(t)
	p.postpone(key, before) // the kinds are others by now
	p.wakes(t, "a")
	p.empty(t)
}

// Nothing is kept of what was postponed and is gone, or has no owners any more.
func TestIndexForgetsWhatWasPostponed(t *testing.T) {
	p := newProbe()
	for _, end := range []func(){
		func() { p.remove(things, thing("a", "o")) },
		func() { p.takes(thing("a")) },
	} {
		p.takes(thing("a", "o"))
		p.postpone(controller.Key{GroupResource: things, Name: "a"}, p.nextRound())
		end()
		p.empty(t)
	}
}

// What the index holds of 100,000 dependents of one owner.
func TestIndexIsSmall(t *testing.T) {
	const count = 100_000
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := heap()
	x := newIndex(func(controller.Key) {})
	for i := range count {
		m := thing(fmt.Sprintf("dependent-%06d", i), "c2b5bfc2-2f3f-4d2e-a0f7-e6a5b2b7a0a1!")
		m.Namespace, m.UID = "default", types.UID(fmt.Sprintf("%08d-2f3f-4d2e-a0f7-e6a5b2b7a0a1", i))
		x.set(things, m, 1)
	}
	each := (heap() - before) / count
	t.Logf("%d bytes for each dependent", each)
	if each > 600 {
		t.Errorf("a dependent takes %d bytes", each)
	}
	runtime.KeepAlive(x)
}

func TestNodes(t *testing.T) {
	yes, no, at := true, false, metav1.Now()
	m := &metav1.ObjectMeta{OwnerReferences: []metav1.OwnerReference{{UID: "yes", BlockOwnerDeletion: &yes}, {UID: "no", BlockOwnerDeletion: &no}, {UID: "nil"}}}
	for i, want := range []bool{true, false, false} {
		if blocks(m.OwnerReferences[i]) != want {
			t.Errorf("%+v blocks: %v", m.OwnerReferences[i], !want)
		}
	}
	unblock("another")(m)
	if !blocks(m.OwnerReferences[0]) {
		t.Error("it was not meant")
	}
	before := m.OwnerReferences
	unblock("yes")(m)
	if blocks(m.OwnerReferences[0]) || !*before[0].BlockOwnerDeletion || len(m.OwnerReferences) != 3 || m.OwnerReferences[2].BlockOwnerDeletion != nil {
		t.Errorf("got %v of %v", m.OwnerReferences, before)
	}
	disown("no", "none", "nil")(m)
	if len(m.OwnerReferences) != 1 || m.OwnerReferences[0].UID != "yes" || before[1].UID != "no" {
		t.Errorf("got %v of %v", m.OwnerReferences, before)
	}
	m.Finalizers = []string{metav1.FinalizerOrphanDependents}
	if orphans(m) {
		t.Error("nobody deletes it")
	}
	if m.DeletionTimestamp = &at; !orphans(m) || deletesDependents(m) {
		t.Error("it orphans")
	}
	if m.Finalizers[0] = metav1.FinalizerDeleteDependents; orphans(m) || !deletesDependents(m) {
		t.Error("it deletes")
	}
	m.UID, m.ResourceVersion = "uid", "7"
	if p := (node{ObjectMeta: m}).as(); *p.UID != "uid" || *p.ResourceVersion != "7" {
		t.Errorf("got %v", p)
	}
}

// blank is an object that cannot be read.
func blank(name string) *metav1.ObjectMeta { return &metav1.ObjectMeta{Name: name} }

func TestIndexKeepsWhatCannotBeRead_DEL05(t *testing.T) {
	p := newProbe()
	p.takes(thing("a", "o!"))
	p.takes(going(thing("w"), metav1.FinalizerDeleteDependents))
	p.woken = nil
	for _, name := range []string{"a", "w", "b"} {
		p.set(things, blank(name), 2)
	}
	p.wakes(t)
	p.prune(things, 2) // they were told of
	p.woken = nil
	p.has(t, "o", 1, "a")
	if _, waits := p.foreground["w"]; !waits {
		t.Error("who waited waits no longer")
	}
	near := func(place controller.Key) string { key, _ := p.unread(place); return key.Name }
	if in, none := near(controller.Key{}), near(controller.Key{Namespace: "ns"}); in != "b" && in != "w" || none != "" {
		t.Errorf("found %q and %q", in, none)
	}
	p.set(things, thing("b"), 2) // it can be read again
	p.remove(things, blank("w"))
	if in := near(controller.Key{}); in != "" {
		t.Errorf("found %q", in)
	}
	p.remove(things, blank("a"))
	p.set(things, blank("c"), 2)
	p.prune(things, 3)
	if in := near(controller.Key{}); in != "" {
		t.Errorf("found %q", in)
	}
	p.empty(t)
}

// Who blocks an owner is in its namespace, and the last of these has it looked at, whoever
// else refers to it; an owner in no namespace is blocked from everywhere.
func TestIndexCountsWhoBlocksByNamespace_DEL05(t *testing.T) {
	for namespace, want := range map[string][]int{"here": {1, 0, 0}, "": {3, 2, 0}} {
		p := newProbe()
		owner := going(thing("o"), metav1.FinalizerDeleteDependents)
		owner.Namespace = namespace
		p.takes(owner)
		var all []*metav1.ObjectMeta
		for _, ns := range []string{"here", "there", "elsewhere"} {
			d := thing("d-"+ns, "o!")
			d.Namespace = ns
			p.takes(d)
			all = append(all, d)
		}
		p.woken = nil
		for n, gone := range [][]*metav1.ObjectMeta{nil, all[:1], all[1:]} {
			for _, d := range gone {
				p.remove(things, d)
			}
			if _, blocking := p.of("o", namespace); blocking != want[n] {
				t.Errorf("in %q, after %d: %d block, want %d", namespace, n, blocking, want[n])
			}
			if woken := slices.Contains(p.woken, "o"); woken != (n > 0 && want[n] == 0) {
				t.Errorf("in %q, after %d: woke %v", namespace, n, p.woken)
			}
			p.woken = nil
		}
		if len(p.owners) != 0 {
			t.Errorf("left are %v", p.owners)
		}
	}
}
