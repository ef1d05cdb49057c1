package watchcache

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/wasmgate/wasmgate/storage"
)

const (
	defaultHistory      = 100_000
	defaultKeep         = 5 * time.Minute
	defaultHistoryBytes = 256 << 20
	defaultReplay       = 20_000
)

// Options configures a [Cache]. Prefix, BucketOf and Make are required.
type Options[T any] struct {
	// Prefix is the part of the store to mirror, such as "/registry/".
	Prefix string
	// BucketOf names the bucket of a key, of which Prefix has been removed.
	// The name must be the beginning of the key up to, not including, some
	// slash; what follows the slash is the key of the item. "" ignores the
	// key.
	BucketOf func(key string) string
	// Make makes the item of a stored key. It is called once for each put, and
	// must not fail: a value that cannot be understood is an item that says so.
	Make func(kv storage.KV) T
	// Tombstone makes the item of a deletion from the last state. Without it
	// the last state is used.
	Tombstone func(last T, revision int64) T
	// Again tells that an item is to be made again of what is loaded again, though
	// its revision is the same: what it was made of could not be read. Without it
	// none is.
	Again func(T) bool
	// Adopt adds to an item that Make made what the writer of the same
	// revision had derived of it: see [Cache.Committed]. Made is being read,
	// and Adopt may be called for it more than once at a time. Optional.
	Adopt func(made, offered T)

	// Keep is how long events are kept (5 minutes if zero), as far as History
	// and HistoryBytes allow. Events are dropped in blocks, so some stay longer.
	Keep time.Duration
	// History is the most events to keep in a bucket; 100,000 if zero.
	History int
	// SizeOf tells what an item costs in memory, with what was derived of it so
	// far, and HistoryBytes how much all kept events may cost together (256 MiB
	// if zero). What is held anyway, being present, costs nothing. Without
	// SizeOf, items count as small.
	//
	// Of that a bucket has a share: a quarter, or half of what its present items cost
	// without what was derived of them, as LeastOf tells, if that is more.
	SizeOf       func(T) int
	LeastOf      func(T) int
	HistoryBytes int64
	// Shed gives up what was derived of an item and can be derived again. It is
	// called for items that are superseded and that hardly anybody reads any
	// more; but somebody may be reading them. Optional.
	Shed func(T)
	// Replay is how many revisions of the store's past are read at the start,
	// so that watches that began before it can go on: 20,000 if zero, none if
	// negative.
	Replay int
	// OnError is told of failures that the cache recovers from by itself.
	OnError func(error)
}

// Cache mirrors one prefix of a store. All methods are safe for concurrent
// use, except that Run runs once.
type Cache[T any] struct {
	store storage.Store
	o     Options[T]

	// The parts, each of which knows only those above it.
	keys       keys
	progress   progress
	compaction compaction
	history    history[T]
	buckets    buckets[T]
	offers     offers[T]
	writer     writer[T]
	loader     loader[T]

	ready   chan struct{}
	trouble atomic.Pointer[error]

	// What follows is Run's alone.
	loaded      bool
	lastFailure failure
}

var (
	errNotLoaded = errors.New("watchcache: not loaded yet")
	errStalled   = errors.New("watchcache: the store's watch has gone silent")
)

// New returns a cache that is empty until Run has loaded it.
func New[T any](store storage.Store, o Options[T]) *Cache[T] {
	o.setDefaults()
	c := &Cache[T]{store: store, o: o, ready: make(chan struct{})}
	c.keys = keys{prefix: o.Prefix, bucketOf: o.BucketOf}
	c.progress = progress{store: store, onError: o.OnError, ask: make(chan struct{}, 1)}
	c.compaction = compaction{store: store, onError: o.OnError}
	c.history = newHistory(&o)
	c.buckets.progress, c.buckets.compaction, c.buckets.history = &c.progress, &c.compaction, &c.history
	c.buckets.all.Store(&map[string]*Bucket[T]{})
	c.buckets.resting = map[string]rest[T]{}
	c.offers = offers[T]{keys: &c.keys, buckets: &c.buckets, progress: &c.progress, takeOver: o.Adopt}
	c.writer = writer[T]{
		keys: &c.keys, makeItem: o.Make, tombstone: o.Tombstone,
		progress: &c.progress, history: &c.history, buckets: &c.buckets, offers: &c.offers,
	}
	c.loader = loader[T]{
		store: store, onError: o.OnError, keys: &c.keys, makeItem: o.Make, again: o.Again, past: o.Replay,
		progress: &c.progress, compaction: &c.compaction, buckets: &c.buckets, offers: &c.offers, writer: &c.writer,
	}
	c.setTrouble(errNotLoaded)
	return c
}

func (o *Options[T]) setDefaults() {
	if o.Keep <= 0 {
		o.Keep = defaultKeep
	}
	if o.History <= 0 {
		o.History = defaultHistory
	}
	if o.HistoryBytes <= 0 {
		o.HistoryBytes = defaultHistoryBytes
	}
	if o.Replay == 0 {
		o.Replay = defaultReplay
	}
	if o.Tombstone == nil {
		o.Tombstone = func(last T, _ int64) T { return last }
	}
	if o.SizeOf == nil {
		o.SizeOf = func(T) int { return 0 }
	}
	if o.LeastOf == nil {
		o.LeastOf = func(T) int { return 0 }
	}
	if o.Again == nil {
		o.Again = func(T) bool { return false }
	}
	if o.Shed == nil {
		o.Shed = func(T) {}
	}
	if o.OnError == nil {
		o.OnError = func(error) {}
	}
}

// Bucket returns the bucket with the name, which is an empty one if the store
// holds nothing there.
func (c *Cache[T]) Bucket(name string) *Bucket[T] { return c.buckets.get(name) }

// Each calls fn for the items of all buckets, each bucket as it is when its turn
// comes.
func (c *Cache[T]) Each(fn func(Item[T])) {
	for _, b := range c.buckets.present() {
		b.state.Load().root.ascend("", "", func(it *Item[T]) bool {
			fn(*it)
			return true
		})
	}
}

// Ready returns a channel that is closed once the cache has caught up with
// what the store held when Run started.
func (c *Cache[T]) Ready() <-chan struct{} { return c.ready }

// Revision is the revision up to which the cache shows everything.
func (c *Cache[T]) Revision() int64 { return c.progress.rev.Load() }

// HistoryBytes is what the kept events cost, of which [Options.HistoryBytes] is
// the bound.
func (c *Cache[T]) HistoryBytes() int64 { return c.history.held.Load() }

// Healthy returns why the cache is not loaded or no longer follows the store,
// nil while it does.
func (c *Cache[T]) Healthy() error {
	if p := c.trouble.Load(); p != nil {
		return *p
	}
	select {
	case <-c.ready:
		return nil
	default:
		return errNotLoaded
	}
}

func (c *Cache[T]) setTrouble(err error) {
	if err == nil {
		c.trouble.Store(nil)
		return
	}
	c.trouble.Store(&err)
}

// Wait waits until the cache has reached rev. It fails with FutureRevision
// when ctx ends first.
func (c *Cache[T]) Wait(ctx context.Context, rev int64) error {
	return c.progress.wait(ctx, rev)
}

// Fresh waits until the cache shows every write that was acknowledged before
// the call, and returns the store's revision that it has reached.
func (c *Cache[T]) Fresh(ctx context.Context) (int64, error) {
	rev, err := c.store.Revision(ctx)
	if err != nil {
		return 0, err
	}
	return rev, c.progress.wait(ctx, rev)
}
