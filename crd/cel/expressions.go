package cel

import (
	"errors"
	"fmt"
	"sync"

	celgo "github.com/google/cel-go/cel"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apimachinery/pkg/util/version"
	admissioncel "k8s.io/apiserver/pkg/admission/plugin/cel"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/environment"

	"github.com/wasmgate/wasmgate/crd/cel/dyn"
)

// Expression is the text of an expression and what it may evaluate to. It is
// immutable, and implements what the library takes.
type Expression struct {
	name, text string
	types      []*celgo.Type
}

var _ admissioncel.NamedExpressionAccessor = &Expression{}

// GetExpression implements [admissioncel.ExpressionAccessor].
func (e *Expression) GetExpression() string { return e.text }

// ReturnTypes implements [admissioncel.ExpressionAccessor].
func (e *Expression) ReturnTypes() []*celgo.Type { return e.types }

// GetName implements [admissioncel.NamedExpressionAccessor].
func (e *Expression) GetName() string { return e.name }

// Condition is one that is true or false: of a validation, or of whether
// something is asked at all.
func Condition(text string) *Expression {
	return &Expression{text: text, types: []*celgo.Type{celgo.BoolType}}
}

// Message is one that makes the message of a refusal.
func Message(text string) *Expression {
	return &Expression{text: text, types: []*celgo.Type{celgo.StringType}}
}

// Annotation is one that makes an audit annotation, or none.
func Annotation(text string) *Expression {
	return &Expression{text: text, types: []*celgo.Type{celgo.StringType, celgo.NullType}}
}

// Variable is one that others use by its name.
func Variable(name, text string) *Expression {
	return &Expression{name: name, text: text, types: []*celgo.Type{celgo.AnyType, celgo.DynType}}
}

// Sees tells which variables an expression sees beside those that all do.
type Sees = admissioncel.OptionalVariableDeclarations

// Base has everything that expressions may use but variables. It is shared, and
// made when the first expression is compiled: that takes a while.
var Base = sync.OnceValue(func() *environment.EnvSet {
	set, err := environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()).Extend(environment.VersionedOptions{
		IntroducedVersion: version.MajorMinor(1, 0), EnvOptions: append(dyn.Quantities(), dyn.Bounds()),
	})
	if err != nil { // the library has other signatures than it had
		panic(err)
	}
	return set
})

// Plain compiles expressions that use no variables of their object. It is
// shared.
var Plain = sync.OnceValue(func() admissioncel.Compiler { return admissioncel.NewCompiler(Base()) })

// PlainConditions does so for lists of conditions. It is shared.
var PlainConditions = sync.OnceValue(func() admissioncel.ConditionCompiler {
	return admissioncel.NewConditionCompiler(Base())
})

// Composed is a new compiler of expressions that use the variables which were
// given to it before.
func Composed() (*admissioncel.CompositedCompiler, error) {
	return admissioncel.NewCompositedCompiler(Base())
}

// Invalid says of an expression that does not compile what is wrong with it.
func Invalid(path *field.Path, text string, err error) *field.Error {
	var wrong *apiservercel.Error
	switch {
	case errors.As(err, &wrong) && wrong.Type == apiservercel.ErrorTypeRequired:
		return field.Required(path, wrong.Detail)
	case errors.As(err, &wrong) && wrong.Type == apiservercel.ErrorTypeInvalid:
		return field.Invalid(path, text, wrong.Detail)
	case errors.As(err, &wrong):
		return field.InternalError(path, wrong)
	}
	return field.InternalError(path, fmt.Errorf("unsupported error type: %w", err))
}
