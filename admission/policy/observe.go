package policy

import "time"

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
	// Failed tells that an expression could not be evaluated.
	Failed  bool
	Elapsed time.Duration
}
