// Package registry owns the set of modules that are in use: by name, each with
// the revision that serves, its instances, and why a newer revision was
// refused.
//
// It must not know API objects or HTTP; the controller of WasmModule objects
// calls Set and Remove, and everything that uses a module asks by name at the
// moment of the call, so that a changed module takes effect everywhere at once.
//
// A revision goes through these states; only one is active for a name:
//
//	loading (Set, off the request path; loading.go) -> refused (status only)
//	loading -> active -> draining (replaced or removed; calls end) -> closed
package registry
