// Package builtin owns the kinds that are served without a
// CustomResourceDefinition object, but for CustomResourceDefinition itself: those
// of Kubernetes and those of wasmgate.dev.
//
// Each kind is a file, kinds/GROUP/PLURAL.yaml, from which a [crd.Definition]
// like any other is made, with functions for what no file can say
// (crd/builtin/extend). The kinds of Kubernetes have Go types: their objects are read
// strictly into those types, validated with kube-apiserver's rules and messages,
// and stored as it stores them. A kind without a Go type has a schema in its file.
// The package must not know HTTP, storage or Wasm. The gateway's wiring calls it
// once at start.
package builtin
