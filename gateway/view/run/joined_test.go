package run

import (
	"bytes"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wasmgate/wasmgate/gateway/catalog/catalogtest"
	"github.com/wasmgate/wasmgate/gateway/view"
	"github.com/wasmgate/wasmgate/gateway/view/encoding"
	"github.com/wasmgate/wasmgate/storage"
)

// joiner lists entries as somebody who sends them does, at a time.
type joiner struct {
	*pile
	now time.Time
}

// size is what is kept with the entries.
func (j *joiner) size() (n int) {
	for _, e := range j.entries {
		n += e.Size() - view.NewEntry(storage.KV{}).Size()
	}
	return n
}

// join returns how many entries were not joined yet, after checking the bytes.
func (j *joiner) join(in Key) (encoded int) {
	j.t.Helper()
	var got, want []byte
	for _, e := range j.entries {
		want = append(want, "+"+j.text(e)...)
	}
	at := 0
	for _, s := range Stretches(j.entries, in, j.now) {
		if s.From != at || s.To <= s.From {
			j.t.Fatalf("from %d to %d after %d", s.From, s.To, at)
		}
		at = s.To
		if s.Joined == nil {
			var made []byte
			for _, e := range j.entries[s.From:s.To] {
				made = append(made, "+"+j.text(e)...)
			}
			encoded += s.To - s.From
			if s.Wanted() {
				s.Keep(j.entries, made)
			} else {
				s.Joined = made
			}
		}
		got = append(got, s.Joined...)
	}
	if !bytes.Equal(got, want) {
		j.t.Fatalf("%d bytes of %d", len(got), len(want))
	}
	return encoded
}

// What is listed again soon is joined once, and after a change all but a part of it
// still is.
func TestWhatIsListedAgainIsKeptJoined_LIST01(t *testing.T) {
	r, _ := cronTabs(t, nil)
	const many = 64 * runLength
	j := &joiner{newPile(t, many), time.Now()}
	in := KeyOf(r, encoding.At(v1))
	for i, want := range []int{many, many, 0, 0} {
		if got := j.join(in); got != want {
			t.Errorf("list %d encodes %d", i, got)
		}
	}
	for _, i := range []int{0, 1, many / 2, many - 1} {
		j.entries[i] = view.NewEntry(storage.KV{Revision: j.entries[i].Revision})
		for n, want := range []bool{true, true, false} {
			if got := j.join(in); (got > 0) != want || got > many/4 {
				t.Errorf("list %d after a change of %d encodes %d", n, i, got)
			}
		}
	}
	for _, other := range others(r) {
		if got := j.join(other); got != many {
			t.Errorf("another encoding encodes %d", got)
		}
	}
	if j.entries = j.entries[:joinLeast-1]; j.join(in) != len(j.entries) {
		t.Error("a short list is joined")
	}
}

// What is listed now and then takes no memory but while it is listed often.
func TestWhatIsJoinedIsGivenUp_LIST01(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := view.NewMemory(0, nil)
		r, _ := cronTabs(t, m)
		const many = 8 * runLength
		j := &joiner{pile: newPile(t, many)}
		j.bytes = 1000
		in := KeyOf(r, encoding.At(v1))
		go m.Run(t.Context(), func(visit func(*view.Entry)) {
			for _, e := range j.entries {
				visit(e)
			}
		})
		list := func() int { j.now = time.Now(); return j.join(in) }
		pass := func(d time.Duration) { <-time.After(d); synctest.Wait() }
		for range 3 { // too seldom
			if list(); j.size() > many*100 {
				t.Fatalf("%d bytes are kept of what is listed now and then", j.size())
			}
			pass(view.KeepFor + time.Second)
		}
		list()
		before := m.Held()
		if list(); j.size() < many*j.bytes || m.Held()-before < int64(many*j.bytes) {
			t.Errorf("%d bytes are kept, %d counted", j.size(), m.Held()-before)
		}
		if pass(view.KeepFor - time.Second); list() != 0 {
			t.Error("given up before its time")
		}
		if pass(2 * view.KeepFor); j.size() != 0 || m.Held() > before {
			t.Errorf("%d bytes are left, %d counted", j.size(), m.Held()-before)
		}
		if list() != many {
			t.Error("still joined")
		}
	})
}

// Ten that list at once keep it once.
func TestOneOfManyJoins_LIST01(t *testing.T) {
	r, _ := cronTabs(t, nil)
	p := newPile(t, 8*runLength)
	in, now := KeyOf(r, encoding.At(v1)), time.Now()
	Stretches(p.entries, in, now)
	var wanted atomic.Int64
	var wg sync.WaitGroup
	for range 10 {
		wg.Go(func() {
			for _, x := range Stretches(p.entries, in, now) {
				if x.Wanted() {
					wanted.Add(int64(x.To - x.From))
				}
			}
		})
	}
	wg.Wait()
	if n := wanted.Load(); n != int64(len(p.entries)) {
		t.Errorf("%d entries are joined, there are %d", n, len(p.entries))
	}
	if later := Stretches(p.entries, in, now.Add(2*view.KeepFor)); len(later) != 1 || later[0].Wanted() {
		t.Error("what nobody joined in a minute is not begun anew")
	}
}

// Conversions that readers are spared are counted where nobody looks at a view.
func TestJoinedConversionsAreSpared(t *testing.T) {
	var spared atomic.Int64
	r, _ := cronTabs(t, view.NewMemory(0, func(n int) { spared.Add(int64(n)) }))
	var entries []*view.Entry
	for i := range int64(joinLeast) {
		text := catalogtest.Tab(v1, "one", "h", "1")
		entries = append(entries, view.NewEntry(storage.KV{Value: []byte(text), Revision: i + 1}))
	}
	in := encoding.At(v1beta1)
	if _, err := r.Objects(t.Context(), nil, entries, in); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		for _, x := range Stretches(entries, KeyOf(r, in), time.Now()) {
			if x.Wanted() {
				x.Keep(entries, []byte("joined"))
			}
		}
	}
	before := spared.Load()
	Stretches(entries, KeyOf(r, in), time.Now())
	if n := spared.Load() - before; n != joinLeast {
		t.Errorf("%d are spared", n)
	}
}
