// Package conversion owns the one contract by which objects move between the
// versions of a kind, and the checks that every converter's reply has to pass.
//
// It must not know storage, HTTP or WebAssembly: a webhook and a Wasm module
// are implementations of [Converter] that live elsewhere (conversion/webhook,
// plugins/...), and every one of them is wrapped by [Checked]. What this program
// itself knows how to convert is [Sound].
package conversion

import "context"

// Converter converts a batch of objects of one kind to one version.
//
// Implementations may be slow, may fail, and need not be trusted: their reply
// is checked by [Checked]. They are safe for concurrent use.
type Converter interface {
	// Convert returns, for each of objects in order, the same object at
	// desired (an apiVersion, "group/version"). objects are complete JSON
	// objects at any version of the kind, none of them at desired already; the
	// callee must not change or keep them. The error, when not nil, covers the
	// whole batch.
	Convert(ctx context.Context, desired string, objects [][]byte) ([][]byte, error)
	// Epoch changes whenever the same input may convert differently from
	// before (a new module revision); what was remembered under another epoch
	// is forgotten.
	Epoch() uint64
}

// Reader is a Converter that has read what it returns: each object is one
// complete JSON value, as rawjson.Skip accepts it, whatever that says. So it is
// not read again, but for what the contract is about.
type Reader interface {
	Converter
	// ReadsReplies does nothing.
	ReadsReplies()
}

// Sound is a Converter of this program whose replies keep the contract by the way
// that they are made: they are not checked.
type Sound interface {
	Converter
	// KeepsContract does nothing.
	KeepsContract()
}
