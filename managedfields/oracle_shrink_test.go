package managedfields_test

import (
	"encoding/json"
	"maps"
	"slices"

	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// shrink makes a case smaller for as long as ours differs from the oracle in
// the same way: operations first, then whatever else its JSON can do without.
// It makes at most that many attempts.
func shrink(c *oracleCase, want *difference, attempts int) *oracleCase {
	s := &shrinker{want: want, left: attempts, best: c}
	if !s.still(c) {
		return c // it depends on something that is not in the case
	}
	for size := -1; size != s.size() && s.left > 0; {
		size = s.size()
		s.pass()
	}
	return s.best
}

type shrinker struct {
	want *difference
	left int
	best *oracleCase
}

func (s *shrinker) size() int { return len(asJSON(s.best)) }

func (s *shrinker) still(c *oracleCase) bool {
	s.left--
	d, err := safely(func() (*difference, error) { return runCase(c) })
	return err == nil && d != nil && d.What == s.want.What
}

// pass tries once to do without each part, from the outside to the inside.
func (s *shrinker) pass() {
	var whole any
	if err := utiljson.Unmarshal([]byte(asJSON(s.best)), &whole); err != nil {
		return
	}
	level := []node{{whole, func(v any) { whole = v }}}
	for len(level) > 0 && s.left > 0 {
		var next []node
		for _, n := range level {
			next = append(next, s.without(n, &whole)...)
		}
		level = next
	}
}

// node is a part of a JSON value, and how it is replaced there.
type node struct {
	value any
	set   func(any)
}

// without tries to remove each member of n and returns what is left of them.
func (s *shrinker) without(n node, whole *any) []node {
	var rest []node
	switch x := n.value.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(x)) {
			old := x[name]
			delete(x, name)
			if s.accept(*whole) {
				continue
			}
			x[name] = old
			rest = append(rest, node{old, func(v any) { x[name] = v }})
		}
	case []any:
		for i := len(x) - 1; i >= 0; i-- {
			shorter := slices.Delete(slices.Clone(x), i, i+1)
			n.set(shorter)
			if s.accept(*whole) {
				x = shorter
				continue
			}
			n.set(x)
		}
		for i := range x {
			rest = append(rest, node{x[i], func(v any) { x[i] = v }})
		}
	}
	return rest
}

func (s *shrinker) accept(whole any) bool {
	if s.left <= 0 {
		return false
	}
	c := &oracleCase{}
	text, err := json.Marshal(keepFloats(whole))
	if err != nil || json.Unmarshal(text, c) != nil || !s.still(c) {
		return false
	}
	s.best = c
	return true
}
