package catalogtest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/crd/builtin"
	"github.com/wasmgate/wasmgate/crd/definition"
)

// Builtins are the kinds that a gateway serves by itself.
func Builtins(t testing.TB) []*crd.Definition {
	t.Helper()
	kinds, err := builtin.All(builtin.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return append(kinds, definition.Definition())
}

// Running is a catalog, or an engine over one.
type Running interface {
	// Run runs it until ctx ends.
	Run(ctx context.Context) error
	// Ready is closed when it serves.
	Ready() <-chan struct{}
}

// Run runs r until the test ends, and waits until it is ready.
func Run(t testing.TB, r Running) {
	t.Helper()
	const patience = 20 * time.Second
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- r.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("%T ended: %v", r, err)
		}
	})
	select {
	case <-r.Ready():
	case <-time.After(patience):
		t.Fatalf("%T does not become ready", r)
	}
}
