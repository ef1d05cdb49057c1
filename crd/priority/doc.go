// Package priority owns VersionPriority as Go values: the fields of the kind,
// which of several objects orders a group, what a module is asked, and what it
// may answer.
//
// It must not know modules, the store, or the documents in which an order shows.
package priority
