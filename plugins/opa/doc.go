// Package opa owns what passes between the gateway and a policy that OPA compiled to
// WebAssembly: which of its entrypoints are asked with what input, what their results
// mean, and what is answered where it calls a function that its host has to have.
//
// It must not know how guests are called; plugins/wasm has the bytes carried. Results
// and operands are written by whoever wrote the policy: they are read as a whole or
// refused, and what is made of them is bounded.
package opa
