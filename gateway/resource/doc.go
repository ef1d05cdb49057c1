// Package resource is the engine: it serves every definition, built-in or
// custom, with the same verbs over the same cache and the same store.
//
// It owns the life of an object between a request's bytes and the store's
// bytes: entries of the watch cache with their derived encodings, the catalog
// of what is served, one file for each verb, and the only place where
// admission, conversion and storage meet. Its errors are the API's status
// errors.
//
// It must not know HTTP, etcd's client or the Wasm runtime: requests come in
// as values, the store and the converters as interfaces.
package resource
