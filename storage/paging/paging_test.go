package paging

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/wasmgate/wasmgate/storage"
)

// fake serves n keys of a given size and refuses answers above a limit.
type fake struct {
	storage.Reader
	n, size, maxBytes int
	revision          int64
	asked             []storage.Range
}

func (f *fake) Range(_ context.Context, r storage.Range) (storage.Page, error) {
	f.asked = append(f.asked, r)
	page := storage.Page{Revision: r.Revision}
	if page.Revision == 0 {
		f.revision++
		page.Revision = f.revision
	}
	bytes := 0
	for i := range f.n {
		key := fmt.Sprintf("%s%06d", r.Prefix, i)
		if key <= r.After {
			continue
		}
		if len(page.KVs) == r.Limit {
			page.More = true
			break
		}
		page.KVs = append(page.KVs, storage.KV{Key: key, Value: make([]byte, f.size)})
		bytes += f.size
	}
	if f.maxBytes > 0 && bytes > f.maxBytes {
		return storage.Page{}, &storage.Error{Kind: storage.TooLarge}
	}
	return page, nil
}

func walk(t *testing.T, p *Pager) (keys []string, revisions []int64) {
	t.Helper()
	for {
		page, ok, err := p.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			return keys, revisions
		}
		revisions = append(revisions, page.Revision)
		for _, kv := range page.KVs {
			keys = append(keys, kv.Key)
		}
	}
}

func TestPagerSeesEveryKeyOnce(t *testing.T) {
	for _, f := range []*fake{
		{n: 0, size: 10},
		{n: 1, size: 10},
		{n: 500, size: 10},
		{n: 5003, size: 10},
		{n: 700, size: 100 << 10},
		{n: 300, size: 1 << 20, maxBytes: 2 << 20},
	} {
		keys, _ := walk(t, New(f, Options{Range: storage.Range{Prefix: "/p/"}}))
		if len(keys) != f.n || !slices.IsSorted(keys) || len(slices.Compact(keys)) != f.n {
			t.Errorf("%d keys of %d bytes: saw %d", f.n, f.size, len(keys))
		}
	}
}

func TestPagerPins(t *testing.T) {
	_, revs := walk(t, New(&fake{n: 5000, size: 1}, Options{Pin: true}))
	if len(revs) < 3 || len(slices.Compact(revs)) != 1 {
		t.Errorf("pinned pages are at revisions %v", revs)
	}
	_, revs = walk(t, New(&fake{n: 5000, size: 1}, Options{}))
	if len(slices.Compact(revs)) < 3 {
		t.Errorf("pages that are not pinned are at revisions %v", revs)
	}
}

func TestPagerBoundsPages(t *testing.T) {
	f := &fake{n: 5000, size: 1}
	walk(t, New(f, Options{First: 100, Max: 300}))
	for _, r := range f.asked {
		if r.Limit > 300 {
			t.Errorf("asked for %d keys", r.Limit)
		}
	}
}

func TestPagerSteersPagesToASize(t *testing.T) {
	const keyBytes = len("/p/000000")
	for name, c := range map[string]struct{ size, want int }{
		"as wanted":     {wantBytes/16 - keyBytes, 16},
		"a little more": {wantBytes/16 - keyBytes + 1, 8},
		"half of it":    {wantBytes/32 - keyBytes, 16},
		"less":          {wantBytes/32 - keyBytes - 1, 32},
	} {
		f := &fake{n: 40, size: c.size}
		walk(t, New(f, Options{Range: storage.Range{Prefix: "/p/"}, First: 16}))
		if got := f.asked[1].Limit; got != c.want {
			t.Errorf("%s: after a page of 16 keys come %d, want %d", name, got, c.want)
		}
	}
}

func TestPagerGivesUpOnOneValueTooLarge(t *testing.T) {
	p := New(&fake{n: 1, size: 10, maxBytes: 5}, Options{})
	_, _, err := p.Next(t.Context())
	var e *storage.Error
	if !errors.As(err, &e) || e.Kind != storage.TooLarge {
		t.Errorf("got %v", err)
	}
}

func TestScanIsOfOneRevision(t *testing.T) {
	f := &fake{n: 5000, size: 100}
	var keys []string
	pages := 0
	err := Scan(t.Context(), f, storage.Range{Prefix: "/p/"}, func(page storage.Page) error {
		pages++
		if page.Revision != 1 {
			t.Errorf("page %d is of revision %d, the first of 1", pages, page.Revision)
		}
		for _, kv := range page.KVs {
			keys = append(keys, kv.Key)
		}
		return nil
	})
	if err != nil || len(keys) != 5000 || pages != 2 || !slices.IsSorted(keys) || f.asked[0].Limit != scanFirst {
		t.Errorf("%d keys in %d pages, the first of %d, %v", len(keys), pages, f.asked[0].Limit, err)
	}
	errEnough := errors.New("enough")
	pages = 0
	if err := Scan(t.Context(), f, storage.Range{Prefix: "/p/"}, func(storage.Page) error { pages++; return errEnough }); err != errEnough || pages != 1 {
		t.Errorf("after %d pages: %v", pages, err)
	}
	f = &fake{n: 1, size: 10, maxBytes: 1}
	if err := Scan(t.Context(), f, storage.Range{Prefix: "/p/"}, func(storage.Page) error { return nil }); storage.KindOf(err) != storage.TooLarge {
		t.Errorf("a store that fails: %v", err)
	}
}

func TestNextFails(t *testing.T) {
	p := New(&fake{n: 1, size: 10, maxBytes: 1}, Options{Range: storage.Range{Prefix: "/p/"}})
	if page, ok, err := p.Next(t.Context()); ok || err == nil || len(page.KVs) != 0 {
		t.Errorf("%+v, %v, %v", page, ok, err)
	}
}
