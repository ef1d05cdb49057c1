package builtin

import (
	"errors"
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/util/validation/field"
	admissioncel "k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/matchconditions"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/environment"
)

// compiler is made when the first condition is written: it takes a while.
var compiler = sync.OnceValue(func() admissioncel.Compiler {
	return admissioncel.NewCompiler(environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()))
})

// checkExpression tells whether a condition compiles. One that is stored
// already may use what is no longer offered to new ones, or not yet.
func checkExpression(text string, stored bool, path *field.Path) *field.Error {
	kind := environment.NewExpressions
	if stored {
		kind = environment.StoredExpressions
	}
	err := compiler().CompileCELExpression(&matchconditions.MatchCondition{Expression: text}, admissioncel.OptionalVariableDeclarations{HasAuthorizer: true}, kind).Error
	var wrong *apiservercel.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &wrong) && wrong.Type == apiservercel.ErrorTypeRequired:
		return field.Required(path, wrong.Detail)
	case errors.As(err, &wrong) && wrong.Type == apiservercel.ErrorTypeInvalid:
		return field.Invalid(path, text, wrong.Detail)
	case errors.As(err, &wrong):
		return field.InternalError(path, wrong)
	}
	return field.InternalError(path, fmt.Errorf("unsupported error type: %w", err))
}
