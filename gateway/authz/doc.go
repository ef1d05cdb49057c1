// Package authz decides what a user may do, and words the refusal as
// Kubernetes does.
//
// It owns the question ([Attributes]), the [Authorizer] contract, the chain of those who
// are asked, and the rule of administrators. It must not know HTTP, storage or how a user
// was recognised. Roles are the package rbac's.
package authz
