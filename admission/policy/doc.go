// Package policy owns admission policies in CEL: what a validating policy says
// of a request, and what a mutating one makes of it, with the bindings and the
// parameters that they are in force with, in kube-apiserver's words.
//
// It must not know who stores or serves policies, parameters or objects. What a
// policy is about, and the request, are package admission's; policies are
// compiled once.
package policy
