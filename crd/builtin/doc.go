// Package builtin owns the kinds that are served without a
// CustomResourceDefinition object: the core kinds that other software cannot
// do without, leases, storage version migrations and WasmModule.
//
// Each kind is a [crd.Definition] like any other. The kinds of Kubernetes have
// Go types: their objects are read strictly into those types, validated with
// kube-apiserver's rules and messages, and stored as it stores them. The
// package must not know HTTP, storage or Wasm. The gateway's wiring calls it
// once at start.
package builtin
