package extend

import (
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"
	admissioncel "k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/cel/environment"

	"github.com/wasmgate/wasmgate/crd/cel"
)

// checker compiles the expressions of one object, to see whether they compile.
type checker struct {
	compiler admissioncel.Compiler
	// stored are the expressions that were there before: they may use what is
	// no longer offered to new ones, or not yet.
	stored []string
}

// environment is what an expression is compiled in.
func (c checker) environment(text string) environment.Type {
	if slices.Contains(c.stored, text) {
		return environment.StoredExpressions
	}
	return environment.NewExpressions
}

// check refuses an expression that does not compile.
func (c checker) check(e admissioncel.ExpressionAccessor, sees cel.Sees, path *field.Path) field.ErrorList {
	return invalid(c.compiler.CompileCELExpression(e, sees, c.environment(e.GetExpression())), path)
}

func invalid(r admissioncel.CompilationResult, path *field.Path) field.ErrorList {
	if r.Error == nil {
		return nil
	}
	return field.ErrorList{cel.Invalid(path, r.ExpressionAccessor.GetExpression(), r.Error)}
}
