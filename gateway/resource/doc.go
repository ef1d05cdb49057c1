// Package resource is the engine: it serves every definition, built-in or
// custom, with the same verbs over the same cache and the same store.
//
// It owns the verbs, one file each, and the order of a write from a request's
// bytes to the store's: the only place where admission, conversion and storage
// meet. What is served, and the entries of the watch cache with what is derived
// from them, are the catalog's. Its errors are the API's status errors.
//
// It must not know HTTP, etcd's client or the Wasm runtime: requests come in
// as values, the store and the converters as interfaces.
package resource
