// Package watchcache mirrors one prefix of a store in memory: its present
// state, its recent past, and the changes between, split into buckets.
//
// It owns the loading and following of the store, the immutable snapshots that
// readers get without waiting for anybody, the ring of events that each
// watcher reads at its own pace, and how long both reach back. It must not
// know what a value is: [Options] carries the functions that name a key's
// bucket and make a value of its bytes.
//
// The gateway keeps one cache over all of its keys, with a bucket for each
// resource.
//
// # How readers and the writer meet
//
// One goroutine writes. For each revision it first appends the events to the
// ring of their bucket, then publishes the bucket's new state, and last the
// cache's revision G. A reader goes the other way: G first, then the state S.
// So S holds every event up to G, and the revision of what was read is the
// greater of G and the revision of S's own last event. No reader takes a lock
// and none can hold up the writer.
//
// # The parts of a cache
//
// keys tells in which bucket a key belongs. progress is how far the cache has come,
// compaction what the store has dropped, history how much all events hold. buckets
// has each bucket by its name. offers are writes whose events are still to come,
// the writer takes over what the store tells, the loader reads what it holds. [Cache]
// runs the last two, and does what is asked of it by the part that knows.
//
// # Hand-over of writes
//
// Who wrote a key may hand over the item that it has anyway, with all that it
// derived ([Cache.Committed]). The item waits for the store's event of its
// revision and then stands in for what would be made of the event; so a
// hand-over shows nothing early and nothing depends on it.
package watchcache
