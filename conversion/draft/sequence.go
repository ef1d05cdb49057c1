package draft

import (
	"slices"

	"github.com/wasmgate/wasmgate/conversion/rules"
)

// sequence are operations in the order in which they are done.
type sequence struct {
	// before are those that come before all others, and after those that come last.
	ops           []placed
	before, after []Op
	// last are those that follow even them: values of what is needed where others moved.
	last []Op
	// cut tells that not all was compared, or written down.
	cut bool
}

// placed is an operation, and to which place it moved something; nil if it did not.
type placed struct {
	Op
	moved []string
	// room is the place that it made free, and of what left that for a namesake.
	room []string
	of   *unit
	// behind are the operations that follow at once.
	behind []Op
}

func (s *sequence) add(op Op, moved []string) { s.ops = append(s.ops, placed{Op: op, moved: moved}) }

// early adds an operation at a place that only the new version has: it comes first, or,
// where what is above the place moves there, right after that.
func (s *sequence) early(steps []string, op Op) {
	at := -1
	for i, p := range s.ops {
		if p.moved != nil && len(p.moved) < len(steps) && isPrefix(p.moved, steps) || p.room != nil && isPrefix(p.room, steps) {
			at = i
		}
	}
	if at < 0 {
		s.before = append(s.before, op)
		return
	}
	s.ops[at].behind = append(s.ops[at].behind, op)
}

// ordered are all operations, those that stop at the bound included.
func (s *sequence) ordered() []Op {
	all := slices.Clone(s.before)
	for _, p := range s.ops {
		all = append(append(all, p.Op), p.behind...)
	}
	all = append(append(all, s.after...), s.last...)
	n := 0
	return slices.DeleteFunc(all, func(op Op) bool {
		if op.Rule == (rules.Rule{}) {
			return false
		}
		n++
		s.cut = s.cut || n > maxOps
		return n > maxOps
	})
}
