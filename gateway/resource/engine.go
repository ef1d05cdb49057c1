package resource

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/gateway/catalog"
	"github.com/wasmgate/wasmgate/gateway/view"
	"github.com/wasmgate/wasmgate/storage"
	"github.com/wasmgate/wasmgate/storage/watchcache"
)

// Options configure an [Engine].
type Options struct {
	// Store keeps the objects.
	Store storage.Store
	// Catalog is what is served; it is run by the engine.
	Catalog *catalog.Catalog
	// Admission makes what is asked about every write, which may look things up in
	// the engine that is made; nil for nothing. What it charges with are [Accounts].
	Admission func(*Engine) admission.Chain
	// NoPast reads lists of past revisions from the store, even where they are
	// in memory.
	NoPast bool
	// Reports are the kinds whose objects are found out when they are asked for,
	// and kept nowhere.
	Reports map[schema.GroupResource]Report
	// ProvisionNamespaces makes the namespace that the first object wants that
	// is created in it. Otherwise such an object is refused.
	ProvisionNamespaces bool
	// Objects are what the hooks of kinds may look up, by the engine that is made;
	// nil for nothing.
	Objects func(*Engine) crd.Objects
	// Log receives what no client is told.
	Log zerolog.Logger
}

// Engine serves definitions.
type Engine struct {
	store   storage.Store
	cache   *watchcache.Cache[*view.Entry]
	catalog *catalog.Catalog
	o       Options
	log     zerolog.Logger
	objects crd.Objects // what hooks look up
	// asked is admission; accounts are what writes are charged to, nil for none.
	asked    admission.Chain
	accounts Accounts
	// spaced is the revision of the last change of a namespace that was made
	// here.
	spaced atomic.Int64
}

// New makes an engine; it serves after [Engine.Run] is ready.
func New(o Options) *Engine {
	e := &Engine{store: o.Store, cache: o.Catalog.Cache(), catalog: o.Catalog, o: o, log: o.Log}
	if o.Objects != nil {
		e.objects = o.Objects(e)
	}
	if o.Admission != nil {
		e.asked = o.Admission(e)
	}
	for _, p := range e.asked.Charging {
		e.accounts, _ = p.(Accounts)
	}
	return e
}

// Run keeps the cache and the catalog current until ctx ends.
func (e *Engine) Run(ctx context.Context) error { return e.catalog.Run(ctx) }

// Ready is closed once everything stored is being served.
func (e *Engine) Ready() <-chan struct{} { return e.catalog.Ready() }

// Healthy tells whether the cache follows the store.
func (e *Engine) Healthy() error { return e.cache.Healthy() }

// Catalog is what is served.
func (e *Engine) Catalog() *catalog.Catalog { return e.catalog }

// waitTimeout is how long a read waits for a revision that the cache has not
// reached.
const waitTimeout = 3 * time.Second

// settle waits, for a little, until this gateway serves what a write to a
// definition at revision asked for, so that the writer's next request meets it.
func (e *Engine) settle(ctx context.Context, r *catalog.Resource, revision int64) {
	if !e.catalog.Defines(r) {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	if err := e.cache.Wait(ctx, revision); err != nil {
		return // the write is done; only its effect is not awaited any longer
	}
	if err := e.catalog.WaitApplied(ctx, revision); err != nil {
		e.log.Debug().Err(err).Int64("revision", revision).Msg("definition not applied in time")
	}
}
