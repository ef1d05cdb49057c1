// Package structured asks a chain of authorizers that an AuthorizationConfiguration of
// kube-apiserver names, webhooks among them.
//
// It owns the file, its changes, and what is sent to webhooks. It must not know flags, nor
// how the other authorizers decide.
package structured
