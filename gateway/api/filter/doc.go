// Package filter owns the steps that every request takes before its verb, one file
// each, and their order (chain.go).
//
// It must not know how a verb is answered, nor how replies are encoded.
package filter
