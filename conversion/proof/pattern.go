package proof

import (
	"math/rand/v2"
	"regexp/syntax"
	"strings"
)

// The bounds of a text that is made of a pattern.
const (
	maxRepeats = 3
	maxWork    = 2000
)

// matching makes a text that a pattern is likely to match. It looks at no
// conditions on places, such as word boundaries.
func matching(pattern string, random *rand.Rand) (text string, ok bool) {
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return "", false
	}
	w := writer{random: random, left: maxWork}
	w.write(parsed)
	return w.String(), w.left > 0
}

type writer struct {
	strings.Builder
	random *rand.Rand
	left   int
}

func (w *writer) write(re *syntax.Regexp) {
	if w.left--; w.left <= 0 {
		return
	}
	switch re.Op {
	case syntax.OpLiteral:
		w.WriteString(string(re.Rune))
	case syntax.OpCharClass:
		w.class(re.Rune)
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		w.WriteByte("abcx019"[w.random.IntN(7)])
	case syntax.OpCapture, syntax.OpConcat:
		for _, sub := range re.Sub {
			w.write(sub)
		}
	case syntax.OpAlternate:
		w.write(re.Sub[w.random.IntN(len(re.Sub))])
	case syntax.OpStar:
		w.repeat(re.Sub[0], 0, -1)
	case syntax.OpPlus:
		w.repeat(re.Sub[0], 1, -1)
	case syntax.OpQuest:
		w.repeat(re.Sub[0], 0, 1)
	case syntax.OpRepeat:
		w.repeat(re.Sub[0], re.Min, re.Max)
	}
}

func (w *writer) repeat(re *syntax.Regexp, least, most int) {
	if most < 0 || most > least+maxRepeats {
		most = least + maxRepeats
	}
	for range least + w.random.IntN(most-least+1) {
		w.write(re)
	}
}

// class writes one of the characters of a class, one that people read if there is
// any.
func (w *writer) class(ranges []rune) {
	var plain []rune
	for i := 0; i+1 < len(ranges); i += 2 {
		for r := max(ranges[i], ' '); r <= min(ranges[i+1], '~'); r++ {
			plain = append(plain, r)
		}
	}
	switch {
	case len(plain) > 0:
		w.WriteRune(plain[w.random.IntN(len(plain))])
	case len(ranges) > 0:
		w.WriteRune(ranges[0])
	default:
		w.left = 0 // it matches nothing
	}
}
