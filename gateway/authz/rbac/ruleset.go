package rbac

import (
	"math/bits"
	"slices"
	"sort"
)

// wordBits is how many rules a word stands for.
const wordBits = 64

// ruleSet is a set of rules, by their numbers: words with a bit for each, of which
// only those are kept that are not zero. Numbers are added in ascending order, to a set
// that nobody else reads yet.
type ruleSet struct {
	at   []uint32
	bits []uint64
	// dense, once there are many words, has all of them, up to the last that is not zero.
	dense []uint64
}

// clone is a copy to add to; that of nil is empty.
func (s *ruleSet) clone() *ruleSet {
	if s == nil {
		return &ruleSet{}
	}
	return &ruleSet{slices.Clone(s.at), slices.Clone(s.bits), slices.Clone(s.dense)}
}

// add adds a rule.
func (s *ruleSet) add(rule int) {
	word, bit := uint32(rule/wordBits), uint64(1)<<(rule%wordBits)
	if s.dense != nil {
		if more := int(word) + 1 - len(s.dense); more > 0 {
			s.dense = append(s.dense, make([]uint64, more)...)
		}
		s.dense[word] |= bit
		return
	}
	if n := len(s.at); n > 0 && s.at[n-1] == word {
		s.bits[n-1] |= bit
		return
	}
	s.at, s.bits = append(s.at, word), append(s.bits, bit)
}

// sparseWords is how many words are searched faster than an array is worth.
const sparseWords = 4

// settle ends the additions; all is how many rules there are.
func (s *ruleSet) settle(all int) {
	words := all/wordBits + 1
	if s.dense != nil {
		return
	}
	if len(s.at) <= sparseWords || len(s.at)*8 < words {
		s.at, s.bits = slices.Clip(s.at), slices.Clip(s.bits)
		return
	}
	s.dense = make([]uint64, s.at[len(s.at)-1]+1)
	for i, at := range s.at {
		s.dense[at] = s.bits[i]
	}
	s.at, s.bits = nil, nil
}

// word is one word of the set; that of nil is empty.
func (s *ruleSet) word(at uint32) uint64 {
	switch {
	case s == nil:
		return 0
	case s.dense != nil:
		if int(at) < len(s.dense) {
			return s.dense[at]
		}
		return 0
	case len(s.at) > sparseWords:
		if i := sort.Search(len(s.at), func(i int) bool { return s.at[i] >= at }); i < len(s.at) && s.at[i] == at {
			return s.bits[i]
		}
		return 0
	}
	for i, a := range s.at {
		if a == at {
			return s.bits[i]
		}
	}
	return 0
}

// either is the union of a few sets.
type either struct {
	few [3]*ruleSet
	n   int
	// more are those beyond few, which only paths have.
	more []*ruleSet
}

func (e *either) or(s *ruleSet) {
	switch {
	case s == nil:
	case e.n < len(e.few):
		e.few[e.n] = s
		e.n++
	default:
		e.more = append(e.more, s)
	}
}

func (e *either) word(at uint32) (w uint64) {
	for _, s := range e.few[:e.n] {
		w |= s.word(at)
	}
	for _, s := range e.more {
		w |= s.word(at)
	}
	return w
}

// question is the rules that match a request: those that are in each of the sets.
type question struct {
	all [4]either
	n   int
}

// among returns the first rule that matches among those of a word.
func (q *question) among(at uint32, w uint64) (rule int, found bool) {
	for i := 0; w != 0 && i < q.n; i++ {
		w &= q.all[i].word(at)
	}
	if w == 0 {
		return 0, false
	}
	return int(at)*wordBits + bits.TrailingZeros64(w), true
}
