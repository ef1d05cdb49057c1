// Package managedfields owns field management: who owns which field of an object
// (metadata.managedFields), and server-side apply, which merges a partial
// object by that ownership. It follows KEP-555 and the documents on server-side
// apply, on structured-merge-diff.
//
// managedFields are raw bytes here and everywhere else: trees never hold them.
// Decoded sets are remembered by their bytes and shared by all objects. What is
// done with trees themselves is package tree's.
//
// The package is pure: it must not know HTTP, the store, the engine, or how a
// conversion is carried out.
package managedfields
