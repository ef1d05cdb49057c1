package registry_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/wasmgate/wasmgate/plugins"
	"github.com/wasmgate/wasmgate/plugins/plugintest"
	"github.com/wasmgate/wasmgate/plugins/registry"
)

// What is withdrawn serves no more, whatever is being loaded in its place; calls say why,
// and what is set later serves.
func TestWhatIsWithdrawnServesNoMore(t *testing.T) {
	r, c := slowRegistry(t, registry.Config{})
	why := &plugins.LoadError{Module: "slow", Reason: "Revoked", Detail: "it is revoked"}
	r.Withdraw("slow", why) // which is not there
	call := func() error { return r.Call(t.Context(), "slow", plugins.Convert, []byte("{}"), ignore) }
	set := func(digest string) chan error {
		done := make(chan error, 1)
		go func() {
			_, err := r.Set(context.Background(), "slow", plugins.Revision{Bytes: echo("{}"), Digest: digest})
			done <- err
		}()
		<-c.begun
		return done
	}
	first := set("sha256:1")
	c.go_ <- struct{}{}
	if err := <-first; err != nil || call() != nil {
		t.Fatal(err, call())
	}
	second := set("sha256:2")
	r.Withdraw("slow", why)
	for range 2 {
		var refused *plugins.CallError
		if err := call(); !errors.As(err, &refused) || refused.Kind != plugins.NotReady || !strings.Contains(refused.Reason, "Revoked: it is revoked") {
			t.Errorf("after it was withdrawn: %v", err)
		}
		if s, known := r.Status("slow"); !known || s.Serving != nil || s.Failure != why {
			t.Errorf("status %+v", s)
		}
		r.Withdraw("slow", why)
	}
	close(c.go_)
	if err := <-second; err != nil || call() != nil {
		t.Error(err, call())
	}
	if s, _ := r.Status("slow"); s.Digest() != "sha256:2" || s.Failure != nil {
		t.Errorf("status %+v", s)
	}
}

// Whatever is set while it is withdrawn, what is told to serve is what serves.
func TestWhatIsToldToServeServes(t *testing.T) {
	r := newRegistry(t)
	for i := range 30 {
		set(t, r, "a", plugintest.Echo("{}").Bytes())
		var both sync.WaitGroup
		both.Go(func() { set(t, r, "a", plugintest.Echo(fmt.Sprintf("{%d}", i%2)).Bytes()) })
		both.Go(func() {
			for range 50 {
				r.Withdraw("a", &plugins.LoadError{Module: "a", Reason: plugins.CompileFailed})
			}
		})
		both.Wait()
		status, _ := r.Status("a")
		err := r.Call(t.Context(), "a", plugins.Convert, []byte("{}"), func([]byte) error { return nil })
		if (status.Serving != nil) != (err == nil) || (status.Serving == nil) != (status.Failure != nil) {
			t.Fatalf("%+v, but a call says %v", status, err)
		}
	}
}
