package garbage

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/rs/zerolog"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

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

// breaking is a source of one kind, of which nothing can be told any more after the first time.
type breaking struct {
	Objects
	why  error
	told bool
}

func (*breaking) Kinds(context.Context) ([]*crd.Definition, error) {
	return []*crd.Definition{{Plural: "widgets", Kind: "Widget"}}, nil
}

func (b *breaking) Feed(schema.GroupResource) (Feed, error) { return b, nil }

func (*breaking) Wait() <-chan struct{} {
	ready := make(chan struct{})
	close(ready)
	return ready
}

func (b *breaking) Next(func(*metav1.ObjectMeta, bool)) (anew, more bool, err error) {
	if b.told {
		return false, false, b.why
	}
	b.told = true
	return true, false, nil
}

// The index is kept no longer, and whoever runs that is told why, once a kind cannot be followed.
func TestAKindThatCannotBeFollowedAnyMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &breaking{why: errors.New("its history is gone")}
		if err := New(Options{Objects: b, Source: b, Log: zerolog.Nop()}).Work(t.Context(), nil); !errors.Is(err, b.why) {
			t.Errorf("it ends with %v", err)
		}
	})
}
