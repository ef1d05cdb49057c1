// Package rawjson owns reading and editing JSON text by position, without
// decoding it: finding where values begin and end, walking the members of one
// object, reading and writing single strings.
//
// It is shared by the gateway and by module authors' code, so it imports
// nothing but the smallest parts of the standard library and must not know
// Kubernetes, conversion or WebAssembly. Called by sdk (inside a module) and by
// conversion (on what modules and webhooks reply).
//
// There are two ways over a value. [Skip] is for text that is not trusted: it
// accepts exactly valid JSON in UTF-8, nested at most [MaxDepth] deep. [Pass]
// is for text that was checked before: it finds the end of a value several
// times faster and accepts things that are not JSON, but it never reads out of
// bounds and always ends.
package rawjson
