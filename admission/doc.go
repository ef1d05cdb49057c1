// Package admission owns the contract of admission: what a plugin sees of a request
// ([Attributes]), what it may do ([Mutator], [Validator]), which requests rules and
// selectors mean ([Scope]), and who is asked once more when something changed
// ([Reinvocation]).
//
// It must not know who stores or serves objects, nor any plugin: those that are the
// same whoever serves are in folders below, and the others with the kind that they
// are about.
package admission
