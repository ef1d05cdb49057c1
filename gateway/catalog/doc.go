// Package catalog keeps what is served: the definitions of all kinds, each as
// a [Resource] with its objects in the watch cache and its converter, and for
// each object the encodings that were derived from its stored bytes.
//
// It owns the snapshot of served definitions and its replacement while writes
// go on, the entries of the watch cache with their views, and every conversion
// between versions. It must not know verbs, admission, HTTP or who implements
// a converter. The engine in gateway/resource reads and writes through it.
package catalog
