// Package form owns what replies look like: which media type and form a client takes,
// and how an object, a list, a table, a Status and the events of a watch are put into
// it, compressed where that is wanted, and sent a piece at a time.
//
// It must not know connections, verbs, or who asks.
package form
