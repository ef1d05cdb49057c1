package storagetest

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/wasmgate/wasmgate/storage"
)

// told is a lie, the check that finds it, and what that says.
type told struct {
	name, check, says string
	lie
}

func lies() []told {
	return slices.Concat(liesOfKeys(), liesOfWrites(), liesOfRanges(), liesOfScans(), liesOfWatches())
}

func liesOfKeys() []told {
	reads, updates := "a created key reads back", "update and delete compare the revision"
	kv := func(f func(*storage.KV)) lie {
		return lie{get: func(kv storage.KV) storage.KV { f(&kv); return kv }}
	}
	refused := func(f func(*storage.Error)) lie { return lie{refused: f} }
	return []told{
		{"another key", reads, "want one at", kv(func(kv *storage.KV) { kv.Key += "x" })},
		{"another value", reads, "want one at", kv(func(kv *storage.KV) { kv.Value = []byte("x") })},
		{"another revision", reads, "want one at", kv(func(kv *storage.KV) { kv.Revision++ })},
		{"a revision twice", reads, "does not follow", lie{wrote: func(int64) int64 { return 2 }}},
		{"no reading", reads, "no reading", lie{failed: func(err error) error { return errors.Join(err, errors.New("no reading")) }}},
		{"no current", updates, "does not carry the current key", refused(func(e *storage.Error) { e.Current = nil })},
		{"another current value", updates, "error carries", refused(func(e *storage.Error) { e.Current = &storage.KV{Value: []byte("x"), Revision: e.Current.Revision} })},
		{"another current revision", updates, "error carries", refused(func(e *storage.Error) { e.Current = &storage.KV{Value: e.Current.Value, Revision: 1} })},
		{"another kind", updates, "want", refused(func(e *storage.Error) { e.Kind = storage.Exists })},
		{"a key that stays", updates, "want", lie{failed: func(err error) error {
			if storage.KindOf(err) == storage.NotFound {
				return nil
			}
			return err
		}}},
		{"what is missing", "missing keys are NotFound", "want", refused(func(e *storage.Error) { e.Kind = storage.Conflict })},
		{"a large value", "a value too large is TooLarge", "want", refused(func(e *storage.Error) { e.Kind = storage.Conflict })},
		{"no reason", "a context that ended fails as Unavailable", "does not say that the context ended", lie{failed: func(err error) error {
			if err != nil {
				return &storage.Error{Kind: storage.Unavailable}
			}
			return nil
		}}},
		{"a short life", "a ttl keeps a key at least that long", "want at least", lie{ttl: time.Second}},
	}
}

func liesOfWrites() []told {
	guarded, along, winner := "a guarded write compares its guard too", "a write changes other keys along with its own, or none", "one of many concurrent writers of a revision wins"
	var n, reads atomic.Int64
	second := func(f func(kv *storage.KV)) lie { // of what is read from the second time on
		return lie{get: func(kv storage.KV) storage.KV {
			if reads.Add(1) > 1 {
				f(&kv)
			}
			return kv
		}}
	}
	return []told{
		{"another guard", guarded, "is not about the guard", lie{refused: func(e *storage.Error) {
			if e.Kind == storage.Changed {
				e.Key += "x"
			}
		}}},
		{"a guard that is gone", guarded, "a guard that does not exist", lie{refused: func(e *storage.Error) {
			if e.Kind == storage.Changed && e.Current == nil {
				e.Current = &storage.KV{}
			}
		}}},
		{"a refused write", guarded, "a refused write changed the key", lie{get: func(kv storage.KV) storage.KV { kv.Revision++; return kv }}},
		{"another value along", along, "is ", second(func(kv *storage.KV) { kv.Value = []byte("x") })},
		{"another revision along", along, "is ", second(func(kv *storage.KV) { kv.Revision++ })},
		{"another value of three", along, "c is", lie{get: func(kv storage.KV) storage.KV {
			if strings.HasSuffix(kv.Key, "/c") {
				kv.Value = []byte("x")
			}
			return kv
		}}},
		{"another revision of three", along, "c is", lie{get: func(kv storage.KV) storage.KV {
			if strings.HasSuffix(kv.Key, "/c") {
				kv.Revision--
			}
			return kv
		}}},
		{"two winners", winner, "2 writers won and 14 lost", lie{failed: func(err error) error {
			if err != nil && n.Add(1) == 1 {
				return nil
			}
			return err
		}}},
		{"a loser without a reason", winner, "1 writers won and 14 lost", lie{failed: func(err error) error {
			if err != nil && n.Add(1) == 1 {
				return errors.New("something else")
			}
			return err
		}}},
	}
}

