package cel

import (
	"strings"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
)

// TakesVariablesWhole tells that an expression has the value of all variables in its hands,
// and does not only select one after the other: by it a variable may look at itself, which
// the library does not end. An expression that cannot be read takes nothing.
func TakesVariablesWhole(text string) bool {
	parsed, issues := Base().StoredExpressionsEnv().Parse(text)
	if issues.Err() != nil {
		return false
	}
	whole := 0
	ast.PreOrderVisit(parsed.NativeRep().Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		switch {
		case isVariables(e):
			whole++
		case e.Kind() == ast.SelectKind && isVariables(e.AsSelect().Operand()),
			e.Kind() == ast.CallKind && e.AsCall().FunctionName() == operators.OptSelect && isVariables(e.AsCall().Args()[0]):
			whole-- // the operand is visited, too
		}
	}))
	return whole > 0
}

func isVariables(e ast.Expr) bool {
	return e.Kind() == ast.IdentKind && strings.TrimPrefix(e.AsIdent(), ".") == "variables"
}
