// Package realengine owns the start of the real engine over a store in memory,
// for tests of controllers, where what a fake promises is checked against it and
// the main paths run on it, and of whoever has a say in writes.
//
// It must not know what any of them does. Only tests import it.
package realengine

import (
	"testing"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/admission/plugin"
	"github.com/wasmgate/wasmgate/conversion"
	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/gateway/catalog"
	"github.com/wasmgate/wasmgate/gateway/catalog/catalogtest"
	"github.com/wasmgate/wasmgate/gateway/kinds/definition/leftovers"
	"github.com/wasmgate/wasmgate/gateway/resource"
	"github.com/wasmgate/wasmgate/gateway/resource/engine"
	"github.com/wasmgate/wasmgate/gateway/resource/local"
	"github.com/wasmgate/wasmgate/storage/storagetest"
)

// Engine is a running engine as controllers see it.
type Engine struct {
	local.Client
	// Verbs are what clients get.
	Verbs   *engine.Engine
	Catalog *catalog.Catalog
	Store   *storagetest.Memory
	// Converter converts all custom resources.
	Converter *catalogtest.Turning
}

// Start runs an engine with the built-in kinds until the test ends.
func Start(t testing.TB) *Engine {
	t.Helper()
	return With(t, nil)
}

// With is Start with admission beside that of namespaces, which may look things up in
// the engine; nil for none.
func With(t testing.TB, asked func(*engine.Engine) admission.Chain) *Engine {
	t.Helper()
	return Over(t, storagetest.NewMemory(), asked)
}

// Over is With over a store that others may use, too.
func Over(t testing.TB, store *storagetest.Memory, asked func(*engine.Engine) admission.Chain) *Engine {
	t.Helper()
	e := &Engine{Store: store, Converter: &catalogtest.Turning{}}
	e.Catalog = catalog.New(catalog.Options{
		Store: e.Store, Prefix: "/registry/", Builtins: catalogtest.Builtins(t), Compile: catalogtest.Compile,
		Convert: func(*crd.Definition) (conversion.Converter, error) { return e.Converter, nil },
	})
	e.Verbs = engine.New(engine.Options{Store: e.Store, Catalog: e.Catalog, Admission: func(e *engine.Engine) (c admission.Chain) {
		if asked != nil {
			c = asked(e)
		}
		c.Mutators = append([]admission.Mutator{plugin.NamespaceLifecycle{}}, c.Mutators...)
		return c
	}})
	e.Client = local.New(e.Verbs, resource.Component("test"))
	catalogtest.Run(t, e.Verbs)
	return e
}

// Stored is what the store holds of custom resources, served or not.
func (e *Engine) Stored() leftovers.Objects {
	return leftovers.Objects{Store: e.Store, Prefix: "/registry/"}
}
