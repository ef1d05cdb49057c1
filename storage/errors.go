package storage

import (
	"errors"
	"fmt"
)

// Kind classifies an [Error].
type Kind int

// The kinds of store errors.
const (
	// NotFound: the key does not exist.
	NotFound Kind = iota + 1
	// Exists: the key to create exists.
	Exists
	// Conflict: the key's revision is not the expected one.
	Conflict
	// Changed: the key that guards a write is not at its revision any more.
	Changed
	// Compacted: the revision's history is gone.
	Compacted
	// FutureRevision: the store has not reached the revision.
	FutureRevision
	// TooLarge: the store refuses a value of this size.
	TooLarge
	// Full: the store takes no more data until somebody makes room. Nothing was
	// written.
	Full
	// TooMany: the write depends on more keys than the store compares at a time. Nothing
	// was written.
	TooMany
	// Reopened: what could not be read before can be read now. Whoever followed
	// changes reads again what is there.
	Reopened
	// Unavailable: the store did not answer, or no longer; whether a write
	// happened is unknown.
	Unavailable
)

var kindNames = map[Kind]string{
	NotFound: "key not found", Exists: "key exists", Conflict: "revision conflict", Changed: "guard changed",
	Compacted: "revision compacted", FutureRevision: "revision not reached",
	TooLarge: "value too large", Full: "store full", TooMany: "write depends on too many keys", Reopened: "values have become readable", Unavailable: "store unavailable",
}

// String names the kind in lower case.
func (k Kind) String() string { return kindNames[k] }

// Error is a failed store operation.
type Error struct {
	Kind Kind
	// Key is the key of the operation, for Changed its guard; empty for
	// operations without one.
	Key string
	// Revision is the revision asked for or expected, where there was one.
	Revision int64
	// Current is the key's present state, for Conflict, Exists and Changed; nil
	// when the store did not say, and for a guard that does not exist.
	Current *KV
	// Cause is the underlying error, if any.
	Cause error
}

// Error describes the failure.
func (e *Error) Error() string {
	s := "storage: " + e.Kind.String()
	if e.Key != "" {
		s += ": " + e.Key
	}
	if e.Revision != 0 {
		s += fmt.Sprintf(" (revision %d)", e.Revision)
	}
	if e.Cause != nil {
		s += ": " + e.Cause.Error()
	}
	return s
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }

// KindOf returns the kind of err, or zero when err is no storage error.
func KindOf(err error) Kind {
	var e *Error
	if errors.As(err, &e) {
		return e.Kind
	}
	return 0
}
