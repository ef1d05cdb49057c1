// Package binary owns the WebAssembly binary format: it reads a whole module,
// strictly, before anything else does.
//
// It must not know the runtime, the ABI of the gateway's modules, or what is
// going to be done with a module; plugins/wasm calls it.
//
// A module that [Decode] accepts has every count and size within the bytes that
// are there and within the limits of this package, its sections in order and
// complete, all indices in range, and function bodies that are instructions
// from the first byte to the last, properly nested. Types of operands are not
// checked; the runtime does that. Decode takes time in proportion to the
// module, and memory of a small multiple of it, whatever the bytes are.
//
// What is accepted is WebAssembly 2.0. Where the format has several encodings
// of the same opcode, only the shortest is accepted, so that nobody who reads
// the module later can read something else.
//
// A [Module] says where in the bytes its parts are, and [Module.Code] steps
// through the instructions of a function with their places, for whoever
// rewrites a module; [Module.Assemble] puts the result together.
package binary
