// Package server puts a gateway together: it is the one place that sees every
// implementation (the store, the converters, the Wasm runtime, the HTTP
// framework) and hands each to the packages that know only its interface.
//
// It owns the order in which things start and stop, and nothing else: it must
// not know what any of them does. What a flag means is decided in gateway/cli and
// gateway/options.
package server
