package storagetest

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/wasmgate/wasmgate/storage"
)

// keys returns the keys of a page without the check's prefix.
func (k *kit) keys(page storage.Page) []string {
	names := make([]string, len(page.KVs))
	for i, kv := range page.KVs {
		names[i] = kv.Key[len(k.prefix):]
	}
	return names
}

func (k *kit) rangeOrder() {
	for _, key := range []string{"b/2", "a/1", "b/1", "b0", "c", "b/10"} {
		k.create(key, key)
	}
	for _, c := range []struct {
		prefix, after string
		limit         int
		want          []string
		more          bool
		count         int64
	}{
		{prefix: "", want: []string{"a/1", "b/1", "b/10", "b/2", "b0", "c"}, count: 6},
		{prefix: "b/", want: []string{"b/1", "b/10", "b/2"}, count: 3},
		{prefix: "b/", limit: 2, want: []string{"b/1", "b/10"}, more: true, count: 3},
		{prefix: "b/", after: "b/1", want: []string{"b/10", "b/2"}, count: 2},
		{prefix: "b/", after: "b/10", limit: 1, want: []string{"b/2"}, count: 1},
		{prefix: "b/", after: "a/1", want: []string{"b/1", "b/10", "b/2"}, count: 3},
		{prefix: "b/", after: "c", want: []string{}, count: 0},
		{prefix: "none/", want: []string{}, count: 0},
	} {
		r := storage.Range{Prefix: k.prefix + c.prefix, Limit: c.limit, Count: true}
		if c.after != "" {
			r.After = k.prefix + c.after
		}
		page, err := k.Range(k.ctx, r)
		if err != nil {
			k.Fatalf("%+v: %v", r, err)
		}
		if got := k.keys(page); !slices.Equal(got, c.want) || page.More != c.more || page.Count != c.count {
			k.Errorf("%+v: got %v more=%v count=%d, want %v more=%v count=%d", r, got, page.More, page.Count, c.want, c.more, c.count)
		}
		r.Count = false
		if page, err = k.Range(k.ctx, r); err != nil || page.Count != 0 || page.More != c.more || !slices.Equal(k.keys(page), c.want) {
			k.Errorf("%+v: got %+v, %v", r, page, err)
		}
	}
}

func (k *kit) pagesAtRevision() {
	revs := map[string]int64{}
	for i := range 10 {
		key := fmt.Sprintf("k%02d", i)
		revs[key] = k.create(key, "old")
	}
	first, err := k.Range(k.ctx, storage.Range{Prefix: k.prefix, Limit: 4})
	if err != nil {
		k.Fatal(err)
	}
	// Change what the later pages would show.
	k.update("k05", "new", revs["k05"])
	k.remove("k06", revs["k06"])
	k.create("k065", "new")

	got := k.keys(first)
	for page := first; page.More; {
		last := page.KVs[len(page.KVs)-1].Key
		if page, err = k.Range(k.ctx, storage.Range{Prefix: k.prefix, After: last, Limit: 4, Revision: first.Revision}); err != nil {
			k.Fatal(err)
		}
		if page.Revision != first.Revision {
			k.Fatalf("a page is at revision %d, want %d", page.Revision, first.Revision)
		}
		for _, kv := range page.KVs {
			if string(kv.Value) != "old" {
				k.Errorf("%s shows a later write", kv.Key)
			}
		}
		got = append(got, k.keys(page)...)
	}
	if len(got) != 10 || slices.Contains(got, "k065") {
		k.Fatalf("the pages hold %v, want the ten keys of the first page's revision", got)
	}
}

func (k *kit) futureRevision() {
	rev := k.create("a", "x")
	_, err := k.Range(k.ctx, storage.Range{Prefix: k.prefix, Revision: rev + 1_000_000})
	k.wantKind(err, storage.FutureRevision)
}

func (k *kit) linearizable() {
	var wg sync.WaitGroup
	for w := range 8 {
		wg.Go(func() {
			for i := range 20 {
				key := fmt.Sprintf("%s%d-%d", k.prefix, w, i)
				wrote, err := k.Create(k.ctx, key, []byte("x"), 0)
				if err != nil {
					k.Errorf("create: %v", err)
					return
				}
				seen, err := k.Revision(k.ctx)
				if err != nil || seen < wrote {
					k.Errorf("revision %d (%v) after a write at %d", seen, err, wrote)
					return
				}
				page, err := k.Range(k.ctx, storage.Range{Prefix: key})
				if err != nil || len(page.KVs) != 1 || page.Revision < wrote {
					k.Errorf("range misses %s: %+v, %v", key, page, err)
					return
				}
			}
		})
	}
	wg.Wait()
}

