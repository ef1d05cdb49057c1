package draft

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/wasmgate/wasmgate/conversion/rules"
)

// couple is a field of each version.
type couple struct {
	a, b *unit
	likeness
}

// match finds the fields that are the same under another name or at another place, the
// likeliest first. What is in them is compared then, and may leave more.
func (w *work) match() {
	var couples []couple
	seenA, seenB := 0, 0
	for {
		groups(w)
		if fresh := w.couples(seenA, seenB); len(fresh) > 0 {
			w.candidates = append(w.candidates, fresh...)
			couples = append(couples, fresh...)
			slices.SortStableFunc(couples, func(x, y couple) int {
				return cmp.Or(cmp.Compare(y.rank(), x.rank()), len(x.a.steps)-len(y.a.steps)) // the whole before its parts
			})
		}
		seenA, seenB = len(w.gone), len(w.fresh)
		couples = slices.DeleteFunc(couples, func(c couple) bool { return !c.a.free() || !c.b.free() })
		if len(couples) == 0 || couples[0].score < same {
			return
		}
		outermost(couples)
		w.accept(couples)
	}
}

// rank is the order of couples: of those that are likely, those at one place come first.
func (c couple) rank() float64 {
	if c.score >= same && samePlace(c.a, c.b) {
		return c.score + 0.15
	}
	return c.score
}

// outermost brings the couple to the front that has the first one in it, if what is
// above both fields is alike, too.
func outermost(couples []couple) {
	best := 0
	for i, c := range couples {
		if o := couples[best]; c.score >= same && isPrefix(c.a.steps, o.a.steps) && isPrefix(c.b.steps, o.b.steps) {
			best = i
		}
	}
	couples[0], couples[best] = couples[best], couples[0]
}

func (u *unit) free() bool { return !u.used && !u.partly }

// couples are those of fields of which one at least was not compared yet.
func (w *work) couples(seenA, seenB int) (all []couple) {
	w.gone.count()
	w.fresh.count()
	for i, a := range w.gone {
		if !a.free() {
			continue
		}
		for j, b := range w.fresh {
			if i < seenA && j < seenB || !b.free() {
				continue
			}
			if l := compare(a, b); l.score >= maybe {
				all = append(all, couple{a, b, l})
			}
		}
	}
	return all
}

// count finds the names that several have at different places.
func (p pool) count() {
	names := map[string]int{}
	in := func(u *unit) string { return path(u.steps[:lastItem(u.steps)]) + " " + u.name() }
	for _, u := range p {
		if u.free() {
			names[in(u)]++
		}
	}
	for _, u := range p {
		u.common = names[in(u)] > 1
	}
}

// accept takes the first of the couples for what it is.
func (w *work) accept(couples []couple) {
	c := couples[0]
	op := Op{At: path(c.a.steps), Why: c.why()}
	next := 0.0
	for _, other := range couples[1:] {
		if (other.a == c.a) == (other.b == c.b) { // neither, as there is no other of both
			continue
		}
		next = max(next, other.score)
		if len(op.Alternatives) < 3 {
			op.Alternatives = append(op.Alternatives, fmt.Sprintf("%s is %s (%d%%)", path(other.a.steps), path(other.b.steps), int(100*other.score)))
		}
	}
	op.Certain = c.certain(c.a, c.b, next)
	w.gone.take(c.a, op.Certain)
	w.fresh.take(c.b, op.Certain)
	w.move(c.a.steps, c.b.steps, op)
	if op, ok := c.unit(); ok {
		w.add(op, nil)
	} else {
		w.walk(c.b.steps, c.a.s, c.b.s, len(c.b.steps))
	}
	switch op := w.require(c.b.steps, c.b.s); {
	case !c.b.needed || c.a.needed || c.b.lone: // what has nothing else is not there without it
	case samePlace(c.a, c.b):
		w.add(op, nil)
	default: // when all that goes there is there
		w.last = append(w.last, op)
	}
}

// unit is the operation that makes a text with a unit of a number whose name ends with
// that unit, or the other way around; ok tells whether they are such.
func (c couple) unit() (op Op, ok bool) {
	at := path(c.b.steps)
	op = Op{At: at, Why: "the name of the number ends with a unit, and the other version has a text"}
	switch unit := unitOf(c.a); {
	case unit != "" && kind(c.b.s) == "string":
		op.Unit = &rules.Unit{Field: at, Kind: "Duration", Unit: unit}
	case unitOf(c.b) == "s" && kind(c.a.s) == "string":
		op.CEL = &rules.CEL{From: at, To: at, Expression: "duration(self).getSeconds()", Back: "string(self) + 's'"}
		op.Why += "; fractions of a second are lost, and 1m comes back as 60s"
	default:
		return op, false
	}
	return op, true
}

// move adds the operation that brings a field to another place.
func (w *work) move(from, to []string, op Op) {
	if slices.Equal(from[:len(from)-1], to[:len(to)-1]) {
		op.Rename = &rules.Rename{Field: path(from), To: to[len(to)-1]}
	} else {
		op.Move = &rules.Move{From: path(from), To: path(to)}
	}
	w.add(op, to)
}

// take marks a field as one that found its place, with all that is in it.
func (p pool) take(u *unit, sure bool) {
	for _, other := range p {
		switch {
		case isPrefix(u.steps, other.steps):
			other.used, other.sure = true, sure
		case isPrefix(other.steps, u.steps):
			other.partly = true
		}
	}
}
