// Package body owns what the body of a request holds: its media type, and the object,
// the configuration, the options or the question that it is, from JSON, YAML, CBOR or
// protobuf; and how much memory that takes, told before it is decoded.
//
// It must not know connections, verbs, nor what becomes of what it reads.
package body
