// Package paging reads a long range page by page, with pages whose number of
// keys follows from how large their values are.
//
// It owns only that loop. It must not know what keys mean. The watch cache
// loads with it and the rewrite loop walks with it.
package paging

import (
	"context"

	"github.com/wasmgate/wasmgate/storage"
)

const (
	// wantBytes is the size that pages are steered to: large enough to make
	// the cost of a page small, far below the limit of a message.
	wantBytes    = 4 << 20
	defaultFirst = 500
	defaultMax   = 20_000
	// A scan knows that it reads much.
	scanFirst = 2000
	scanMax   = 32_000
)

// Options says what to read.
type Options struct {
	// Range selects the keys; its Limit is ignored. Pages follow each other
	// from its After on.
	Range storage.Range
	// First is the most keys of the first page, Max of any (defaults: 500 and
	// 20,000).
	First, Max int
	// Pin reads all pages at the revision of the first; otherwise each is read
	// as Range says, and so at the most recent revision if it names none.
	Pin bool
}

// Ranger is what a pager needs of a storage.Reader.
type Ranger interface {
	// Range is that of storage.Reader.
	Range(ctx context.Context, r storage.Range) (storage.Page, error)
}

// Scan is storage.Reader's Scan for a store that has nothing better than pages.
func Scan(ctx context.Context, store Ranger, r storage.Range, fn func(storage.Page) error) error {
	pager := New(store, Options{Range: r, First: scanFirst, Max: scanMax, Pin: true})
	for {
		page, ok, err := pager.Next(ctx)
		if err != nil || !ok {
			return err
		}
		if err := fn(page); err != nil {
			return err
		}
	}
}

// Pager walks over a range. It is used by one goroutine.
type Pager struct {
	store Ranger
	o     Options
	limit int
	done  bool
}

// New returns a pager at the start of the range.
func New(store Ranger, o Options) *Pager {
	if o.Max <= 0 {
		o.Max = defaultMax
	}
	if o.First <= 0 {
		o.First = defaultFirst
	}
	return &Pager{store: store, o: o, limit: min(o.First, o.Max)}
}

// Next returns the next page and whether there was one: the first page always
// is, even when empty. After an error it may be called again.
func (p *Pager) Next(ctx context.Context) (storage.Page, bool, error) {
	if p.done {
		return storage.Page{}, false, nil
	}
	for {
		r := p.o.Range
		r.Limit = p.limit
		page, err := p.store.Range(ctx, r)
		if err != nil {
			if storage.KindOf(err) == storage.TooLarge && p.limit > 1 {
				p.limit /= 2
				continue
			}
			return storage.Page{}, false, err
		}
		p.advance(page)
		return page, true, nil
	}
}

func (p *Pager) advance(page storage.Page) {
	if p.o.Pin {
		p.o.Range.Revision = page.Revision
	}
	p.done = !page.More || len(page.KVs) == 0
	if p.done {
		return
	}
	p.o.Range.After = page.KVs[len(page.KVs)-1].Key
	size := 0
	for _, kv := range page.KVs {
		size += len(kv.Key) + len(kv.Value)
	}
	switch {
	case size > wantBytes:
		p.limit = max(p.limit/2, 1)
	case size < wantBytes/2:
		p.limit = min(p.limit*2, p.o.Max)
	}
}
