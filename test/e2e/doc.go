// Package e2e owns the tests of the whole server: the built binary as a
// process, driven over the network by plain HTTP, client-go and kubectl.
//
// They must not know the gateway but from outside, so they can be run against any
// server of the same API (see package harness); what they expect of
// everything but WebAssembly and process control was confirmed against
// kube-apiserver that way. A sub-test that shows a row of the feature list
// starts with that row's ID; docs/conformance.md says what the IDs mean.
package e2e
