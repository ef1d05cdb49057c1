// Package builtin owns the kinds that are served without a
// CustomResourceDefinition object: the stable kinds of Kubernetes, and those of
// wasmgate.dev.
//
// Each kind is a [crd.Definition] like any other, and most are one file below
// kinds, with functions by name for what no file can say. The kinds of Kubernetes
// have Go types: their objects are read strictly into those types, validated with
// kube-apiserver's rules and messages, and stored as it stores them. What needs
// other objects, such as a Service's addresses, is in the gateway's room of the
// kind. The package must not know HTTP, storage or Wasm. The gateway's wiring calls
// it once at start.
package builtin
