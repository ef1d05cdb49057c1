// Package catalog keeps what is served: the definitions of all kinds, each as
// a [Resource] with its objects in the watch cache and what derives their views.
//
// It owns the snapshot of served definitions and its replacement while writes
// go on. It must not know verbs, admission, HTTP, how views are derived or who
// implements a converter. The engine in gateway/resource reads and writes through it.
package catalog
