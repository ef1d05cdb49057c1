package policy

import (
	"errors"
	"time"

	apiservercel "k8s.io/apiserver/pkg/cel"
)

// What is wrong with a request by a policy, in the words of kube-apiserver's
// metrics.
const (
	Invalid     = "invalid_error"
	Uncompiled  = "compile_error"
	OutOfBudget = "out_of_budget"
	Right       = "no_error"
)

// Enforcement is what became of a decision.
type Enforcement string

// The enforcements, in the words of kube-apiserver's metrics.
const (
	Allowed Enforcement = "allow"
	Denied  Enforcement = "deny"
	Warned  Enforcement = "warn"
	Audited Enforcement = "audit"
)

// Decision is what a policy said of a request, for who counts.
type Decision struct {
	Policy, Binding string
	// Mutating tells which kind of policy it is.
	Mutating    bool
	Enforcement Enforcement
	// Error is one of [Invalid], [Uncompiled], [OutOfBudget] and [Right].
	Error   string
	Elapsed time.Duration
}

// errorOf is the word for an error, or for a refusal without one.
func errorOf(err error) string {
	var uncompiled *apiservercel.CompilationError
	switch {
	case errors.As(err, &uncompiled):
		return Uncompiled
	case errors.Is(err, apiservercel.ErrOutOfBudget):
		return OutOfBudget
	}
	return Invalid
}
