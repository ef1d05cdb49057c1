// Package crd owns definitions: what a kind of object is called, which
// versions it has and in which order, what shape each version gives its
// objects, how they are stored, printed and validated.
//
// A built-in kind and a custom resource are the same thing here; a built-in
// differs only in where its definition comes from (crd/builtin instead of
// crd/custom) and in its codec. The engine in gateway/resource serves
// definitions and nothing else.
//
// The package is pure: it must not know HTTP, the store, Wasm or how a
// conversion is carried out.
package crd
