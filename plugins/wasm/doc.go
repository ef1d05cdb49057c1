// Package wasm owns running WebAssembly: checking a module, compiling it,
// making instances of it, and calling them within limits.
//
// It is the only importer of wazero. It must not know what hooks mean, where
// modules come from, or that instances are pooled; plugins/registry calls it. What
// guests of others' ABIs (abi.go) are sent in the place of what a hook is, and what
// their answers are as a hook's, plugins/kubewarden and plugins/opa know.
//
// Modules are hostile. One can only read and write its own memory, which is
// bounded; it sees no files, network, environment, real time or real
// randomness; it is stopped at its deadline, or when its fuel is used up
// (fuel.go), or when its calls are nested too deeply (stack.go); and every position
// it returns is checked. Each call finds the instance as it was when it was ready
// (memory.go). After any error it is of no more use and has to be closed.
//
// A module goes through these steps before it is compiled (load.go): it is read
// and checked as a whole (plugins/wasm/binary), its imports and exports are
// verified, and then some of its sections are rewritten (transform.go), so that
// it keeps to its limits and asks for fuel (plugins/wasm/meter).
package wasm
