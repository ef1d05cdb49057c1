package registry_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/wasmgate/wasmgate/plugins"
	"github.com/wasmgate/wasmgate/plugins/plugintest"
	"github.com/wasmgate/wasmgate/plugins/registry"
)

// observed is a context that tells when somebody waits for its end.
type observed struct {
	context.Context
	waited func()
}

func (o observed) Done() <-chan struct{} {
	o.waited()
	return o.Context.Done()
}

// waiting calls a module, and returns when that waits, or has ended.
func waiting(ctx context.Context, r *registry.Registry, name string) (err func() error) {
	result, waits := make(chan error, 1), make(chan struct{})
	o := observed{ctx, sync.OnceFunc(func() { close(waits) })}
	go func() {
		result <- r.Call(o, name, plugins.Convert, []byte("{}"), func([]byte) error { return nil })
	}()
	select {
	case <-waits:
	case err := <-result:
		result <- err
	}
	return func() error { return <-result }
}

// Until what served before is loaded, a call waits for its module.
func TestCallsWaitForWhatServedBefore(t *testing.T) {
	e, err := engine()
	if err != nil {
		t.Fatal(err)
	}
	all := make(chan struct{})
	r := registry.New(registry.Config{Compiler: e, Loaded: all})
	defer r.Close(context.Background())
	notReady := func(err error) bool {
		var failed *plugins.CallError
		return errors.As(err, &failed) && failed.Kind == plugins.NotReady
	}
	loaded, absent := waiting(t.Context(), r, "loaded"), waiting(t.Context(), r, "absent")
	left, leave := context.WithCancel(t.Context())
	given := waiting(left, r, "loaded too late")
	leave()
	if err := given(); !notReady(err) {
		t.Errorf("its caller left: %v", err)
	}
	set(t, r, "loaded", plugintest.Echo("{}").Bytes())
	if err := loaded(); err != nil {
		t.Error(err)
	}
	close(all)
	if err := absent(); !notReady(err) {
		t.Errorf("it was not there before: %v", err)
	}
	err = r.Call(t.Context(), "absent", plugins.Convert, []byte("{}"), func([]byte) error { return nil })
	if !notReady(err) {
		t.Errorf("after that: %v", err)
	}
}
