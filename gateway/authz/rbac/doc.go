// Package rbac decides by roles and their bindings, as kube-apiserver does.
//
// It owns what Roles, ClusterRoles and their bindings allow to whom: [Compile] makes a
// [Policy] of them, which answers in a time that hardly depends on how many there are.
// It must not know where the objects are stored, nor how they come to be.
package rbac
