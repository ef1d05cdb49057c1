package garbage

import (
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wasmgate/wasmgate/gateway/controller"
)

func TestWaits(t *testing.T) {
	key := func(name string) controller.Key { return controller.Key{Name: name} }
	nodes := func(names ...string) (out []node) {
		for _, n := range names {
			out = append(out, node{Key: key(n)})
		}
		return out
	}
	sorted := func(keys []controller.Key) (out []string) {
		for _, k := range keys {
			out = append(out, k.Name)
		}
		slices.Sort(out)
		return out
	}
	var w waits
	w.forget(key("a"))
	w.set(key("a"), nil)
	if w.concern(key("a")) || w.on(key("a")) != nil || w.all() != nil || w.reach(key("a"), key("b")) {
		t.Error("nobody waits")
	}
	w.set(key("a"), nodes("b", "c"))
	w.set(key("b"), nodes("c", "d"))
	w.set(key("d"), nodes("e"))
	if got := sorted(w.all()); !slices.Equal(got, []string{"a", "b", "d"}) {
		t.Errorf("%v wait", got)
	}
	if got := sorted(w.on(key("c"))); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("%v wait for c", got)
	}
	for from, to := range map[string]string{"a": "e", "b": "d", "e": "e"} {
		if !w.reach(key(from), key(to)) {
			t.Errorf("%s does not reach %s", from, to)
		}
	}
	if w.reach(key("e"), key("a")) || w.reach(key("d"), key("c")) {
		t.Error("they wait the other way")
	}
	w.set(key("e"), nodes("a")) // a circle ends all the same
	if !w.reach(key("e"), key("d")) || w.reach(key("a"), key("z")) {
		t.Error("the circle is lost")
	}
	w.set(key("a"), nodes("c"))
	if got := sorted(w.on(key("b"))); got != nil {
		t.Errorf("%v wait for b", got)
	}
	w.forget(key("b"))
	if got := sorted(w.on(key("c"))); !slices.Equal(got, []string{"a"}) || w.concern(key("b")) {
		t.Errorf("%v wait for c", got)
	}
	for _, k := range []string{"a", "d", "e"} {
		w.forget(key(k))
	}
	if len(w.forDependents) != 0 || len(w.byDependent) != 0 {
		t.Errorf("left %v, %v", w.forDependents, w.byDependent)
	}
}

func TestNodes(t *testing.T) {
	yes, no, at := true, false, metav1.Now()
	n := node{ObjectMeta: metav1.ObjectMeta{OwnerReferences: []metav1.OwnerReference{{UID: "yes", BlockOwnerDeletion: &yes}, {UID: "no", BlockOwnerDeletion: &no}, {UID: "nil"}}}}
	if !n.blocks("yes") || n.blocks("no") || n.blocks("nil") || n.blocks("another") {
		t.Error("it blocks others")
	}
	unblock("another")(&n.ObjectMeta)
	if !n.blocks("yes") {
		t.Error("it was not meant")
	}
	before := n.OwnerReferences
	unblock("yes")(&n.ObjectMeta)
	if n.blocks("yes") || !*before[0].BlockOwnerDeletion || len(n.OwnerReferences) != 3 || n.OwnerReferences[2].BlockOwnerDeletion != nil {
		t.Errorf("got %v of %v", n.OwnerReferences, before)
	}
	n.Finalizers = []string{metav1.FinalizerOrphanDependents}
	if n.orphans() {
		t.Error("nobody deletes it")
	}
	if n.DeletionTimestamp = &at; !n.orphans() || n.deletesDependents() {
		t.Error("it orphans")
	}
	if n.Finalizers[0] = metav1.FinalizerDeleteDependents; n.orphans() || !n.deletesDependents() {
		t.Error("it deletes")
	}
	n.UID, n.ResourceVersion = "uid", "7"
	if p := n.as(false); *p.UID != "uid" || p.ResourceVersion != nil {
		t.Errorf("got %v", p)
	}
	if p := n.as(true); *p.UID != "uid" || *p.ResourceVersion != "7" {
		t.Errorf("got %v", p)
	}
}
