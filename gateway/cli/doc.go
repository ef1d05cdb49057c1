// Package cli owns the command line: flags, environment, signals, and what is
// printed.
//
// The commands besides serve are ordinary API clients: they know the gateway
// only through its URL. The package must not know how a gateway is built; it
// is handed the function that runs one.
package cli
