// Package cel owns the expressions in CEL that stand in admission
// policies and webhooks: what each kind of them may evaluate to, which variables
// it sees, and how an error of one that does not compile is told.
//
// It must not know which object an expression stands in, nor evaluate one. The
// built-in kinds check expressions with it, and admission compiles them.
package cel
