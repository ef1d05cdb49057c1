// Package object owns the JSON of API objects: reading bytes into the one tree
// that a write works on, writing it back in canonical form, and walking bytes
// without a tree where only a few fields matter.
//
// It must not know definitions, schemas, storage or HTTP. The tree is the one
// that Kubernetes' libraries use: map[string]any, []any, string, bool, int64,
// float64 and nil.
package object
