package dyn

import (
	"context"
	"fmt"
	"sync"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"github.com/google/cel-go/ext"
	"k8s.io/apiserver/pkg/cel/library"
)

// costLimit is the most work, in CEL's units, that one evaluation of an expression may do
// that is bounded.
const costLimit = 4_000_000

// interruptEvery is after how many items of lists an evaluation looks whether it is to
// end.
const interruptEvery = 256

// maxDepth is how deep a value may be that an expression makes.
const maxDepth = 32

// Expression is a CEL expression, compiled when it is first evaluated. It is
// safe for concurrent use.
type Expression struct {
	text    string
	bounded bool
	units   uint64 // what an evaluation may cost that is bounded
	program func() (cel.Program, error)
}

// New makes an expression of a text of our own files. Whether it compiles is known from
// [Expression.Check], or from evaluating it. What it costs is not counted, as the library
// takes time for that which is quadratic in the items of a list.
func New(text string) *Expression { return expression(text, false) }

// Bounded is [New] for the text of a user, and for what nothing else ends, which may cost
// a limited number of CEL's units, and of which a step may make and do as much as
// [Bounds] says.
func Bounded(text string) *Expression { return expression(text, true) }

func expression(text string, bounded bool) *Expression {
	e := &Expression{text: text, bounded: bounded, units: costLimit}
	e.program = sync.OnceValues(e.compile)
	return e
}

// Variables are what an expression may speak of.
type Variables struct {
	// Self is the value that the expression is about; it is nil, or made of
	// map[string]any, []any, string, bool, int64, float64.
	Self any
	// Old is that value before the write, nil for none.
	Old any
	// Key is where Self is in a map.
	Key string
	// Up are the objects around Self, the nearest first.
	Up []any
	// Within ends the evaluation when it is done, nil for one that is not ended.
	Within context.Context
}

// standard are the functions that all texts may use.
var standard = sync.OnceValues(func() (*cel.Env, error) {
	env, err := cel.NewEnv(
		cel.Variable("self", cel.DynType), cel.Variable("oldSelf", cel.DynType), cel.Variable("key", cel.StringType), cel.Variable("up", cel.ListType(cel.DynType)),
		cel.DefaultUTCTimeZone(true), cel.CrossTypeNumericComparisons(true), cel.OptionalTypes(),
		ext.Strings(ext.StringsVersion(2)), ext.Sets(), ext.Lists(ext.ListsVersion(3)), ext.Encoders(), ext.Bindings(), ext.Math(), ext.TwoVarComprehensions(),
		library.Lists(), library.URLs(), library.Regex(), library.Quantity(), library.IP(), library.CIDR(), library.Format(),
		cel.Lib(printing{}), cel.Lib(selecting{}),
	)
	if err != nil {
		return nil, err
	}
	return env.Extend(Quantities()...)
})

// environment is what users' texts are written in.
var environment = sync.OnceValues(func() (*cel.Env, error) {
	env, err := standard()
	if err != nil {
		return nil, err
	}
	return env.Extend(Bounds())
})

// ownEnvironment is what our own files are written in, whose steps nothing looks at, with
// what looks at a whole list in one step, which is not counted.
var ownEnvironment = sync.OnceValues(func() (*cel.Env, error) {
	env, err := standard()
	if err != nil {
		return nil, err
	}
	return env.Extend(cel.Lib(comparing{}))
})

func (e *Expression) compile() (cel.Program, error) {
	env, err := ownEnvironment()
	if e.bounded {
		env, err = environment()
	}
	if err != nil {
		return nil, fmt.Errorf("expressions: %w", err)
	}
	ast, issues := env.Compile(e.text)
	if issues.Err() != nil {
		return nil, fmt.Errorf("expression %q: %w", e.text, issues.Err())
	}
	options := []cel.ProgramOption{cel.EvalOptions(cel.OptOptimize), cel.InterruptCheckFrequency(interruptEvery)}
	if e.bounded {
		options = append(options, cel.CostTracking(&library.CostEstimator{}), cel.CostLimit(e.units))
	}
	return env.Program(ast, options...)
}

// Check compiles the expression.
func (e *Expression) Check() error {
	_, err := e.program()
	return err
}

// Eval evaluates the expression. The outcome is fresh, and made of what objects
// are made of; nil stands for null and for an optional value that is none.
func (e *Expression) Eval(v Variables) (any, error) {
	out, err := e.eval(v)
	if err != nil {
		return nil, err
	}
	return native(out)
}

// Maybe is [Expression.Eval] that tells an optional value that is none from a
// null.
func (e *Expression) Maybe(v Variables) (value any, none bool, err error) {
	out, err := e.eval(v)
	if err != nil {
		return nil, false, err
	}
	if o, ok := out.(*types.Optional); ok && !o.HasValue() {
		return nil, true, nil
	}
	value, err = native(out)
	return value, false, err
}

// True evaluates a condition.
func (e *Expression) True(v Variables) (bool, error) {
	out, err := e.eval(v)
	if err != nil {
		return false, err
	}
	b, ok := out.(types.Bool)
	if !ok {
		return false, fmt.Errorf("expression %q gives no bool", e.text)
	}
	return bool(b), nil
}

func (e *Expression) eval(v Variables) (ref.Val, error) {
	program, err := e.program()
	if err != nil {
		return nil, err
	}
	if v.Up == nil {
		v.Up = []any{}
	}
	within := v.Within
	if within == nil {
		within = context.Background()
	}
	out, _, err := program.ContextEval(within, (*variables)(&v))
	if err != nil {
		return nil, fmt.Errorf("expression %q: %w", e.text, err)
	}
	return out, nil
}

// variables are given to the library by their names. That is what it makes of a map, too.
type variables Variables

// ResolveName implements [cel.Activation].
func (v *variables) ResolveName(name string) (any, bool) {
	switch name {
	case "self":
		return v.Self, true
	case "oldSelf":
		return v.Old, true
	case "key":
		return v.Key, true
	case "up":
		return v.Up, true
	}
	return nil, false
}

// Parent implements [cel.Activation].
func (*variables) Parent() cel.Activation { return nil }

// native is a value of CEL as objects have it.
func native(v ref.Val) (any, error) {
	if _, err := weigh(v); err != nil {
		return nil, err
	}
	return plain(v, maxDepth)
}

func plain(v ref.Val, depth int) (any, error) {
	if depth == 0 {
		return nil, fmt.Errorf("a value is more than %d deep", maxDepth)
	}
	switch x := v.(type) {
	case types.Null:
		return nil, nil
	case types.String:
		return string(x), nil
	case types.Bool:
		return bool(x), nil
	case types.Int:
		return int64(x), nil
	case types.Double:
		return float64(x), nil
	case *types.Optional:
		if !x.HasValue() {
			return nil, nil
		}
		return plain(x.GetValue(), depth)
	case traits.Mapper:
		out := map[string]any{}
		for it := x.Iterator(); it.HasNext() == types.True; {
			k := it.Next()
			name, ok := k.(types.String)
			if !ok {
				return nil, fmt.Errorf("a field is called by a %s", k.Type().TypeName())
			}
			item, err := plain(x.Get(k), depth-1)
			if err != nil {
				return nil, err
			}
			out[string(name)] = item
		}
		return out, nil
	case traits.Lister:
		out := []any{}
		for it := x.Iterator(); it.HasNext() == types.True; {
			item, err := plain(it.Next(), depth-1)
			if err != nil {
				return nil, err
			}
			out = append(out, item)
		}
		return out, nil
	}
	return nil, fmt.Errorf("a %s is no part of an object", v.Type().TypeName())
}
