// Package realengine owns the start of the real engine over a store in memory,
// for tests of controllers: what a fake promises is checked against it, and the
// main paths run on it.
//
// It must not know what any controller does. Only tests import it.
package realengine

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/wasmgate/wasmgate/conversion"
	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/crd/builtin"
	"github.com/wasmgate/wasmgate/crd/definitions"
	"github.com/wasmgate/wasmgate/gateway/catalog"
	"github.com/wasmgate/wasmgate/gateway/catalog/catalogtest"
	"github.com/wasmgate/wasmgate/gateway/leftovers"
	"github.com/wasmgate/wasmgate/gateway/resource"
	"github.com/wasmgate/wasmgate/storage/storagetest"
)

// patience bounds the start.
const patience = 20 * time.Second

// Engine is a running engine as controllers see it.
type Engine struct {
	resource.Internal
	// Verbs are what clients get.
	Verbs   *resource.Engine
	Catalog *catalog.Catalog
	Store   *storagetest.Memory
	// Converter converts all custom resources.
	Converter *catalogtest.Turning
}

// Start runs an engine with the built-in kinds until the test ends.
func Start(t *testing.T) *Engine {
	t.Helper()
	builtins, err := builtin.All(builtin.Options{})
	if err != nil {
		t.Fatal(err)
	}
	e := &Engine{Store: storagetest.NewMemory(), Converter: &catalogtest.Turning{}}
	e.Catalog = catalog.New(catalog.Options{
		Store: e.Store, Prefix: "/registry/", Builtins: append(builtins, definitions.Definition()), Compile: catalogtest.Compile,
		Convert: func(*crd.Definition) (conversion.Converter, error) { return e.Converter, nil },
	})
	engine := resource.New(resource.Options{Store: e.Store, Catalog: e.Catalog})
	e.Verbs, e.Internal = engine, engine.Internal(resource.Component("test"))
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- engine.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("the engine ended: %v", err)
		}
	})
	select {
	case <-engine.Ready():
	case <-time.After(patience):
		t.Fatal("the engine does not become ready")
	}
	return e
}

// Stored is what the store holds of custom resources, served or not.
func (e *Engine) Stored() leftovers.Objects {
	return leftovers.Objects{Store: e.Store, Prefix: "/registry/"}
}