func (k *kit) compacted() {
	if k.compact == nil {
		k.Skip("the store offers no compaction")
	}
	old := k.create("a", "1")
	now := k.update("a", "3", k.update("a", "2", old))
	if err := k.compact(k.ctx, now); err != nil {
		k.Fatal(err)
	}
	if rev, err := k.CompactedRevision(k.ctx); err != nil || rev < 0 || rev > now {
		k.Fatalf("compacted to revision %d, %v; history was dropped below %d", rev, err, now)
	}
	_, err := k.Range(k.ctx, storage.Range{Prefix: k.prefix, Revision: old})
	k.wantKind(err, storage.Compacted)
	if _, err := k.Range(k.ctx, storage.Range{Prefix: k.prefix, Revision: now}); err != nil {
		k.Fatalf("the revision compacted to must stay readable: %v", err)
	}
	batches, reason := k.Watch(k.ctx, k.prefix, old)
	for b := range batches {
		k.Fatalf("a compacted watch sent %+v", b)
	}
	k.wantKind(reason(), storage.Compacted)
}

func (k *kit) scan() {
	const keys = 2500 // more than any first page
	var wg sync.WaitGroup
	const writers = 50 // so that a slow disk is waited for less often
	for w := range writers {
		wg.Go(func() {
			for i := w; i < keys; i += writers {
				k.create(fmt.Sprintf("k%04d", i), "old")
			}
		})
	}
	wg.Wait()
	k.create("other", "x")
	read := func(r storage.Range, want int) (last storage.Page) {
		k.Helper()
		n := 0
		err := k.Scan(k.ctx, r, func(page storage.Page) error {
			if n > 0 && (page.Revision != last.Revision || !last.More) {
				k.Errorf("a page of revision %d after one of %d that has more: %v", page.Revision, last.Revision, last.More)
			}
			for _, kv := range page.KVs {
				if name := fmt.Sprintf("k%04d", n+keys-want); kv.Key != k.prefix+name || string(kv.Value) != "old" {
					k.Fatalf("key %d is %s=%s, want %s", n, kv.Key, kv.Value, name)
				}
				n++
			}
			if last = page; n == len(page.KVs) { // the first page: what comes now is later
				k.update(fmt.Sprintf("k%04d", keys-1), "new", k.revisionOf(fmt.Sprintf("k%04d", keys-1)))
			}
			return nil
		})
		if err != nil || n != want || last.More {
			k.Fatalf("%+v: %d keys, more: %v, %v; want %d", r, n, last.More, err, want)
		}
		return last
	}
	last := read(storage.Range{Prefix: k.prefix + "k", Limit: 3, Count: true}, keys)
	read(storage.Range{Prefix: k.prefix + "k", Revision: last.Revision}, keys)
	read(storage.Range{Prefix: k.prefix + "k", After: k.prefix + "k0099", Revision: last.Revision}, keys-100)

	pages := 0
	if err := k.Scan(k.ctx, storage.Range{Prefix: k.prefix + "none"}, func(page storage.Page) error {
		if pages++; len(page.KVs) != 0 || page.More || page.Revision == 0 {
			k.Errorf("nothing is %+v", page)
		}
		return nil
	}); err != nil || pages != 1 {
		k.Errorf("nothing comes in %d pages, %v", pages, err)
	}
	errEnough := errors.New("enough")
	pages = 0
	if err := k.Scan(k.ctx, storage.Range{Prefix: k.prefix}, func(storage.Page) error { pages++; return errEnough }); err != errEnough || pages != 1 {
		k.Errorf("after %d pages: %v", pages, err)
	}
	k.wantKind(k.Scan(k.ctx, storage.Range{Prefix: k.prefix, Revision: last.Revision + 1_000_000}, func(storage.Page) error { return nil }), storage.FutureRevision)
}

func (k *kit) revisionOf(key string) int64 {
	k.Helper()
	kv, err := k.Get(k.ctx, k.prefix+key)
	if err != nil {
		k.Fatal(err)
	}
	return kv.Revision
}
