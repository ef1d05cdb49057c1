package dyn

import (
	"fmt"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/functions"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/interpreter"
)

// Bounds makes each step of an evaluation one that ends soon and makes little. The library
// counts what a call costs once it was made, and looks for an end between the items of lists
// only, while one call can make a text of terabytes, and a short text can make a value of
// so many parts that comparing it takes years. It comes after the functions that it looks at.
func Bounds() cel.EnvOption {
	return func(e *cel.Env) (*cel.Env, error) {
		b := bounds{map[string]*functions.Overload{}, map[string][]string{}}
		for name := range guards {
			if f, ok := e.Functions()[name]; ok {
				all, err := f.Bindings()
				if err != nil {
					return nil, fmt.Errorf("function %s: %w", name, err)
				}
				for _, o := range f.OverloadDecls() {
					b.ids[name] = append(b.ids[name], o.ID())
				}
				for _, o := range all {
					b.by[o.Operator] = o
				}
			}
		}
		return cel.Lib(b)(e)
	}
}

// bounds are the functions that are looked at.
type bounds struct {
	by  map[string]*functions.Overload // their names, and those of their overloads
	ids map[string][]string            // the names of the overloads of each
}

// CompileOptions implements [cel.Library].
func (bounds) CompileOptions() []cel.EnvOption { return nil }

// ProgramOptions implements [cel.Library].
func (b bounds) ProgramOptions() []cel.ProgramOption {
	return []cel.ProgramOption{cel.CustomDecoratorV2(b.decorate), cel.CostTrackerOptions(b.costs()...)}
}

// decorate puts a call of a function that is looked at in the place of the library's.
func (b bounds) decorate(i interpreter.InterpretableV2) (interpreter.InterpretableV2, error) {
	call, ok := i.(interpreter.InterpretableCall)
	if !ok {
		return i, nil
	}
	guard, ok := guards[call.Function()]
	if !ok {
		return i, nil
	}
	does, args := b.does(call), call.Args()
	if does == nil {
		return i, nil
	}
	if !searches(call.Function()) {
		if _, literal := args[len(args)-1].(interpreter.InterpretableConst); literal && call.Function() == "@in" {
			return i, nil // the library makes a set of it
		}
		return &step{call, guard, does}, nil
	}
	if len(args) > 1 {
		if pattern, ok := args[1].(interpreter.InterpretableConst); ok { // the library compiles it, and makes a call of its own
			args = append([]interpreter.InterpretableV2{searched{args[0], pattern.Value()}}, args[1:]...)
		}
	}
	return interpreter.NewCall(call.ID(), call.Function(), call.OverloadID(), args, func(args ...ref.Val) ref.Val {
		if _, err := guard(args); err != nil {
			return types.WrapErr(err)
		}
		return does(args...)
	}), nil
}

// does is what a call calls, nil for what is not known.
func (b bounds) does(call interpreter.InterpretableCall) functions.FunctionOp {
	switch call.Function() {
	case "_==_":
		return func(args ...ref.Val) ref.Val { return types.Equal(args[0], args[1]) }
	case "_!=_":
		return func(args ...ref.Val) ref.Val { return types.Bool(types.Equal(args[0], args[1]) != types.True) }
	case "_+_":
		return add
	}
	o := b.by[call.OverloadID()]
	if o == nil {
		o = b.by[call.Function()]
	}
	if o == nil {
		return nil
	}
	does := o.Function
	switch args := len(call.Args()); {
	case args == 1 && o.Unary != nil:
		does = func(args ...ref.Val) ref.Val { return o.Unary(args[0]) }
	case args == 2 && o.Binary != nil:
		does = func(args ...ref.Val) ref.Val { return o.Binary(args[0], args[1]) }
	}
	if does == nil || o.OperandTrait == 0 {
		return does
	}
	return func(args ...ref.Val) ref.Val { // as the library asks, to which the function leaves that
		if !args[0].Type().HasTrait(o.OperandTrait) {
			return types.MaybeNoSuchOverloadErr(args[0])
		}
		return does(args...)
	}
}

// searched is a text in which a pattern of the expression itself is looked for.
type searched struct {
	interpreter.InterpretableV2
	pattern ref.Val
}

// Exec implements [interpreter.InterpretableV2].
func (s searched) Exec(frame *interpreter.ExecutionFrame) ref.Val {
	text := s.InterpretableV2.Exec(frame)
	if _, err := search([]ref.Val{text, s.pattern}); err != nil {
		return types.WrapErr(err)
	}
	return text
}

// Eval implements [interpreter.Interpretable].
func (s searched) Eval(a interpreter.Activation) ref.Val { return s.Exec(interpreter.AsFrame(a)) }
