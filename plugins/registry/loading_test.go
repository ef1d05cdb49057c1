package registry_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/wasmgate/wasmgate/plugins"
	"github.com/wasmgate/wasmgate/plugins/plugintest"
	"github.com/wasmgate/wasmgate/plugins/quarantine"
	"github.com/wasmgate/wasmgate/plugins/registry"
	"github.com/wasmgate/wasmgate/plugins/wasm"
)

// slowCompiler holds up the modules called "slow" until go is closed.
type slowCompiler struct {
	*wasm.Engine
	begun chan struct{} // one for each that is held up
	go_   chan struct{}
	loads atomic.Int32 // of slow ones
	last  atomic.Pointer[wasm.Module]
}

func (c *slowCompiler) Load(ctx context.Context, src wasm.Source) (*wasm.Module, error) {
	switch {
	case src.Name == "panics":
		panic("an index out of range")
	case strings.HasPrefix(src.Name, "slow"):
		c.loads.Add(1)
		c.begun <- struct{}{}
		<-c.go_
	}
	m, err := c.Engine.Load(ctx, src)
	c.last.Store(m)
	return m, err
}

func slowRegistry(t *testing.T, cfg registry.Config) (*registry.Registry, *slowCompiler) {
	t.Helper()
	e, err := engine()
	if err != nil {
		t.Fatal(err)
	}
	c := &slowCompiler{Engine: e, begun: make(chan struct{}, 16), go_: make(chan struct{})}
	cfg.Compiler = c
	r := registry.New(cfg)
	t.Cleanup(func() {
		if err := r.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return r, c
}

func wantRefused(t *testing.T, err error, reason plugins.LoadReason, says string) {
	t.Helper()
	var refused *plugins.LoadError
	if !errors.As(err, &refused) || refused.Reason != reason || !strings.Contains(refused.Detail, says) {
		t.Errorf("got %v, want %s and %q", err, reason, says)
	}
}

func echo(reply string) []byte { return plugintest.Echo(reply).Bytes() }

func TestASlowModuleHoldsUpNoOther(t *testing.T) {
	r, c := slowRegistry(t, registry.Config{Loads: 2})
	loaded := make(chan error, 1)
	go func() {
		_, err := r.Set(context.Background(), "slow", plugins.Revision{Bytes: echo("{}"), Digest: digestOf(echo("{}"))})
		loaded <- err
	}()
	<-c.begun
	set(t, r, "quick", echo("{}"))
	set(t, r, "another", echo("{}"))
	if n := r.Loading(); n != 1 {
		t.Errorf("%d are being loaded", n)
	}
	close(c.go_)
	if err := <-loaded; err != nil {
		t.Error(err)
	}
	if n := r.Loading(); n != 0 {
		t.Errorf("%d are being loaded after all are done", n)
	}
}

func TestWhatIsTooSlowIsReportedAndServesWhenItIsDone(t *testing.T) {
	r, c := slowRegistry(t, registry.Config{LoadTimeout: time.Millisecond})
	spec := plugins.Revision{Bytes: echo("{}"), Digest: digestOf(echo("{}"))}
	_, err := r.Set(t.Context(), "slow", spec)
	wantRefused(t, err, plugins.Slow, "not compiled within 1ms")
	if s, _ := r.Status("slow"); s.Serving != nil || s.Failure == nil || s.Failure.Reason != plugins.Slow || s.FailedDigest != digestOf(spec.Bytes) {
		t.Errorf("status %+v", s)
	}
	_, err = r.Set(t.Context(), "slow", spec)
	wantRefused(t, err, plugins.Slow, digestOf(spec.Bytes)+" is still being compiled, since 2")
	other := spec
	other.Bytes, other.Digest = echo("other"), digestOf(echo("other"))
	_, err = r.Set(t.Context(), "slow", other)
	wantRefused(t, err, plugins.Slow, digestOf(spec.Bytes)+" is still being compiled")
	close(c.go_)
	s := eventually(t, r, func() (plugins.Status, error) { return r.Set(t.Context(), "slow", spec) })
	if s.Digest() != digestOf(spec.Bytes) || s.Failure != nil || c.loads.Load() != 1 {
		t.Errorf("status %+v after %d loads", s, c.loads.Load())
	}
}

// eventually tries again whenever what was left alone under the name slow is
// done.
func eventually(t *testing.T, r *registry.Registry, try func() (plugins.Status, error)) plugins.Status {
	t.Helper()
	for {
		s, err := try()
		var refused *plugins.LoadError
		if errors.As(err, &refused) && refused.Reason == plugins.Slow && t.Context().Err() == nil {
			select {
			case <-registry.Left(r, "slow"):
			case <-t.Context().Done():
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
}

func TestTheResultOfAnotherRevisionIsThrownAway(t *testing.T) {
	r, c := slowRegistry(t, registry.Config{LoadTimeout: 20 * time.Second})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() {
		_, err := r.Set(ctx, "slow", plugins.Revision{Bytes: echo("old"), Digest: digestOf(echo("old"))})
		done <- err
	}()
	<-c.begun
	cancel()
	var refused *plugins.LoadError
	if err := <-done; !errors.Is(err, context.Canceled) || errors.As(err, &refused) {
		t.Errorf("a context that ended: %v", err)
	}
	close(c.go_)
	for n, spec := range []plugins.Revision{
		{Bytes: echo("new"), Digest: digestOf(echo("new"))},
		{Bytes: echo("new"), Digest: digestOf(echo("new")), Limits: plugins.Limits{ResponseBytes: 7}},
	} {
		s := eventually(t, r, func() (plugins.Status, error) { return r.Set(t.Context(), "slow", spec) })
		if s.Digest() != digestOf(spec.Bytes) || int(c.loads.Load()) != n+2 {
			t.Errorf("revision %d: status %+v after %d loads", n, s, c.loads.Load())
		}
	}
}

func TestARemovedModuleIsNotKeptWhenItIsDone(t *testing.T) {
	for _, doneFirst := range []bool{false, true} {
		marks := &countedMarks{ended: make(chan string, 1)}
		r, c := slowRegistry(t, registry.Config{LoadTimeout: time.Millisecond, Marks: marks})
		_, err := r.Set(t.Context(), "slow", plugins.Revision{Bytes: echo("{}"), Digest: digestOf(echo("{}"))})
		wantRefused(t, err, plugins.Slow, "")
		if doneFirst {
			close(c.go_)
			<-marks.ended
		}
		r.Remove("slow")
		if !doneFirst {
			close(c.go_)
			<-marks.ended
		}
		if _, known := r.Status("slow"); known {
			t.Error("it is back")
		}
		spec := plugins.Revision{Bytes: echo("{}"), Digest: digestOf(echo("{}"))}
		eventually(t, r, func() (plugins.Status, error) { return r.Set(t.Context(), "slow", spec) })
		if n := c.loads.Load(); n < 2 {
			t.Errorf("what was removed was kept: %d loads", n)
		}
	}
}

// Nobody takes what was removed while it was being loaded, so whoever has loaded it closes it.
func TestARemovedModuleIsClosedWhenItIsDone(t *testing.T) {
	r, c := slowRegistry(t, registry.Config{LoadTimeout: time.Millisecond})
	content := echo(`{"kept":"by nobody else"}`) // the runtime counts who has the same content
	_, err := r.Set(t.Context(), "slow", plugins.Revision{Bytes: content, Digest: digestOf(content)})
	wantRefused(t, err, plugins.Slow, "")
	r.Remove("slow")
	close(c.go_)
	look := time.NewTicker(time.Millisecond)
	defer look.Stop()
	for late := time.After(time.Minute); ; {
		if m := c.last.Load(); m != nil {
			i, err := m.Instantiate(t.Context())
			if err != nil {
				return // a module that is closed starts no more
			}
			i.Close()
		}
		select {
		case <-look.C:
		case <-late:
			t.Fatal("it is not closed")
		}
	}
}

func TestWaitingForASlotEndsWithTheContext(t *testing.T) {
	r, c := slowRegistry(t, registry.Config{Loads: 1, LoadTimeout: time.Millisecond})
	_, err := r.Set(t.Context(), "slow", plugins.Revision{Bytes: echo("{}"), Digest: digestOf(echo("{}"))})
	wantRefused(t, err, plugins.Slow, "")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.Set(ctx, "quick", plugins.Revision{Bytes: echo("{}"), Digest: digestOf(echo("{}"))}); !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "waiting to be loaded") {
		t.Errorf("with its only slot taken: %v", err)
	}
	close(c.go_)
}

func TestAPanicOfTheCompilerIsARefusal(t *testing.T) {
	r, _ := slowRegistry(t, registry.Config{})
	_, err := r.Set(t.Context(), "panics", plugins.Revision{Bytes: echo("{}"), Digest: digestOf(echo("{}"))})
	wantRefused(t, err, plugins.CompileFailed, "an index out of range")
}

func TestSafeModeLoadsNothing(t *testing.T) {
	r, _ := slowRegistry(t, registry.Config{SafeMode: true})
	_, err := r.Set(t.Context(), "m", plugins.Revision{Bytes: echo("{}"), Digest: digestOf(echo("{}"))})
	wantRefused(t, err, plugins.SafeMode, "without --safe-mode")
	err = r.Call(t.Context(), "m", plugins.Convert, nil, func([]byte) error { return nil })
	var call *plugins.CallError
	if !errors.As(err, &call) || call.Kind != plugins.NotReady || !strings.Contains(call.Reason, "SafeMode") {
		t.Errorf("a call: %v", err)
	}
}

// countedMarks holds back the attempt "again".
type countedMarks struct {
	begun []string
	ended chan string
	err   error
}

func (m *countedMarks) Begin(key, attempt string) (func(), error) {
	m.begun = append(m.begun, key+" "+attempt)
	if attempt == "again" {
		return nil, &quarantine.Suspect{Attempt: attempt}
	}
	return func() { m.ended <- key }, m.err
}

func TestLoadsAreMarked(t *testing.T) {
	marks := &countedMarks{ended: make(chan string, 16)}
	r, c := slowRegistry(t, registry.Config{Marks: marks, LoadTimeout: 20 * time.Second, Loads: 1})
	good, bad := echo("{}"), plugintest.Echo("").With("_initialize", plugintest.Func{Code: plugintest.Trap}).Bytes()
	hexOf := func(b []byte) string { return strings.TrimPrefix(digestOf(b), "sha256:") }

	if _, err := r.Set(t.Context(), "m", plugins.Revision{Bytes: good, Digest: digestOf(good), Attempt: "first"}); err != nil || <-marks.ended != hexOf(good) || marks.begun[0] != hexOf(good)+" first" {
		t.Errorf("a good one: %v, %v", err, marks.begun)
	}
	if _, err := r.Set(t.Context(), "m", plugins.Revision{Bytes: bad, Digest: digestOf(bad)}); err == nil || <-marks.ended != hexOf(bad) {
		t.Errorf("a bad one: %v", err)
	}
	_, err := r.Set(t.Context(), "m", plugins.Revision{Bytes: bad, Digest: digestOf(bad), Attempt: "again"})
	wantRefused(t, err, plugins.Quarantined, "the gateway ended while content "+digestOf(bad))
	marks.err = errors.New("the disk is full")
	var refused *plugins.LoadError
	if _, err := r.Set(t.Context(), "m", plugins.Revision{Bytes: bad, Digest: digestOf(bad)}); !errors.Is(err, marks.err) || errors.As(err, &refused) {
		t.Errorf("what cannot be marked: %v", err)
	}
	marks.err = nil

	// The slot is free after each of these, and a mark lasts as long as the load.
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() {
		_, err := r.Set(ctx, "slow", plugins.Revision{Bytes: good, Digest: digestOf(good)})
		done <- err
	}()
	<-c.begun
	cancel()
	<-done
	select {
	case <-marks.ended:
		t.Error("the mark ended before the load")
	default:
	}
	close(c.go_)
	<-marks.ended
}
