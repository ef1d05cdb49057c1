// Package gotype owns the form that Go types of the Kubernetes API give to objects: of
// a tree it tells, without a Go object, whether reading it into its type and writing
// that would give the same tree, and adds what a type writes of what nobody said.
// Most objects that clients send need no more, so most are never made Go objects to
// be read, and what was encoded for the store is not decoded for the reply.
//
// It says no wherever it is not sure, and whoever asks goes the long way then: what is
// wrong with a tree, and what becomes of one that could be written otherwise, only the
// types themselves know. It knows the JSON tags and the types that write themselves
// (times, quantities, numbers or texts), and must not know defaults, validation or
// any kind.
package gotype
