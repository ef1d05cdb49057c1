package registry_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/wasmgate/wasmgate/plugins"
	"github.com/wasmgate/wasmgate/plugins/registry"
	"github.com/wasmgate/wasmgate/plugins/wasm"
)

// Who set a revision has the last word, when its hooks are known; without
// consent the one before serves on, and nothing is left of the new one.
func TestARevisionTakesOverByConsent(t *testing.T) {
	r := newRegistry(t)
	first, second := echo(`"one"`), echo(`"two"`)
	var asked []plugins.Hook
	refuse := &plugins.LoadError{Module: "m", Reason: plugins.HookInUse, Detail: "somebody needs it"}
	rev := plugins.Revision{Bytes: first, Digest: digestOf(first), Consent: func(hooks []plugins.Hook) error {
		asked = hooks
		return nil
	}}
	s, err := r.Set(t.Context(), "m", rev)
	if err != nil || !slices.Equal(asked, []plugins.Hook{plugins.Convert}) || s.Serving.Consent != nil {
		t.Fatalf("asked about %v: %v", asked, err)
	}
	rev.Bytes, rev.Digest = second, digestOf(second)
	for _, no := range []error{refuse, errors.New("nobody knows")} {
		rev.Consent = func([]plugins.Hook) error { return no }
		s, err = r.Set(t.Context(), "m", rev)
		if !errors.Is(err, no) || s.Digest() != digestOf(first) || (s.Failure != nil) != (no == error(refuse)) && no == error(refuse) {
			t.Errorf("%v: %v, %+v", no, err, s)
		}
	}
	if err := r.Call(context.Background(), "m", plugins.Convert, []byte("{}"), func(reply []byte) error {
		if string(reply) != `"one"` {
			t.Errorf("%s answers", reply)
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
	rev.Consent = nil
	if s, err = r.Set(t.Context(), "m", rev); err != nil || s.Digest() != digestOf(second) || s.Failure != nil {
		t.Errorf("%v, %+v", err, s)
	}
}

// remembering is a compiler that keeps what it has made.
type remembering struct {
	*wasm.Engine
	made []*wasm.Module
}

func (c *remembering) Load(ctx context.Context, src wasm.Source) (*wasm.Module, error) {
	m, err := c.Engine.Load(ctx, src)
	c.made = append(c.made, m)
	return m, err
}

// A revision that nobody consents to is closed: its code takes memory.
func TestARevisionWithoutConsentIsClosed(t *testing.T) {
	e, err := engine()
	if err != nil {
		t.Fatal(err)
	}
	c := &remembering{Engine: e}
	r := registry.New(registry.Config{Compiler: c})
	defer r.Close(context.Background())
	module := echo("{}")
	_, err = r.Set(t.Context(), "m", plugins.Revision{Bytes: module, Digest: digestOf(module), Consent: func([]plugins.Hook) error { return errors.New("no") }})
	if err == nil || len(c.made) != 1 {
		t.Fatalf("%v, %d modules", err, len(c.made))
	}
	if i, err := c.made[0].Instantiate(t.Context()); err == nil {
		_ = i.Close()
		t.Error("it can still be started")
	}
}
