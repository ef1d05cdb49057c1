package draft

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"regexp"
	"slices"
	"strings"

	"github.com/wasmgate/wasmgate/conversion/rules"
)

// rest says what becomes of the fields that found no counterpart: the one version keeps
// those of the other in annotations.
func (w *work) rest() {
	for i := range w.ops {
		if of := w.ops[i].of; of != nil {
			w.ops[i].Certain = of.sure // that it is something else than its namesake
		}
	}
	for _, u := range w.fresh {
		if u.used {
			continue
		}
		if u.whole {
			w.restore(u)
		}
		if u.needed && (u.whole || w.fresh.partlyIn(u)) && !u.partly {
			w.early(u.steps, w.require(u.steps, u.s))
		}
	}
	for _, u := range w.gone {
		if !u.used && u.whole {
			w.keep(u)
		}
	}
}

// partlyIn tells whether something moved into what is right above a field.
func (p pool) partlyIn(u *unit) bool {
	above := u.steps[:len(u.steps)-1]
	return slices.ContainsFunc(p, func(o *unit) bool { return o.partly && slices.Equal(o.steps, above) })
}

func (w *work) restore(u *unit) {
	op := w.leftover(u, func(c couple) *unit { return c.b }, w.fresh, w.gone)
	if u.held {
		held(w, op, w.from)
		return
	}
	op.Why = fmt.Sprintf("%s has nothing like it", w.from)
	if u.partly {
		op.Why = fmt.Sprintf("what else is in it, %s does not have", w.from)
	}
	if lastItem(u.steps) > 0 {
		op.Why += ", and annotations keep nothing of items: at " + w.from + " it is lost"
		op.Certain = false
		w.early(u.steps, op)
		return
	}
	op.Restore = &rules.Keep{Field: op.At, Annotation: annotation(u.steps)}
	op.limited(u.s)
	w.early(u.steps, op)
}

func (w *work) keep(u *unit) {
	op := w.leftover(u, func(c couple) *unit { return c.a }, w.gone, w.fresh)
	if u.heir != "" {
		op.Certain = false
		op.Alternatives = append(op.Alternatives, fmt.Sprintf("%s, which both versions have, takes it", u.heir))
	}
	if w.conditions && kind(u.s) == "boolean" && u.steps[0] == "status" {
		op.Certain = false
		op.Alternatives = append(op.Alternatives, "a condition in status.conditions tells it")
	}
	if strings.Contains(strings.ToLower(u.s.Description), "instead") {
		op.Certain = false
		op.Alternatives = append(op.Alternatives, "its description says what is used instead")
	}
	if u.held {
		held(w, op, w.to)
		return
	}
	op.Why = fmt.Sprintf("%s has nothing like it", w.to)
	if u.partly {
		op.Why = fmt.Sprintf("what else is in it, %s does not have", w.to)
	}
	if lastItem(u.steps) > 0 {
		op.Why += ", and annotations keep nothing of items: it is lost"
		op.Certain = false
		op.Remove = &rules.Remove{Field: op.At}
		w.after = append(w.after, op)
		return
	}
	op.Keep = &rules.Keep{Field: op.At, Annotation: annotation(u.steps)}
	op.limited(u.s)
	w.after = append(w.after, op)
}

// leftover is an operation about a field without a counterpart: it is certain unless
// something comes near to it, or to what is in it, that may not be what it was taken for.
func (w *work) leftover(u *unit, of func(couple) *unit, mine, theirs pool) Op {
	op := Op{At: path(u.steps), Certain: true, of: u}
	unsure := func(alternative string) {
		op.Certain = false
		if len(op.Alternatives) < 3 {
			op.Alternatives = append(op.Alternatives, alternative)
		}
	}
	near := map[[2]*unit]bool{}
	if other := u.namesake; other != nil && !u.sure && !other.sure {
		near[[2]*unit{u, other}] = true
		unsure("the same field, with another type: write it by hand")
	}
	for _, c := range w.candidates {
		if isPrefix(u.steps, of(c).steps) && !c.a.sure && !c.b.sure {
			near[[2]*unit{c.a, c.b}], near[[2]*unit{c.b, c.a}] = true, true
			unsure(fmt.Sprintf("%s is %s (%d%%)", path(c.a.steps), path(c.b.steps), int(100*c.score)))
		}
	}
	for _, own := range mine {
		if own.used || !isPrefix(u.steps, own.steps) {
			continue
		}
		for _, other := range theirs {
			if !other.sure && !near[[2]*unit{own, other}] && inScope(own.steps, other.steps) && mayBecome(own, other) {
				unsure(fmt.Sprintf("%s, of which the other version has %s", path(own.steps), path(other.steps)))
			}
		}
	}
	return op
}

// mayBecome tells whether a field may be another one for all that is known: names have a
// word in common, or both are flags, of which names and descriptions say anything.
func mayBecome(a, b *unit) bool {
	x, y := kind(a.s), kind(b.s)
	if x == "boolean" && y == "boolean" && len(a.steps) > 1 && isPrefix(a.steps[:1], b.steps) {
		return true
	}
	return (x == y || x == "string" && unitOf(b) != "" || y == "string" && unitOf(a) != "") && shareWord(a, b)
}

// shareWord tells whether the names of two fields have a word in common that says
// something, with those of what they are in.
func shareWord(a, b *unit) bool {
	for _, word := range full(a.above, a.tokens) {
		if !slices.Contains(vague, word) && slices.Contains(full(b.above, b.tokens), word) {
			return !samePlace(a, b) || slices.Contains(a.tokens, word) && slices.Contains(b.tokens, word)
		}
	}
	return false
}

// longest is how long the name of an annotation may be.
const longest = 63

// annotation is the name of the annotation that keeps a field, "" for that which rules
// choose; it names one that would be too long, or could be that of another place as well.
func annotation(steps []string) string {
	if len(strings.Join(steps, ".")) <= longest && !slices.ContainsFunc(steps, unlike) {
		return ""
	}
	return summed("", steps)
}

// orderIn is the annotation that keeps the order of a list; items of lists have none, nor
// has what should be an object.
func orderIn(at []string) string {
	if len(at) == 0 || slices.Contains(at, item) {
		return ""
	}
	const begin = "order-of-"
	if name := begin + strings.Join(at, "."); len(name) <= longest && !slices.ContainsFunc(at, unlike) {
		return domain + name
	}
	return summed(begin, at)
}

// wordy are steps that the name of an annotation can have as they are, even as its end.
var wordy = regexp.MustCompile(`^[A-Za-z0-9_-]*[A-Za-z0-9]$`)

// unlike tells whether the name of an annotation has to have something else for a step.
func unlike(step string) bool { return !wordy.MatchString(step) }

// domain is that of annotations.
const domain = "conversion.wasmgate.dev/"

// summed is an annotation that is named by the last of some steps, and by a sum of all.
func summed(begin string, steps []string) string {
	sum := fnv.New32a()
	_, _ = sum.Write([]byte(path(steps)))
	tail := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, steps[len(steps)-1])
	return fmt.Sprintf("%s%s%s-%08x", domain, begin, tail[:min(len(tail), 40)], sum.Sum32())
}

// require gives a field that has to be there a value.
func (w *work) require(steps []string, s *schema) Op {
	value := zero(s)
	op := Op{At: path(steps), Why: fmt.Sprintf("%s requires it and has no default", w.to)}
	if value == "" {
		op.Why += ", and no value is known that is valid: add one"
		return op
	}
	op.Why += ": the value was made up"
	op.Default = &rules.Value{Field: path(steps), Value: json.RawMessage(value)}
	return op
}
