// Package wire owns the protobuf form of objects as clients get it: envelopes,
// lists and watch events, made around messages that are in the store already.
// A message is never decoded for that: its resourceVersion is put in, and the
// rest is copied.
//
// It knows what all objects of Kubernetes have in common on the wire (the first
// field of an object or a list is its metadata, the second of a list its items)
// and no kind. It must not know HTTP, the store, or what is served. The catalog
// gets its messages here, and gateway/api sends them.
package wire
