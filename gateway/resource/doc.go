// Package resource owns the contract of the engine: what requests are about
// ([Target]), who makes them ([Caller]), what they ask for, what comes of it and why it is
// refused, in the API's status errors. The engine itself is in engine, its verbs are in
// read and write.
//
// It must not know how a request is carried out.
package resource
