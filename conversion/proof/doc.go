// Package proof owns the search for what a converter loses: objects are made from
// the schema of one version, converted to another and back, and compared.
//
// It knows the contract of conversion and what a definition says of its versions.
// It must not know who converts (a module, a webhook, a function), nor the gateway.
//
// Objects come from a generator (objects.go, make.go, values.go) that reaches each
// field of the schema with each of its boundary values, and then goes on at random,
// always in the same way for the same seed. One object's journey is in journey.go.
// What it loses is compared in compare.go, made small in shrink.go, and told in
// example.go.
package proof
