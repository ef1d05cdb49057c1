package write

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/gateway/authn"
	"github.com/wasmgate/wasmgate/gateway/resource"
)

// counted are turns of which one is taken at a time, by whom is remembered.
type counted struct {
	t     *testing.T
	taken int
	by    []string
	none  bool
}

func (c *counted) Take(ctx context.Context, user string) error {
	if c.none {
		return context.DeadlineExceeded
	}
	if c.taken++; c.taken > 1 {
		c.t.Error("a turn in a turn")
	}
	c.by = append(c.by, user)
	return ctx.Err()
}

func (c *counted) Give() { c.taken-- }

// outside is admission, which may ask whom it likes and must keep nobody from a turn.
type outside struct{ turns *counted }

func (o outside) Mutate(context.Context, admission.Attributes) error {
	if o.turns.taken != 0 {
		o.turns.t.Error("admission is asked in a turn")
	}
	return nil
}

// What is large is worked at in a turn of its writer's, but not while others are asked;
// what is small, or another version's, is not. Who has no turn in time has written nothing.
func TestLargeObjectsTakeTurns(t *testing.T) {
	w := newWorld(t)
	turns := &counted{t: t}
	w.o.Turns, w.o.Admission = turns, admission.Chain{Mutators: []admission.Mutator{outside{turns}}}
	took := func(what string, want int) {
		t.Helper()
		if len(turns.by) != want || turns.taken != 0 {
			t.Errorf("%s: %d turns, not %d; %d are not given back", what, len(turns.by), want, turns.taken)
		}
		for _, user := range turns.by {
			if user != "bob" {
				t.Errorf("%s: a turn of %q", what, user)
			}
		}
		turns.by = nil
	}
	o := resource.WriteOptions{Caller: resource.Caller{User: &authn.User{Name: "bob"}}}
	body := func(name string, size int) []byte {
		return fmt.Appendf(nil, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":%q},"data":{"k":%q}}`, name, strings.Repeat("x", size))
	}
	maps := w.builtin("configmaps", "default", "")
	create := func(name string, size int) error {
		_, err := w.Create(t.Context(), maps, body(name, size), o)
		return err
	}
	patch := func(name string) error {
		at := maps
		at.Name = name
		_, err := w.Patch(t.Context(), at, types.MergePatchType, []byte(`{"data":{"a":"b"}}`), o)
		return err
	}
	for _, x := range []struct {
		what        string
		size, turns int
	}{{"small", heavy / 2, 0}, {"large", heavy, 6}} { // made, judged and encoded, twice
		if err := errors.Join(create(x.what, x.size), patch(x.what)); err != nil {
			t.Fatal(err)
		}
		took("what is "+x.what, x.turns)
	}
	turns.none = true
	if err := create("late", heavy); !apierrors.IsTimeout(err) {
		t.Errorf("without a turn: %v", err)
	}
	if err := patch("large"); !apierrors.IsTimeout(err) {
		t.Errorf("without a turn: %v", err)
	}
	turns.none = false
	if err := create("late", 1); err != nil {
		t.Errorf("it was written without a turn: %v", err)
	}
	took("what is small again", 0)
	if _, err := w.Create(t.Context(), w.at(v1beta1, ""), fmt.Appendf(nil, `{"apiVersion":"example.com/v1beta1","kind":"CronTab","metadata":{"name":"other","annotations":{"a":%q}},"hostPort":"h:1"}`, strings.Repeat("x", heavy)), o); err != nil {
		t.Fatal(err)
	}
	took("what is converted", 0)
}
