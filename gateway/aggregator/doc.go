// Package aggregator owns the servers behind this one, which APIServices name: which
// there are, how requests are passed on to them, whether they are available, and what
// they serve.
//
// It must not know how objects are stored, nor what documents are made of what it finds
// out: descriptions of version 2 it has read in the background, by who joins them.
package aggregator
