// Package escalation owns that nobody grants what they do not have: who writes a role
// holds its rules already, or may escalate it, and who binds one holds its rules, or may
// bind it. It is asked between mutating admission and validation, as by kube-apiserver.
// And nobody holds up the deletion of what they may not hold up, where the plugin
// OwnerReferencesPermissionEnforcement is on.
//
// It must not know how a request is decided on, nor how objects are stored.
package escalation
