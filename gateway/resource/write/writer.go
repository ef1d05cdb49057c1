package write

import (
	"context"
	"time"

	"github.com/rs/zerolog"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/gateway/catalog"
	"github.com/wasmgate/wasmgate/gateway/resource"
	"github.com/wasmgate/wasmgate/gateway/resource/read"
	"github.com/wasmgate/wasmgate/gateway/view"
	"github.com/wasmgate/wasmgate/storage"
	"github.com/wasmgate/wasmgate/storage/watchcache"
)

// Options configure a [Writer].
type Options struct {
	// Store keeps the objects.
	Store storage.Store
	// Catalog is what is served.
	Catalog *catalog.Catalog
	// Admission is asked about every write. What it charges with are
	// [resource.Accounts].
	Admission admission.Chain
	// Objects are what the hooks of kinds may look up; nil for nothing.
	Objects crd.Objects
	// DeleteWorkers is how many objects of a collection are deleted at a time; 0 means one.
	DeleteWorkers int
	// Turns are taken for what is large; nil for none.
	Turns resource.Turns
	// Log receives what no client is told.
	Log zerolog.Logger
}

// Writer writes objects.
type Writer struct {
	store   storage.Store
	cache   *watchcache.Cache[*view.Entry]
	catalog *catalog.Catalog
	reads   *read.Reader
	o       Options
	// accounts are what writes are charged to; nil for none.
	accounts resource.Accounts
	log      zerolog.Logger
	spaces   spaces
}

// New makes a writer of what a reader reads.
func New(o Options, reads *read.Reader) *Writer {
	e := &Writer{store: o.Store, cache: o.Catalog.Cache(), catalog: o.Catalog, reads: reads, o: o, log: o.Log}
	e.spaces.store, e.spaces.catalog = o.Store, o.Catalog
	for _, p := range o.Admission.Charging {
		e.accounts, _ = p.(resource.Accounts)
	}
	return e
}

// inForce is for what the store does not compare with the definition of t, as it does
// with every commit: it fails as that would. The cache need not be up to date; where it
// is, the definition is not read.
func (e *Writer) inForce(ctx context.Context, t resource.Target) error {
	key, since := t.Resource.Definition()
	if key == "" {
		return nil
	}
	revision, err := e.store.Revision(ctx)
	if err == nil && e.cache.Revision() >= revision {
		return e.catalog.InForce(ctx, t.Resource)
	}
	var now storage.KV
	if err == nil {
		now, err = e.store.Get(ctx, key)
	}
	switch gone := storage.KindOf(err) == storage.NotFound; {
	case err != nil && !gone:
		return t.StoreError(err)
	case gone || now.Revision != since:
		return &redefined{since, gone}
	}
	return nil
}

// waitUntilServed waits, for a little, until this gateway serves what a write at
// revision asked for, where the kind is one of definitions or has to be in force, so
// that the writer's next request meets it.
func (e *Writer) waitUntilServed(ctx context.Context, r *catalog.Resource, revision int64) {
	defines := e.catalog.Defines(r)
	if !defines && !r.Def.InForce {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	if err := e.cache.Wait(ctx, revision); err != nil {
		return // the write is done; only its effect is not awaited any longer
	}
	if !defines {
		return
	}
	if err := e.catalog.WaitApplied(ctx, revision); err != nil {
		e.log.Debug().Err(err).Int64("revision", revision).Msg("definition not applied in time")
	}
}
