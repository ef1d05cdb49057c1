package view

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wasmgate/wasmgate/gateway/view/encoding"
	"github.com/wasmgate/wasmgate/storage"
)

// remembering is entries that remember views of 1,000 bytes.
func remembering(m *Memory, n int) []*Entry {
	r := &Renderer{memory: m}
	all := make([]*Entry, n)
	for i := range all {
		all[i] = NewEntry(storage.KV{Value: []byte("{}"), Revision: int64(i + 1)})
		r.remember(all[i], &view{Key: Key{Encoding: encoding.At("v1")}, data: make([]byte, 1000)})
	}
	return all
}

func visit(all []*Entry) func(func(*Entry)) {
	return func(fn func(*Entry)) {
		for _, e := range all {
			fn(e)
		}
	}
}

func derived(all []*Entry) (n int64) {
	for _, e := range all {
		n += int64(e.derived())
	}
	return n
}

// What is remembered beyond the bound is given up, and what is below it stays.
func TestMemoryIsBounded(t *testing.T) {
	const most = 1 << 20
	m := NewMemory(most, nil)
	small := remembering(m, 700)
	if m.look(visit(small)); m.held.Load() != derived(small) || derived(small) < 700_000 {
		t.Errorf("below the bound: %d held, %d are there", m.held.Load(), derived(small))
	}
	m = NewMemory(most, nil)
	all := remembering(m, 5000)
	select {
	case <-m.due:
	default:
		t.Fatal("nobody was told that there is too much")
	}
	m.look(visit(all))
	if left := derived(all); left != m.held.Load() || left > most*7/8 || left < most/2 {
		t.Errorf("%d held, %d are there", m.held.Load(), left)
	}
	// Objects that are gone have been counted until now.
	if m.look(visit(all[:10])); m.held.Load() != derived(all[:10]) {
		t.Errorf("%d held, %d are there", m.held.Load(), derived(all[:10]))
	}
	none := NewMemory(0, nil)
	kept := remembering(none, 5000)
	if len(none.due) != 0 || derived(kept) != none.held.Load() {
		t.Errorf("without a bound: %d held, %d are there", none.held.Load(), derived(kept))
	}
}

// It is looked at whenever there may be too much and not before, however much is
// added at once, and again when others remember more while somebody looks.
func TestMemoryIsLookedAt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := NewMemory(1<<20, nil)
		all := remembering(m, 100)
		visits, during := 0, func() {}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			m.Run(ctx, func(fn func(*Entry)) {
				visits++
				visit(all)(fn)
				during()
			})
		}()
		expect := func(want int) {
			t.Helper()
			synctest.Wait()
			if there := derived(all); visits != want || m.held.Load() != there {
				t.Errorf("visited %d times, %d held, %d are there; want %d times", visits, m.held.Load(), there, want)
			}
		}
		expect(0)
		for i := range 3 {
			m.Grew(2 << 20) // which is not there when somebody looks
			expect(i + 1)
		}
		during = func() {
			during = func() {}
			all = append(all, remembering(m, 2000)...)
		}
		m.Grew(2 << 20)
		expect(3 + 1 + 2) // once more to count, and once to give up
		if there := derived(all); there > 1<<20 {
			t.Errorf("%d are there", there)
		}
		cancel()
		<-ended
		m.Grew(2 << 20)
		m.Grew(2 << 20) // nobody looks any more, and nobody waits for it
	})
}

// What others remember while somebody looks is still counted afterwards.
func TestWhatIsRememberedDuringALookCounts(t *testing.T) {
	m := NewMemory(1<<20, nil)
	all := remembering(m, 100)
	var more []*Entry
	m.look(func(fn func(*Entry)) {
		visit(all)(fn)
		more = append(more, remembering(m, 10)...)
	})
	if got, want := m.held.Load(), derived(all)+derived(more); got != want || len(more) != 10 {
		t.Errorf("%d held, %d are there", got, want)
	}
}

// lasting is so many bytes that are kept.
type lasting int

func (l lasting) Size() int                { return int(l) }
func (lasting) Passing() (time.Time, bool) { return time.Time{}, false }

// Whatever is derived counts, and is counted where it is given up.
func TestAllThatIsDerivedIsCounted(t *testing.T) {
	m := NewMemory(1<<30, nil)
	r := &Renderer{memory: m}
	all := remembering(m, 200)
	all[7].Keep(func([]Kept) []Kept { return []Kept{lasting(900)} })
	m.Grew(900)
	for i, e := range all {
		e.holds(fmt.Appendf(nil, `{"metadata":{"name":"a","labels":{"a":"%d","b":"c"}}}`, i))
		if _, err := r.Labels(e); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := m.held.Load(), derived(all); got != want || want < 200*1128+200*2*labelBytes+900 {
		t.Errorf("%d counted, %d derived", got, want)
	}
	for _, e := range all {
		e.Shed()
	}
	if derived(all) != 0 {
		t.Errorf("%d left", derived(all))
	}
}
