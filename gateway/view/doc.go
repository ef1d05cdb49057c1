// Package view derives what readers are sent from what is stored: the objects of a
// kind at its versions and in its encodings, and remembers it with the entries of the
// watch cache, for as long as there is memory.
//
// It owns the entries with their views, every conversion between versions, and the new
// state of an object before it is stored. It must not know what is served, where
// entries are kept, verbs, HTTP or who implements a converter. Runs of neighbours in a
// list are in gateway/view/run.
package view