func liesOfRanges() []told {
	missing, order, pages, future, linear, compacted := "missing keys are NotFound", "range is ordered and bounded by the prefix", "LIST-05 RV-08 RV-09 pages at a revision ignore later writes", "a revision not reached is FutureRevision",
		"RV-05 revision and range include every acknowledged write", "WATCH-05 compacted history is Compacted"
	page := func(f func(storage.Range, *storage.Page)) lie {
		return lie{pages: func(r storage.Range, p storage.Page) storage.Page { f(r, &p); return p }}
	}
	return []told{
		{"something of nothing", missing, "range of nothing", page(func(_ storage.Range, p *storage.Page) { p.KVs = make([]storage.KV, 1) })},
		{"more of nothing", missing, "range of nothing", page(func(_ storage.Range, p *storage.Page) { p.More = true })},
		{"a number of nothing", missing, "range of nothing", page(func(_ storage.Range, p *storage.Page) { p.Count = 1 })},
		{"another order", order, "want [", page(func(r storage.Range, p *storage.Page) {
			if r.Count {
				slices.Reverse(p.KVs)
			}
		})},
		{"no more", order, "want [", page(func(r storage.Range, p *storage.Page) { p.More = p.More && !r.Count })},
		{"another number", order, "want [", page(func(r storage.Range, p *storage.Page) {
			if r.Count {
				p.Count++
			}
		})},
		{"a number that nobody asked for", order, "Count:9", page(func(r storage.Range, p *storage.Page) {
			if !r.Count {
				p.Count = 9
			}
		})},
		{"no more without a number", order, "More:false", page(func(r storage.Range, p *storage.Page) { p.More = p.More && r.Count })},
		{"another order without a number", order, "got {", page(func(r storage.Range, p *storage.Page) {
			if !r.Count {
				slices.Reverse(p.KVs)
			}
		})},
		{"pages of another revision", pages, "a page is at revision", page(func(r storage.Range, p *storage.Page) {
			if r.Revision > 0 {
				p.Revision++
			}
		})},
		{"pages of later values", pages, "shows a later write", page(func(_ storage.Range, p *storage.Page) {
			for i := range p.KVs {
				p.KVs[i].Value = []byte("new")
			}
		})},
		{"pages that lack a key", pages, "the pages hold", page(func(r storage.Range, p *storage.Page) {
			if r.Revision > 0 && p.More {
				p.KVs = p.KVs[1:]
			}
		})},
		{"pages with a later key", pages, "k065", page(func(r storage.Range, p *storage.Page) {
			for i := range p.KVs {
				p.KVs[i].Key = strings.Replace(p.KVs[i].Key, "k06", "k065", 1)
			}
		})},
		{"a future that is there", future, "want", lie{failed: func(err error) error { return nil }}},
		{"an old revision", linear, "after a write at", lie{revision: func(int64) int64 { return 1 }}},
		{"an old range", linear, "range misses", page(func(_ storage.Range, p *storage.Page) { p.Revision = 1 })},
		{"an empty range", linear, "range misses", page(func(_ storage.Range, p *storage.Page) { p.KVs = nil })},
		{"nothing was dropped", compacted, "compacted to revision -1", lie{dropped: func(int64) int64 { return -1 }}},
		{"too much was dropped", compacted, "compacted to revision", lie{dropped: func(n int64) int64 { return n + 1 }}},
	}
}

