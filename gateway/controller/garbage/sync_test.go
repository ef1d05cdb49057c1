package garbage

import (
	"context"
	"errors"
	"testing"

	"github.com/rs/zerolog"

	"github.com/wasmgate/wasmgate/crd"
)

// behind is a gateway whose cache cannot be waited for, or whose kinds nobody knows.
type behind struct {
	Objects
	Source
	fresh, kinds error
}

func (b behind) Fresh(context.Context) error { return b.fresh }

func (b behind) Kinds(context.Context) ([]*crd.Definition, error) {
	return []*crd.Definition{{Plural: "widgets", Kind: "Widget"}}, b.kinds
}

// Nothing is decided by an index of which nobody knows that it has everything.
func TestAnIndexThatMayLackSomethingIsNone(t *testing.T) {
	away := errors.New("away")
	for name, c := range map[string]struct {
		objects behind
		want    error
	}{
		"the cache is behind":        {behind{fresh: away}, away},
		"the kinds are not known":    {behind{kinds: away}, away},
		"a kind is not followed yet": {behind{}, errBehind},
	} {
		if err := New(Options{Objects: c.objects, Source: c.objects, Log: zerolog.Nop()}).sync(t.Context()); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
