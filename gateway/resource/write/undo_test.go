package write

import (
	"context"
	"slices"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/gateway/resource"
	"github.com/wasmgate/wasmgate/storage"
)

// taker is a mutator that writes something for each attempt at a write, twice, and notes
// what of that is undone.
type taker struct {
	took        int
	undone      []int
	then, leave func(ctx context.Context)
}

func (m *taker) Mutate(ctx context.Context, w admission.Attributes) error {
	for range 2 {
		m.took++
		n := m.took
		w.Undo(func(ctx context.Context) {
			if ctx.Err() == nil {
				m.undone = append(m.undone, n)
			}
		})
	}
	if m.then != nil {
		m.then(ctx)
	}
	return nil
}

// poor is an account that nothing can be charged to.
type poor struct{}

func (poor) Open(context.Context, admission.Attributes) (resource.Account, error) {
	return nil, apierrors.NewForbidden(cronTabs, "", nil)
}

// creating is a store that creates nothing, as it says.
type creating struct {
	storage.Store
	fails storage.Kind
}

func (c creating) Create(context.Context, string, []byte, time.Duration) (int64, error) {
	return 0, &storage.Error{Kind: c.fails}
}

// What was written for a write before it was decided on is taken back where nothing comes
// of it, the last first, and not where it may have been committed.
func TestWhatIsWrittenForAWriteIsTakenBack(t *testing.T) {
	fails := func(k storage.Kind) func(*world, *taker) {
		return func(w *world, _ *taker) { w.Writer.store = creating{w.store, k} }
	}
	for what, c := range map[string]struct {
		before func(w *world, m *taker)
		undone []int
	}{
		"it is stored": {func(*world, *taker) {}, nil},
		"a validator refuses": {func(w *world, _ *taker) {
			w.o.Admission.Validators = []admission.Validator{refusing{}}
		}, []int{2, 1}},
		"it cannot be charged":   {func(w *world, _ *taker) { w.accounts = poor{} }, []int{2, 1}},
		"it is there":            {func(w *world, _ *taker) { w.create(w.builtin("configmaps", "default", ""), configMap("one", "0")) }, []int{2, 1}},
		"it is too large":        {fails(storage.TooLarge), []int{2, 1}},
		"the store is full":      {fails(storage.Full), []int{2, 1}},
		"the store is overtaxed": {fails(storage.TooMany), []int{2, 1}},
		"the store is silent":    {fails(storage.Unavailable), nil},
		"the client left":        {func(_ *world, m *taker) { m.then = m.leave }, []int{2, 1}},
	} {
		t.Run(what, func(t *testing.T) {
			w, m := newWorld(t), &taker{}
			ctx, leave := context.WithCancel(w.ctx())
			defer leave()
			m.leave = func(context.Context) { leave() }
			c.before(w, m)
			w.o.Admission.Mutators = []admission.Mutator{m}
			_, err := w.Create(ctx, w.builtin("configmaps", "default", ""), []byte(configMap("one", "1")), resource.WriteOptions{})
			if (err == nil) != (what == "it is stored") || !slices.Equal(m.undone, c.undone) {
				t.Errorf("undone are %v, want %v, after %v", m.undone, c.undone, err)
			}
		})
	}
}

// refusing is a validator that refuses everything.
type refusing struct{}

func (refusing) Validate(context.Context, admission.Attributes) error {
	return apierrors.NewBadRequest("no")
}

// What was written for a write is taken back before the write is decided on anew.
func TestWhatIsWrittenForAnAttemptIsTakenBack(t *testing.T) {
	w, m := newWorld(t), &taker{}
	target := w.builtin("configmaps", "default", "one")
	w.create(w.builtin("configmaps", "default", ""), configMap("one", "0"))
	w.o.Admission.Mutators = []admission.Mutator{m}
	m.then = func(ctx context.Context) {
		switch m.took {
		case 2: // somebody else is faster
			kv := w.raw(target)
			if _, err := w.store.Update(ctx, kv.Key, []byte(configMap("one", "theirs", `"namespace":"default"`)), kv.Revision, 0); err != nil {
				t.Error(err)
			}
		case 4:
			if !slices.Equal(m.undone, []int{2, 1}) {
				t.Errorf("undone before the second attempt are %v", m.undone)
			}
		}
	}
	if _, err := w.Update(w.ctx(), target, []byte(configMap("one", "1")), resource.WriteOptions{}); err != nil || m.took != 4 || !slices.Equal(m.undone, []int{2, 1}) {
		t.Errorf("of %d undone are %v, and the write: %v", m.took, m.undone, err)
	}
}