func liesOfScans() []told {
	const scan = "a scan reads everything at one revision"
	page := func(f func(int, *storage.Page)) lie {
		return lie{scanned: func(n int, p storage.Page) storage.Page { f(n, &p); return p }}
	}
	of := func(p *storage.Page, prefix string) bool {
		return len(p.KVs) > 0 && strings.Contains(p.KVs[0].Key, prefix)
	}
	return []told{
		{"a later page", scan, "a page of revision", page(func(n int, p *storage.Page) { p.Revision += int64(n) })},
		{"a page before the last", scan, "that has more: false", page(func(n int, p *storage.Page) { p.More = false })},
		{"another key in a scan", scan, "key 0 is", page(func(n int, p *storage.Page) {
			if of(p, "k") {
				p.KVs = slices.Clone(p.KVs)
				p.KVs[0].Key += "x"
			}
		})},
		{"another value in a scan", scan, "key 0 is", page(func(n int, p *storage.Page) {
			if of(p, "k") {
				p.KVs = slices.Clone(p.KVs)
				p.KVs[0].Value = bytes.ToUpper(p.KVs[0].Value)
			}
		})},
		{"a key too few", scan, "2499 keys", page(func(n int, p *storage.Page) {
			if !p.More && len(p.KVs) > 0 {
				p.KVs = p.KVs[:len(p.KVs)-1]
			}
		})},
		{"more after the last", scan, "more: true", page(func(n int, p *storage.Page) { p.More = true })},
		{"a scan that fails", scan, "it fails", lie{scanErr: func(err error) error { return errors.Join(err, errors.New("it fails")) }}},
		{"something in nothing", scan, "nothing is", page(func(n int, p *storage.Page) {
			if len(p.KVs) == 0 {
				p.KVs = make([]storage.KV, 1)
			}
		})},
		{"more in nothing", scan, "nothing is", page(func(n int, p *storage.Page) { p.More = p.More || len(p.KVs) == 0 })},
		{"nothing of no revision", scan, "nothing is", page(func(n int, p *storage.Page) {
			if len(p.KVs) == 0 {
				p.Revision = 0
			}
		})},
		{"another error", scan, "after 1 pages", lie{scanErr: func(err error) error {
			if err != nil && storage.KindOf(err) != storage.FutureRevision {
				return errors.New("another")
			}
			return err
		}}},
	}
}

func liesOfWatches() []told {
	order, replay, prefix, progress, ends := "WATCH-02 a watch sees every change once and in order", "WATCH-04 a watch from a past revision replays", "a watch keeps to its prefix", "a progress request reports a revision without events", "a watch ends with its context"
	events := func(f func(*storage.Event)) lie {
		return lie{batch: func(b storage.Batch) storage.Batch {
			b.Events = slices.Clone(b.Events)
			for i := range b.Events {
				f(&b.Events[i])
			}
			return b
		}}
	}
	batch := func(f func(*storage.Batch)) lie {
		return lie{batch: func(b storage.Batch) storage.Batch { f(&b); return b }}
	}
	return []told{
		{"an event of another revision", order, "a batch starts at revision", events(func(ev *storage.Event) { ev.Revision = 2 })},
		{"events out of order", replay, "comes after", batch(func(b *storage.Batch) { b.Events = slices.Clone(b.Events); slices.Reverse(b.Events) })},
		{"a batch behind its events", replay, "is below its events", batch(func(b *storage.Batch) { b.Revision-- })},
		{"an event twice", replay, "want 11", batch(func(b *storage.Batch) { b.Events = append(slices.Clip(b.Events), b.Events[len(b.Events)-1]) })},
		{"a deletion with a value", order, "carries a value", events(func(ev *storage.Event) { ev.Value = []byte("x") })},
		{"no deletion", order, "watch says", events(func(ev *storage.Event) { ev.Deleted = false })},
		{"another value in a watch", replay, "event 0 is", events(func(ev *storage.Event) { ev.Value = []byte("x") })},
		{"a later revision in a watch", replay, "event", batch(func(b *storage.Batch) {
			b.Events = slices.Clone(b.Events)
			b.Events[len(b.Events)-1].Revision++
			b.Revision++
		})},
		{"another key in a watch", prefix, "event 0 is for", events(func(ev *storage.Event) { ev.Key += "x" })},
		{"events that nobody made", progress, "unexpected events", batch(func(b *storage.Batch) {
			if len(b.Events) == 0 {
				b.Events = make([]storage.Event, 1)
			}
		})},
		{"a reason while it runs", ends, "a running watch has the reason", lie{reason: func(err error) error { return errors.Join(err, errors.New("early")) }}},
		{"no reason in the end", ends, "a canceled watch ended with", lie{reason: func(error) error { return nil }}},
	}
}
