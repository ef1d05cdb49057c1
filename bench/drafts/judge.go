package main

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/wasmgate/wasmgate/conversion/draft"
	"github.com/wasmgate/wasmgate/conversion/rules"
)

// seen is a leaf, and where the project's converters and the draft bring it.
type seen struct {
	leaf         *node
	values       []string
	theirs, ours effect
}

// field is one that changed, as an author would count: an object that moved with all
// that is in it is one.
type field struct {
	at, what, verdict string
	theirs, ours      string
	// unseen tells that both schemas have it alike, so that none tells that it changes.
	unseen bool
}

// judgement is that of a pair.
type judgement struct {
	to   *schema
	all  map[*node]*seen
	ops  []draft.Op
	out  []field
	leaf map[*node][]*seen
}

// judge compares the leaves, from the root on.
func judge(root *node, to *schema, leaves []*seen, ops []draft.Op) []field {
	j := &judgement{to: to, all: map[*node]*seen{}, ops: ops, leaf: map[*node][]*seen{}}
	for _, l := range leaves {
		j.all[l.leaf] = l
		for n := l.leaf; n != nil; n = n.up {
			j.leaf[n] = append(j.leaf[n], l)
		}
	}
	for _, n := range root.below {
		j.node(n, n.name, n.name)
	}
	return j.out
}

// node judges a place, of which the one above it leads to expect theirs and ours.
func (j *judgement) node(n *node, theirs, ours string) {
	if len(j.leaf[n]) == 0 {
		return
	}
	if l := j.all[n]; l != nil {
		j.scalar(l, theirs, ours)
		return
	}
	there := j.target(n, theirs, func(s *seen) effect { return s.theirs })
	here := j.target(n, ours, func(s *seen) effect { return s.ours })
	if j.mostlyEqual(n) {
		here = there
	}
	if there != theirs {
		what, right := "moved", there == here
		if there == "" {
			what = "dropped"
		}
		j.add(n, what, right, name(there), name(here))
		if there == "" {
			return
		}
		if here == "" { // so that what is in it is not blamed once more
			return
		}
	} else if here != ours && here != there && here != "" {
		j.add(n, "unchanged", false, there, name(here))
	}
	for _, child := range n.below {
		j.node(child, join(there, child.name), join(here, child.name))
	}
}

// mostlyEqual tells whether most of the leaves below a place that go anywhere go where they
// should.
func (j *judgement) mostlyEqual(n *node) bool {
	equal, all := 0, 0
	for _, l := range j.leaf[n] {
		if len(l.theirs) > 0 {
			all++
			if l.theirs.equal(l.ours) {
				equal++
			}
		}
	}
	return 2*equal > all
}

func name(place string) string {
	if place == "" {
		return "nothing"
	}
	return place
}

// scalar judges a leaf.
func (j *judgement) scalar(l *seen, theirs, ours string) {
	right := l.theirs.equal(l.ours)
	switch {
	case l.theirs.as(theirs, l.values) && right || l.theirs.as(theirs, l.values) && l.ours.as(ours, l.values):
		return // neither does anything that is not done to what it is in
	case l.theirs.as(theirs, l.values):
		j.add(l.leaf, "unchanged", false, l.theirs.String(), l.ours.String())
		return
	}
	what := "moved"
	switch places := l.theirs.places(); {
	case len(places) == 0:
		what = "dropped"
	case len(places) > 1:
		what = "several"
	case places[0] == theirs:
		what = "values"
	case !slices.Equal(l.theirs[places[0]], l.values):
		what = "moved, values"
	}
	j.add(l.leaf, what, right, l.theirs.String(), l.ours.String())
}

// target is the place to which most of what is in a place goes, each at the place in it
// where it was; where there is no such, it is the expected one, or "" if all is dropped.
func (j *judgement) target(n *node, expected string, of func(*seen) effect) string {
	votes, all, gone := map[string]int{}, 0, 0
	for _, child := range n.below {
		if len(j.leaf[child]) == 0 {
			continue
		}
		all++
		to := ""
		if l := j.all[child]; l != nil {
			if places := of(l).places(); len(places) == 1 {
				to = places[0]
			} else if len(places) > 1 {
				continue
			}
		} else {
			to = j.target(child, join(expected, child.name), of)
		}
		if to == "" {
			gone++
		}
		if above, ok := strings.CutSuffix(to, join("", child.name)); ok && (child.name == item || above == "" || above[len(above)-1] == '.') {
			votes[strings.TrimSuffix(above, ".")]++
		}
	}
	if gone == all {
		return ""
	}
	best := expected
	for place, n := range votes {
		if n > votes[best] && 2*n > all-gone || n == votes[best] && best != expected && place < best {
			best = place
		}
	}
	return best
}

func (j *judgement) add(n *node, what string, right bool, theirs, ours string) {
	at := n.path
	f := field{at: at, unseen: what != "unchanged" && n.alike(j.to), what: what, verdict: "wrong, without a mark", theirs: theirs, ours: ours}
	switch marked := j.marked(at, theirs, ours); {
	case right && marked:
		f.verdict = "right, marked"
	case right:
		f.verdict = "right"
	case marked:
		f.verdict = "wrong, marked"
	}
	j.out = append(j.out, f)
}

// alike tells whether another schema has the same at a place, but for what descriptions say.
func (n *node) alike(to *schema) bool {
	var names []string
	for at := n; at.up != nil; at = at.up {
		names = append(names, at.name)
	}
	slices.Reverse(names)
	for _, name := range names {
		one, ok := to.Properties[name]
		switch {
		case name == item && to.Items != nil && to.Items.Schema != nil:
			one = *to.Items.Schema
		case name == item && to.AdditionalProperties != nil && to.AdditionalProperties.Schema != nil:
			one = *to.AdditionalProperties.Schema
		case !ok:
			return false
		}
		to = &one
	}
	return to.Type == n.s.Type && to.XIntOrString == n.s.XIntOrString && reflect.DeepEqual(to.Enum, n.s.Enum) && to.Pattern == n.s.Pattern &&
		slices.Equal(slices.Sorted(maps.Keys(to.Properties)), slices.Sorted(maps.Keys(n.s.Properties)))
}

// marked tells whether an author is told to look at a field: by a mark on it or on what it
// is in, at its old place or where the draft brings it, or by one that names it.
func (j *judgement) marked(at, theirs, ours string) bool {
	return slices.ContainsFunc(j.ops, func(op draft.Op) bool {
		if op.Certain || op.At == "" {
			return false
		}
		places := []string{op.At}
		if op.Rule != (rules.Rule{}) && op.Move != nil {
			places = append(places, op.Move.To)
		}
		for _, place := range places {
			if within(at, place) || slices.ContainsFunc(strings.Split(ours, ", "), func(our string) bool { return within(our, place) }) {
				return true
			}
		}
		return slices.ContainsFunc(op.Alternatives, func(a string) bool {
			return slices.ContainsFunc(strings.FieldsFunc(a, func(r rune) bool { return r == ' ' || r == ',' }), func(word string) bool { return word == at })
		}) && slices.ContainsFunc(strings.Split(theirs, ", "), func(their string) bool { return within(their, op.At) })
	})
}

// within tells whether a place is another one, or in it; what is at the top of an object
// is too much to look at.
func within(at, place string) bool {
	rest, ok := strings.CutPrefix(at, place)
	return ok && (rest == "" || strings.ContainsAny(place, ".[") && (rest[0] == '.' || rest[0] == '['))
}
