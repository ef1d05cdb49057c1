package registry_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/wasmgate/wasmgate/plugins"
	"github.com/wasmgate/wasmgate/plugins/plugintest"
	"github.com/wasmgate/wasmgate/plugins/registry"
)

func ignore([]byte) error { return nil }

func TestCallsThatCannotBeMade(t *testing.T) {
	r := newRegistry(t)
	set(t, r, "m", echo("{}"))
	var call *plugins.CallError
	if err := r.Call(t.Context(), "m", plugins.Admit, nil, ignore); !errors.As(err, &call) || call.Kind != plugins.Refused || !strings.Contains(call.Reason, "it has [wasmgate_convert]") {
		t.Errorf("another hook: %v", err)
	}
	if err := r.Call(t.Context(), "none", plugins.Convert, nil, ignore); !errors.As(err, &call) || call.Kind != plugins.NotReady || !strings.Contains(call.Reason, "there is no such module") {
		t.Errorf("another module: %v", err)
	}
	r.Remove("none")
	r.Remove("m")
	r.Remove("m")
	if err := r.Call(t.Context(), "m", plugins.Convert, nil, ignore); !errors.As(err, &call) || !strings.Contains(call.Reason, "there is no such module") {
		t.Errorf("after it was removed: %v", err)
	}
}

// While the first revision of a module is loaded, calls wait for it; who has no time is told why.
func TestCallsWaitForTheFirstRevision(t *testing.T) {
	r, c := slowRegistry(t, registry.Config{})
	done := make(chan error)
	go func() {
		_, err := r.Set(context.Background(), "slow", plugins.Revision{Bytes: echo("{}"), Digest: "sha256:1"})
		done <- err
	}()
	<-c.begun
	var call *plugins.CallError
	hurried, end := context.WithCancel(t.Context())
	end()
	if err := r.Call(hurried, "slow", plugins.Convert, nil, ignore); !errors.As(err, &call) || !strings.Contains(call.Reason, "being loaded; try again") {
		t.Errorf("got %v", err)
	}
	waited := waiting(t.Context(), r, "slow")
	close(c.go_)
	if err := <-done; err != nil {
		t.Error(err)
	}
	if err := waited(); err != nil {
		t.Errorf("a call that waited: %v", err)
	}
	if s, ok := r.Status("slow"); !ok || s.Digest() != "sha256:1" || s.Failure != nil || s.FailedDigest != "" {
		t.Errorf("status %+v", s)
	}
}

// A first revision that is refused ends the wait of calls, and later calls do not wait.
func TestCallsDoNotWaitForWhatIsRefused(t *testing.T) {
	r, c := slowRegistry(t, registry.Config{})
	bad := func() {
		_, _ = r.Set(context.Background(), "slow", plugins.Revision{Bytes: []byte("no module"), Digest: "sha256:1"})
	}
	go bad()
	<-c.begun
	waited := waiting(t.Context(), r, "slow")
	close(c.go_)
	refused := func(err error) {
		t.Helper()
		var call *plugins.CallError
		if !errors.As(err, &call) || !strings.Contains(call.Reason, "the module was refused") {
			t.Errorf("got %v", err)
		}
	}
	refused(waited())
	c.go_ = make(chan struct{})
	go bad()
	<-c.begun
	refused(r.Call(t.Context(), "slow", plugins.Convert, nil, ignore))
	close(c.go_)
}

// A call that fails costs its instance; a verdict does not.
func TestInstancesAreKeptAfterAVerdictOnly(t *testing.T) {
	r := newRegistry(t)
	set(t, r, "m", plugintest.Echo("x").Bytes())
	failure := errors.New("not what I expected")
	for _, want := range []error{failure, verdict{}, nil} {
		if err := r.Call(t.Context(), "m", plugins.Convert, []byte("{}"), func(reply []byte) error {
			if string(reply) != "x" {
				t.Errorf("reply %q", reply)
			}
			return want
		}); !errors.Is(err, want) {
			t.Errorf("got %v, want %v", err, want)
		}
	}
}

type verdict struct{}

func (verdict) Error() string { return "no" }
func (verdict) Verdict() bool { return true }

func TestAClosedRegistryTakesNothing(t *testing.T) {
	r := newRegistry(t)
	set(t, r, "m", echo("{}"))
	for range 2 {
		if err := r.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
	if _, known := r.Status("m"); known {
		t.Error("it still has its module")
	}
	if _, err := r.Set(t.Context(), "m", plugins.Revision{Bytes: echo("{}"), Digest: "sha256:1"}); err == nil || !strings.Contains(err.Error(), "closed") {
		t.Errorf("set after close: %v", err)
	}
}

// Whatever looks at a reply may panic over it; the instance is not lost with
// its place, or some such replies would stop the module.
func TestAPanicOverAReplyCostsOneInstance(t *testing.T) {
	e, err := engine()
	if err != nil {
		t.Fatal(err)
	}
	r := registry.New(registry.Config{Compiler: e, Instances: 1})
	t.Cleanup(func() {
		if err := r.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	set(t, r, "echo", echo("{}"))
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic was swallowed")
			}
		}()
		_ = r.Call(t.Context(), "echo", plugins.Convert, []byte("{}"), func([]byte) error { panic("oops") })
	}()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if err := r.Call(ctx, "echo", plugins.Convert, []byte("{}"), ignore); err != nil {
		t.Error(err)
	}
}
