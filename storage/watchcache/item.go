package watchcache

import (
	"errors"
	"fmt"
)

// Item is one key's state. Neither it nor its Value is ever changed once it is
// in the cache.
type Item[T any] struct {
	// Key is the key below its bucket: "namespace/name" or "name".
	Key string
	// Revision is the revision of the key's last change.
	Revision int64
	Value    T
}

// EventType tells what happened to a key.
type EventType int

// The types of events.
const (
	Added EventType = iota + 1
	Modified
	Deleted
)

// String names the type as watch events do.
func (t EventType) String() string {
	switch t {
	case Added:
		return "ADDED"
	case Modified:
		return "MODIFIED"
	case Deleted:
		return "DELETED"
	}
	return fmt.Sprintf("EventType(%d)", int(t))
}

// Event is one change to one key.
type Event[T any] struct {
	Type EventType
	// Item is the key after the change; for Deleted it is the tombstone, at
	// the revision of the deletion.
	Item Item[T]
	// Prev is the value before the change, if HasPrev: always, except for
	// Added.
	Prev    T
	HasPrev bool
}

// Expired is the failure to watch from, or go on from, a revision that the
// cache's history no longer reaches back to.
type Expired struct {
	// From is the revision asked for, or reached by the watcher.
	From int64
	// Oldest is the lowest revision that a watch can start from now.
	Oldest int64
}

// Error says what was asked for and what is there.
func (e *Expired) Error() string {
	return fmt.Sprintf("watchcache: too old revision: %d (oldest is %d)", e.From, e.Oldest)
}

// IsExpired reports whether err is an [Expired].
func IsExpired(err error) bool {
	var e *Expired
	return errors.As(err, &e)
}
