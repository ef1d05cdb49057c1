package dyn

import (
	"fmt"
	"math"

	"github.com/google/cel-go/common"
	"github.com/google/cel-go/common/functions"
	"github.com/google/cel-go/common/overloads"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"github.com/google/cel-go/interpreter"
	"k8s.io/apiserver/pkg/cel/library"
)

const (
	// perUnit is how much a call takes for one of CEL's units, if the library does not count
	// more: many small steps are bounded by what one evaluation may cost.
	perUnit = 64
	// lookEvery is after how much an evaluation looks whether it is to end, which the library
	// does not do each time that it is asked.
	lookEvery = 1 << 10
)

// step is a call of a function that is looked at, in the place of the library's.
type step struct {
	interpreter.InterpretableCall
	guard func([]ref.Val) (int, error)
	does  functions.FunctionOp
}

// OverloadID implements [interpreter.InterpretableCall]. It is that under which the costs
// of guarded functions are known.
func (s *step) OverloadID() string {
	return overload(s.Function(), s.InterpretableCall.OverloadID())
}

func overload(function, id string) string { return "guarded " + function + " " + id }

// Exec implements [interpreter.InterpretableV2].
func (s *step) Exec(frame *interpreter.ExecutionFrame) ref.Val {
	args := make([]ref.Val, len(s.Args()))
	for i, arg := range s.Args() {
		if args[i] = arg.Exec(frame); types.IsUnknownOrError(args[i]) {
			return args[i]
		}
	}
	takes, err := s.guard(args)
	for range 1 + takes/lookEvery {
		if frame.CheckInterrupt() {
			return types.WrapErr(interpreter.InterruptError{})
		}
	}
	if err != nil {
		return types.LabelErrNode(s.ID(), types.WrapErr(err))
	}
	out := s.does(args...)
	if n := length(out); n > maxText {
		out = types.WrapErr(fmt.Errorf("%s makes a text of %d bytes, and may make %d", s.Function(), n, maxText))
	}
	return types.LabelErrNode(s.ID(), out)
}

// Eval implements [interpreter.Interpretable].
func (s *step) Eval(a interpreter.Activation) ref.Val { return s.Exec(interpreter.AsFrame(a)) }

// costs count the calls of what is looked at, whatever type their values are known to have.
func (b bounds) costs() []interpreter.CostTrackerOption {
	var all []interpreter.CostTrackerOption
	for function, ids := range b.ids {
		if searches(function) {
			continue
		}
		for _, id := range append(ids, "") {
			all = append(all, interpreter.OverloadCostTracker(overload(function, id), func(args []ref.Val, result ref.Val) *uint64 {
				units := cost(function, id, args, result)
				return &units
			}))
		}
	}
	return all
}

// cost is what a call costs: as much as the library counts, which looks at all parts of
// some values for that, or what it takes.
func cost(function, id string, args []ref.Val, result ref.Val) uint64 {
	takes, err := guards[function](args)
	units := uint64(max(takes, length(result)) / perUnit)
	if err != nil {
		return max(units, 1)
	}
	return max(units, counted(function, id, args, result))
}

// counted is what the library counts for a call: by the overload, by the function, or as
// for the functions of the language.
func counted(function, id string, args []ref.Val, result ref.Val) uint64 {
	n, created := size(args[0]), uint64(common.ListCreateBaseCost+1)
	switch id {
	case "lists_range":
		return created + uint64(size(result))
	case "list_flatten":
		return created + uint64(n)
	case "list_flatten_int":
		depth, _ := args[1].(types.Int)
		return created + uint64(times(n, int(min(max(depth, 1), deepest))))
	case "list_distinct":
		each := 2.0
		if l, ok := args[0].(traits.Lister); ok && n > 0 && isText(l.Get(types.IntZero)) {
			each += common.StringTraversalCostFactor
		}
		return created + uint64(float64(times(n, n))*each)
	case "list_sets_contains_list", "list_sets_intersects_list":
		return 1 + uint64(times(n, size(args[1])))
	case "list_sets_equivalent_list":
		return 1 + 2*uint64(times(n, size(args[1])))
	}
	if units := (&library.CostEstimator{}).CallCost(function, id, args, result); units != nil {
		return *units
	}
	switch id {
	case overloads.Equals, overloads.NotEquals:
		return traversed(min(n, size(args[1])))
	case overloads.InList:
		return uint64(size(args[1]))
	case overloads.AddString, overloads.AddBytes:
		return traversed(n + size(args[1]))
	case overloads.ExtQuoteString, overloads.ExtFormatString:
		return traversed(n)
	}
	return 1
}

func isText(v ref.Val) bool { return v.Type() == types.StringType || v.Type() == types.BytesType }

func traversed(size int) uint64 {
	return uint64(math.Ceil(float64(size) * common.StringTraversalCostFactor))
}

// size is how large the library takes a value for.
func size(v ref.Val) int {
	if o, ok := v.(*types.Optional); ok && o.HasValue() {
		return size(o.GetValue())
	}
	if s, ok := v.(traits.Sizer); ok {
		n, _ := s.Size().(types.Int)
		return int(n)
	}
	return 1
}
