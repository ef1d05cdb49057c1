// Package memory owns how much memory the process may take: what that is by default,
// what the Go runtime is told of it, and how much of it is taken, by what for.
//
// It must not know who takes it, nor what becomes of who does not get any.
package memory
