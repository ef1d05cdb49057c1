// Package rbac owns what roles and bindings do beyond being stored: which of them
// there are from the beginning, and that a ClusterRole which aggregates has the rules
// of those that it selects.
//
// It must not know how a request is decided on (gateway/authz/rbac) nor how objects
// are stored.
package rbac
