package rbac

import (
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
)

// A set has the rules that were added to it, whatever it is kept as: a few words, many
// that are far apart, or an array; and so has the union of more of them than a few.
func TestSetsOfRules(t *testing.T) {
	const all = 100_000
	for name, rules := range map[string][]int{
		"nothing": {}, "a few": {0, 63, 64, 200}, "four words": {0, 64, 128, 192}, "far apart": {1, 1000, 2000, 3000, 40_000, 99_999},
	} {
		s := &ruleSet{}
		for _, r := range rules {
			s.add(r)
		}
		s.settle(all)
		same(t, name, s.word, rules)
		same(t, "a copy of "+name, s.clone().word, rules)
	}
	dense, every := &ruleSet{}, []int{}
	for r := 0; r < 64*40; r += 7 {
		dense.add(r)
		every = append(every, r)
	}
	dense.settle(64 * 40)
	if dense.dense == nil {
		t.Error("a set of a seventh of all is not kept as an array")
	}
	same(t, "many", dense.word, every)
	more := dense.clone()
	for _, r := range []int{64*40 + 1, 64*60 + 5} {
		more.add(r)
	}
	more.settle(64 * 70)
	same(t, "many and two", more.word, append(every, 64*40+1, 64*60+5))
	same(t, "many as they were", dense.word, every)
	same(t, "of nil", (*ruleSet)(nil).clone().word, nil)
	same(t, "nil", (*ruleSet)(nil).word, nil)
	var e either
	var want []int
	for r := range 6 { // more than are kept apart
		s := &ruleSet{}
		s.add(r * 100)
		e.or(s)
		e.or(nil)
		want = append(want, r*100)
	}
	same(t, "the union of six", e.word, want)
}

// same tells whether exactly these rules are in a set.
func same(t *testing.T, name string, word func(uint32) uint64, rules []int) {
	t.Helper()
	has := map[uint32]uint64{}
	for _, r := range rules {
		has[uint32(r/wordBits)] |= 1 << (r % wordBits)
	}
	for at := range uint32(1600) {
		if got := word(at); got != has[at] {
			t.Errorf("%s: word %d is %x, want %x", name, at, got, has[at])
			return
		}
	}
}

// A binding of what is no role gives nothing, and says why.
func TestBindingsOfWhatIsNoRole(t *testing.T) {
	for kind, namespace := range map[string]string{"Role": "", "Odd": "ns", "": "ns"} {
		b := &bound{key: key{namespace, "b"}, ref: rbacv1.RoleRef{Kind: kind, Name: "r"}}
		if of, err := b.refersTo(); err == nil || of != (key{}) || err.Error() != `unsupported role reference kind: "`+kind+`"` {
			t.Errorf("%s of %q: %v, %v", kind, namespace, of, err)
		}
		if out := new(Compiler).compiled(b); out.missing == nil || out.key != b.key {
			t.Errorf("%s of %q: %+v", kind, namespace, out)
		}
	}
	for kind, want := range map[string]key{"ClusterRole": {"", "r"}, "Role": {"ns", "r"}} {
		if of, err := (&bound{key: key{"ns", "b"}, ref: rbacv1.RoleRef{Kind: kind, Name: "r"}}).refersTo(); err != nil || of != want {
			t.Errorf("%s: %v, %v", kind, of, err)
		}
	}
}
