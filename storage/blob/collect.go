package blob

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/wasmgate/wasmgate/storage"
)

// Collector removes blobs that nothing refers to. It is for one goroutine, and
// one in the whole cluster is enough.
//
// A blob is removed when it was seen twice without a reference, the grace
// period apart, and was not written in between: [Blobs.PutBlob] writes a blob
// that is there already once more. So whoever writes the reference within the
// grace period after PutBlob began never loses the blob.
type Collector struct {
	blobs *Blobs
	grace time.Duration
	now   func() time.Time
	seen  map[string]sighting // by digest
}

// sighting is a blob that was seen without a reference.
type sighting struct {
	revision int64
	since    time.Time
}

// NewCollector makes a collector with a grace period.
func NewCollector(b *Blobs, grace time.Duration) *Collector {
	return &Collector{blobs: b, grace: grace, now: time.Now, seen: map[string]sighting{}}
}

// Sweep looks at all blobs and removes those that may be removed by now.
// referenced returns the digests that something refers to at the time it is
// called. It returns how many were removed.
func (c *Collector) Sweep(ctx context.Context, referenced func(ctx context.Context) (map[string]bool, error)) (removed int, err error) {
	// In this order: a reference that comes after the list belongs to a blob
	// that was written after it, too, or is one of those in the list.
	blobs, err := c.blobs.list(ctx)
	if err != nil {
		return 0, err
	}
	used, err := referenced(ctx)
	if err != nil {
		return 0, err
	}
	before := c.seen
	c.seen = map[string]sighting{}
	var errs []error
	for _, b := range blobs {
		if used[b.digest] {
			continue
		}
		s, again := before[b.digest]
		if !again || s.revision != b.revision {
			s = sighting{revision: b.revision, since: c.now()}
		}
		if c.seen[b.digest] = s; c.now().Sub(s.since) < c.grace {
			continue
		}
		switch err := c.blobs.remove(ctx, b); storage.KindOf(err) {
		case storage.Conflict:
		default:
			errs = append(errs, err)
			if err == nil {
				removed++
			}
		}
	}
	return removed, errors.Join(errs...)
}

// stored is a blob in the store.
type stored struct {
	digest string
	// revision is that of the manifest, or without one the highest of the
	// chunks.
	revision int64
	complete bool
	size     int64 // as the manifest says
}

// list returns all blobs, complete or not.
func (b *Blobs) list(ctx context.Context) ([]stored, error) {
	var all []stored
	for after := ""; ; {
		// One at a time: the values come along.
		page, err := b.store.Range(ctx, storage.Range{Prefix: b.root, After: after, Limit: 1})
		if err != nil {
			return nil, fmt.Errorf("blob: list: %w", err)
		}
		if len(page.KVs) == 0 {
			return all, nil
		}
		sum, _, _ := strings.Cut(strings.TrimPrefix(page.KVs[0].Key, b.root), "/")
		dir := b.root + sum + "/"
		after = dir + "~" // after the manifest and all chunks
		s := stored{digest: digestPrefix + sum}
		kv, err := b.store.Get(ctx, manifestKey(dir))
		switch {
		case err == nil:
			s.revision, s.complete, s.size = kv.Revision, true, sizeOf(kv)
		case storage.KindOf(err) == storage.NotFound:
			s.revision, err = b.newest(ctx, dir)
		}
		if err != nil {
			return nil, fmt.Errorf("blob: list: %w", err)
		}
		all = append(all, s)
	}
}

// newest is the highest revision of the keys below dir.
func (b *Blobs) newest(ctx context.Context, dir string) (revision int64, err error) {
	err = b.each(ctx, dir, func(kv storage.KV) error {
		revision = max(revision, kv.Revision)
		return nil
	})
	return revision, err
}

// each calls f for every key below dir.
func (b *Blobs) each(ctx context.Context, dir string, f func(storage.KV) error) error {
	for after := ""; ; {
		page, err := b.store.Range(ctx, storage.Range{Prefix: dir, After: after, Limit: 1})
		if err != nil || len(page.KVs) == 0 {
			return err
		}
		after = page.KVs[0].Key
		if err := f(page.KVs[0]); err != nil {
			return err
		}
	}
}

// remove removes a blob as it was listed: its manifest first, then the chunks
// that belong to it, which are no newer. What was written since stays, and is
// a Conflict.
func (b *Blobs) remove(ctx context.Context, s stored) error {
	dir, err := b.dir(s.digest)
	if err != nil {
		return err
	}
	if s.complete {
		if _, err := b.store.Delete(ctx, manifestKey(dir), s.revision); err != nil && storage.KindOf(err) != storage.NotFound {
			return err
		}
	}
	return b.each(ctx, dir, func(kv storage.KV) error {
		if kv.Revision > s.revision {
			return nil
		}
		_, err := b.store.Delete(ctx, kv.Key, kv.Revision)
		if kind := storage.KindOf(err); kind == storage.NotFound || kind == storage.Conflict {
			return nil
		}
		return err
	})
}
