package draft

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Scores from which on two fields are taken for the same, and are worth a remark.
const (
	same  = 0.5
	maybe = 0.2
)

// likeness is how likely a field of one version is one of the other.
type likeness struct {
	score float64
	// names and described are how much names and descriptions have in common; the
	// latter is negative where one has none.
	names, described float64
	// shape is how much alike the values are.
	shape float64
}

// vague are names that say little without what is above them.
var vague = strings.Fields("name type kind value key enabled status spec config reference data id reason message path mode policy template selector namespace version count size port host address url image label annotation item")

func compare(a, b *unit) likeness {
	l := likeness{described: -1}
	if !inScope(a.steps, b.steps) || !alike(a.s, b.s) || isPrefix(a.steps, b.steps) && kind(a.s) == "object" || isPrefix(b.steps, a.steps) && kind(b.s) == "object" {
		return l
	}
	l.shape = shape(a.s, b.s)
	l.names = named(a, b)
	if len(a.words) > 0 && len(b.words) > 0 {
		l.described = overlap(a.words, b.words)
		l.score = 0.5*l.names + 0.5*min(1, 1.3*l.described)
		if l.described >= 0.9 && len(a.words) > 2 {
			l.score = max(l.score, 0.65)
		}
	} else {
		l.score = 0.9 * l.names
	}
	l.score *= l.shape
	if samePlace(a, b) {
		l.score = min(1, l.score+0.05)
	}
	return l
}

func isPrefix(a, b []string) bool { return len(a) <= len(b) && slices.Equal(a, b[:len(a)]) }

func samePlace(a, b *unit) bool {
	return slices.Equal(a.steps[:len(a.steps)-1], b.steps[:len(b.steps)-1])
}

// named compares the names of two fields, also with those of what is above them:
// topology.version may become topologyVersion, and secret secretRef.name.
func named(a, b *unit) float64 {
	x, y := a.tokens, b.tokens
	if unitOf(a) != "" && kind(b.s) == "string" {
		x = x[:len(x)-1]
	}
	if unitOf(b) != "" && kind(a.s) == "string" {
		y = y[:len(y)-1]
	}
	n := similar(x, y)
	if a.name() == b.name() {
		n = 1
	}
	if !samePlace(a, b) && (a.common && b.common || len(x) == 1 && slices.Contains(vague, x[0])) && n > 0.9 {
		n *= 0.4 + 0.6*similar(a.above, b.above)
	}
	if samePlace(a, b) {
		if len(x) > 0 && len(y) > 0 && x[len(x)-1] == y[len(y)-1] && contained(a.s, b.s) > 0 { // ref, and templateRef
			n = max(n, 0.85*contained(a.s, b.s))
		}
		return n
	}
	if refersTo(b, a) || refersTo(a, b) {
		return 1
	}
	return max(n, 0.9*similar(full(a.above, x), y), 0.9*similar(x, full(b.above, y)))
}

// refersTo tells whether a field is the name in a reference that stands where the other one
// does, and is called after it: classRef.name, of class.
func refersTo(in, one *unit) bool {
	n := len(in.steps) - 1
	if n != len(one.steps) || in.steps[n] != "name" || kind(in.s) != kind(one.s) || !slices.Equal(in.steps[:n-1], one.steps[:n-1]) {
		return false
	}
	above := tokens(in.steps[n-1])
	return len(above) > 1 && above[len(above)-1] == "reference" && slices.Equal(above[:len(above)-1], one.tokens)
}

// full is a name with that of what it is in; the name of what is referred to is told by
// the reference.
func full(above, name []string) []string {
	if slices.Equal(name, []string{"name"}) && len(above) > 1 && above[len(above)-1] == "reference" {
		return above[:len(above)-1]
	}
	return slices.Concat(above, name)
}

// shape compares what values there may be.
func shape(a, b *schema) float64 {
	if kind(a) != kind(b) {
		return 0.75
	}
	switch kind(a) {
	case "object":
		return 0.55 + 0.45*max(properties(a, b), 0.8*contained(a, b))
	case "array":
		x, y := items(a), items(b)
		if x == nil || y == nil || kind(x) != kind(y) {
			return 0.6
		}
		return shape(x, y)
	}
	switch x, y := texts(a), texts(b); {
	case len(x) > 0 && len(y) > 0:
		return 0.6 + 0.4*overlap(lower(x), lower(y))
	case len(x) > 0 || len(y) > 0 || a.Format != b.Format:
		return 0.85
	}
	return 1
}

func lower(all []string) []string {
	for i := range all {
		all[i] = strings.ToLower(all[i])
	}
	return all
}

// properties is how many fields two objects have in common.
func properties(a, b *schema) float64 {
	x, y := slices.Collect(maps.Keys(a.Properties)), slices.Collect(maps.Keys(b.Properties))
	if len(x) == 0 && len(y) == 0 {
		return 1
	}
	return overlap(x, y)
}

// contained is how much of the smaller one of two objects the other one has, if that is more
// than a name and a kind.
func contained(a, b *schema) float64 {
	if len(a.Properties) > len(b.Properties) {
		a, b = b, a
	}
	both := 0
	for name := range a.Properties {
		if _, ok := b.Properties[name]; ok {
			both++
		}
	}
	if both < 3 {
		return 0
	}
	return float64(both) / float64(len(a.Properties))
}

// certain tells whether nobody has to look at a pair that nothing else comes near to.
func (l likeness) certain(a, b *unit, next float64) bool {
	if kind(a.s) != kind(b.s) || l.score-next < 0.2 || kind(a.s) == "object" && properties(a.s, b.s) < 0.5 || l.shape < 0.8 {
		return false
	}
	if l.described < 0 {
		return l.names >= 0.95 && (samePlace(a, b) || !slices.Contains(vague, b.first()))
	}
	return l.names >= 0.95 && l.described >= 0.3 || l.names >= 0.6 && l.described >= 0.65
}

// why says what two fields have in common.
func (l likeness) why() string {
	var parts []string
	switch {
	case l.names == 1:
		parts = append(parts, "the name is the same")
	case l.names >= 0.5:
		parts = append(parts, "the names are alike")
	default:
		parts = append(parts, "the names differ")
	}
	switch {
	case l.described < 0:
		parts = append(parts, "there are no descriptions to compare")
	case l.described >= 0.65:
		parts = append(parts, "the descriptions say the same")
	default:
		parts = append(parts, fmt.Sprintf("the descriptions have %d%% of their words in common", int(100*l.described)))
	}
	return strings.Join(parts, ", ")
}

// unitOf is the unit that the name of a number ends with, "" for none.
func unitOf(u *unit) string {
	if kind(u.s) != "integer" {
		return ""
	}
	t := u.tokens
	if len(t) < 2 {
		return ""
	}
	return map[string]string{"second": "s", "milli": "ms", "millisecond": "ms", "minute": "m", "hour": "h"}[t[len(t)-1]]
}

// first is the first word of a name.
func (u *unit) first() string {
	if len(u.tokens) == 0 {
		return ""
	}
	return u.tokens[0]
}
