package storage

import (
	"context"
	"time"
)

// KV is one key as the store holds it. Value belongs to whoever received it
// and is never changed afterwards by anybody.
type KV struct {
	Key   string
	Value []byte
	// Revision is the store's revision of the last change to this key (etcd's
	// mod revision). It is what clients see as resourceVersion.
	Revision int64
	// Keeping is how the value is kept. It is [Kept] in what is written, and where
	// values are kept as they are.
	Keeping Keeping
}

// Keeping is how a value is kept by a store that does not keep values as they are.
type Keeping uint8

// The ways in which a value is kept.
const (
	// Kept: as it would be if it were written now.
	Kept Keeping = iota
	// Stale: otherwise than if it were written now, which is a reason to write it
	// again, even if nothing changes.
	Stale
	// Unreadable: so that it cannot be read. There is no value.
	Unreadable
)

// Event is one change to one key.
type Event struct {
	// KV is the key after the change. For a deletion Value is nil and Revision
	// is the revision of the deletion.
	KV
	// Deleted tells a deletion (or an expiry) from a put.
	Deleted bool
}

// Batch is a run of changes in revision order. All changes of one revision are
// in one batch. Revision is the revision up to which the watcher has now seen
// everything; a batch without events only reports progress.
type Batch struct {
	Revision int64
	Events   []Event
}

// Range selects keys below Prefix in ascending order.
type Range struct {
	Prefix string
	// After, when not empty, is a full key: only keys greater than it count.
	After string
	// Limit is the most keys to return; 0 means all.
	Limit int
	// Revision is the revision to read at; 0 means the most recent, linearizable.
	Revision int64
	// Count asks for the number of keys, which costs time in proportion to it.
	Count bool
}

// Page is the answer to a [Range].
type Page struct {
	KVs []KV
	// Revision is the revision the page was read at.
	Revision int64
	// More tells that keys after the last one of KVs exist.
	More bool
	// Count is the number of keys that Prefix and After select, limit aside, if
	// it was asked for; else 0.
	Count int64
}

// Reader reads. Every method fails with an *[Error], unless it says otherwise.
type Reader interface {
	// Get returns one key, linearizable. A missing key is NotFound.
	Get(ctx context.Context, key string) (KV, error)
	// Range returns keys in order. A compacted revision is Compacted, one that
	// was not reached yet FutureRevision.
	Range(ctx context.Context, r Range) (Page, error)
	// Scan hands over everything that r selects, whose limit and count do not
	// matter, in order, in pages that are all of one revision. An error of fn
	// ends it and is returned as it is.
	Scan(ctx context.Context, r Range, fn func(Page) error) error
	// Revision returns the store's current revision, linearizable.
	Revision(ctx context.Context) (int64, error)
	// CompactedRevision returns a revision below which history is gone, 0 if it
	// is complete as far as is known. Somebody else may have dropped more.
	CompactedRevision(ctx context.Context) (int64, error)
}

// Writer writes. Nothing is acknowledged before it is committed. Every method
// is one transaction and fails with an *[Error].
type Writer interface {
	// Create puts a key that must not exist (else Exists). A ttl above zero
	// lets the key expire after about that time, never before.
	Create(ctx context.Context, key string, value []byte, ttl time.Duration) (int64, error)
	// Update puts a key whose revision must be rev, else it is Conflict (the
	// error carries the current KV) or NotFound. A ttl of zero removes an
	// earlier one.
	Update(ctx context.Context, key string, value []byte, rev int64, ttl time.Duration) (int64, error)
	// Delete removes a key whose revision must be rev, and returns the
	// revision of the deletion. It fails as Update does.
	Delete(ctx context.Context, key string, rev int64) (int64, error)
}

// Guarder makes writes depend on another key.
type Guarder interface {
	// While returns a writer whose writes happen only while key is at revision
	// rev: that is compared in the same transaction. Else they fail as Changed,
	// with the present state of key if it exists, and nothing was written. What
	// they depended on before they depend on, too.
	While(key string, rev int64) GuardedWriter
	// Along is While, and the writes put key besides, in the same transaction.
	// A key is named once. A lease that key had ends.
	Along(key string, value []byte, rev int64) GuardedWriter
}

// GuardedWriter writes, and can be made to depend on a key, or on one more.
type GuardedWriter interface {
	Writer
	Guarder
}

// Watcher follows changes.
type Watcher interface {
	// Watch sends every change below prefix from revision from on (inclusive)
	// until ctx ends or the watch breaks; then it closes the channel, after
	// storing the reason where the returned function finds it. A compacted
	// start is Compacted.
	Watch(ctx context.Context, prefix string, from int64) (<-chan Batch, func() error)
	// RequestProgress asks that open watches report progress soon (an empty
	// Batch). It is a hint.
	RequestProgress(ctx context.Context) error
}

// Store is a complete store.
type Store interface {
	Reader
	Writer
	Guarder
	Watcher
}
