// Package authz decides what a user may do, and words the refusal as
// Kubernetes does.
//
// It owns the question ([Attributes]), the [Authorizer] contract and the
// built-in rule. It must not know HTTP, storage or how a user was recognised.
// Role-based authorization will be another [Authorizer].
package authz
