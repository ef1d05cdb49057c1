// Package engine owns the engine, which serves every definition, built-in or custom,
// with the same verbs over the same cache and the same store: those of [read.Reader] and
// of [write.Writer].
//
// It must not know HTTP, etcd's client or the Wasm runtime: requests come in as values,
// the store and the converters as interfaces.
package engine

import (
	"context"

	"github.com/rs/zerolog"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/gateway/catalog"
	"github.com/wasmgate/wasmgate/gateway/resource"
	"github.com/wasmgate/wasmgate/gateway/resource/read"
	"github.com/wasmgate/wasmgate/gateway/resource/write"
	"github.com/wasmgate/wasmgate/storage"
)

// Options configure an [Engine].
type Options struct {
	// Store keeps the objects.
	Store storage.Store
	// Catalog is what is served; it is run by the engine.
	Catalog *catalog.Catalog
	// Admission makes what is asked about every write, which may look things up in
	// the engine that is made; nil for nothing. What it charges with are
	// [resource.Accounts].
	Admission func(*Engine) admission.Chain
	// NoPast reads lists of past revisions from the store, even where they are
	// in memory.
	NoPast bool
	// Reports are the kinds whose objects are found out when they are asked for,
	// and kept nowhere.
	Reports map[schema.GroupResource]resource.Report
	// Objects are what the hooks of kinds may look up, by the engine that is made;
	// nil for nothing.
	Objects func(*Engine) crd.Objects
	// DeleteWorkers is how many objects of a collection are deleted at a time; 0 means one.
	DeleteWorkers int
	// Turns are taken for the work on large objects; nil for none.
	Turns resource.Turns
	// Log receives what no client is told.
	Log zerolog.Logger
}

// Engine serves definitions.
type Engine struct {
	*read.Reader
	*write.Writer
	catalog *catalog.Catalog
}

// New makes an engine; it serves after [Engine.Run] is ready.
func New(o Options) *Engine {
	e := &Engine{catalog: o.Catalog, Reader: read.New(o.Store, o.Catalog, o.Reports, o.NoPast)}
	w := write.Options{Store: o.Store, Catalog: o.Catalog, DeleteWorkers: o.DeleteWorkers, Turns: o.Turns, Log: o.Log}
	if o.Objects != nil {
		w.Objects = o.Objects(e)
	}
	if o.Admission != nil {
		w.Admission = o.Admission(e)
	}
	e.Writer = write.New(w, e.Reader)
	return e
}

// Run keeps the cache and the catalog current until ctx ends.
func (e *Engine) Run(ctx context.Context) error { return e.catalog.Run(ctx) }

// Ready is closed once everything stored is being served.
func (e *Engine) Ready() <-chan struct{} { return e.catalog.Ready() }

// Healthy tells whether the cache follows the store.
func (e *Engine) Healthy() error { return e.catalog.Cache().Healthy() }

// Catalog is what is served.
func (e *Engine) Catalog() *catalog.Catalog { return e.catalog }
