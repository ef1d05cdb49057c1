package modules_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/wasmgate/wasmgate/plugins"
)

// Who set a revision has the last word, when its hooks are known; without
// consent the one before serves on, and nothing is left of the new one.
func TestARevisionTakesOverByConsent(t *testing.T) {
	r := registry(t)
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
