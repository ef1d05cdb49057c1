package managedfields

import (
	"context"
	"errors"
	"time"
)

// Change is one write as field management sees it. Trees are complete objects
// without metadata.managedFields and are only read.
type Change struct {
	// Version names the version of Live and New, that of the request.
	Version string
	// Subresource is the subresource that is written, or empty.
	Subresource string
	// Manager names who writes; at most 128 bytes, not empty.
	Manager string
	// Force lets an apply take over what others own.
	Force bool
	// Time is when the write happens.
	Time time.Time

	// Live is the present state; nil for none.
	Live map[string]any
	// LiveManaged is the raw JSON of its managedFields; empty for none.
	LiveManaged []byte
	// New is the new state of an update, or the configuration of an apply.
	New map[string]any
	// NewManaged is the raw JSON of the managedFields that the new state came
	// with: the live ones unless the client changed them. It may be anything
	// that a client can send. Empty for none; unused by Apply.
	NewManaged []byte

	// Versions are the same states at other versions.
	Versions Versions
}

// Versions brings the states of one change to other versions. A version that
// is not there gives an error that is [ErrNoVersion].
type Versions interface {
	// Live is Change.Live at a version. It may be remembered from before.
	Live(ctx context.Context, version string) (map[string]any, error)
	// New is Change.New of an update at a version.
	New(ctx context.Context, version string) (map[string]any, error)
	// Convert brings any complete object of the kind at version from to
	// another.
	Convert(ctx context.Context, tree map[string]any, from, to string) (map[string]any, error)
}

// ErrNoVersion says that a kind has no such version (any more).
var ErrNoVersion = errors.New("no such version")

// Outcome is what a change becomes.
type Outcome struct {
	// Tree is the merged object of an apply, not yet defaulted, at
	// Change.Version; nil for an update. It may share parts with Live and New.
	Tree map[string]any
	// Managed is the raw JSON of the managedFields to store; nil for none. It
	// is shared and must not be changed.
	Managed []byte
	// SameOwners: Managed differs from LiveManaged in nothing but times.
	SameOwners bool
}
