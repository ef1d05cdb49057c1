package catalog

import (
	"bytes"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/wasmgate/wasmgate/gateway/view/encoding"
	"github.com/wasmgate/wasmgate/storage"
)

// joiner lists entries as somebody who sends them does, at a time.
type joiner struct {
	*pile
	r   *Resource
	now time.Time
}

// join returns how many entries were not joined yet, after checking the bytes.
func (j *joiner) join(in RunKey) (encoded int) {
	j.t.Helper()
	var got, want []byte
	for _, e := range j.entries {
		want = append(want, "+"+j.text(e)...)
	}
	at := 0
	for _, s := range j.r.Stretches(j.entries, in, j.now) {
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
				j.r.Keep(&s, j.entries, made)
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
	s := newShelf(t, withCronTab)
	const many = 64 * runLength
	j := &joiner{newPile(t, many), s.cronTabs(), time.Now()}
	in := j.r.RunKey(encoding.At(v1))
	for i, want := range []int{many, many, 0, 0} {
		if got := j.join(in); got != want {
			t.Errorf("list %d encodes %d", i, got)
		}
	}
	for _, i := range []int{0, 1, many / 2, many - 1} {
		j.entries[i] = NewEntry(storage.KV{Revision: j.entries[i].Revision})
		for n, want := range []bool{true, true, false} {
			if got := j.join(in); (got > 0) != want || got > many/4 {
				t.Errorf("list %d after a change of %d encodes %d", n, i, got)
			}
		}
	}
	for _, other := range []RunKey{j.r.RunKey(inProtobuf(v1)), j.r.RunKey(encoding.At(v1beta1)), j.r.RunKey(encoding.MetadataOnly())} {
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
	s := newShelf(t, withCronTab)
	const many = 8 * runLength
	j := &joiner{newPile(t, many), s.cronTabs(), time.Now()}
	j.bytes = 1000
	in, m := j.r.RunKey(encoding.At(v1)), j.r.memory
	size := func() (n int) {
		for _, e := range j.entries {
			n += e.derived()
		}
		return n
	}
	all := func(visit func(*Entry)) {
		for _, e := range j.entries {
			visit(e)
		}
	}
	for range 3 { // too seldom
		if j.join(in); size() > many*100 {
			t.Fatalf("%d bytes are kept of what is listed now and then", size())
		}
		j.now = j.now.Add(keepFor + time.Second)
	}
	j.join(in)
	before := m.held.Load()
	if j.join(in); size() < many*j.bytes || m.held.Load()-before < int64(many*j.bytes) {
		t.Errorf("%d bytes are kept, %d counted", size(), m.held.Load()-before)
	}
	m.sweep(j.now.Add(-time.Second), all)
	if j.join(in) != 0 {
		t.Error("given up before its time")
	}
	m.sweep(j.now.Add(time.Second), all)
	if size() != 0 || m.held.Load() > before || m.expiring.Load() {
		t.Errorf("%d bytes are left, %d counted", size(), m.held.Load()-before)
	}
	if j.join(in) != many {
		t.Error("still joined")
	}
}

// Ten that list at once keep it once.
func TestOneOfManyJoins_LIST01(t *testing.T) {
	s := newShelf(t, withCronTab)
	p, r := newPile(t, 8*runLength), s.cronTabs()
	in, now := r.RunKey(encoding.At(v1)), time.Now()
	r.Stretches(p.entries, in, now)
	var wanted atomic.Int64
	var wg sync.WaitGroup
	for range 10 {
		wg.Go(func() {
			for _, x := range r.Stretches(p.entries, in, now) {
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
	if later := r.Stretches(p.entries, in, now.Add(2*keepFor)); len(later) != 1 || later[0].Wanted() {
		t.Error("what nobody joined in a minute is not begun anew")
	}
}

// Conversions that readers are spared are counted where nobody looks at a view.
func TestJoinedConversionsAreSpared(t *testing.T) {
	s := newShelf(t, withCronTab)
	r := s.cronTabs()
	var entries []*Entry
	for i := range int64(joinLeast) {
		entries = append(entries, entry(v1, "one", i+1))
	}
	if _, err := r.bytesOf(t.Context(), entries, v1beta1); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		for _, x := range r.Stretches(entries, r.RunKey(encoding.At(v1beta1)), time.Now()) {
			if x.Wanted() {
				r.Keep(&x, entries, []byte("joined"))
			}
		}
	}
	before := s.spared.Load()
	r.Stretches(entries, r.RunKey(encoding.At(v1beta1)), time.Now())
	if n := s.spared.Load() - before; n != joinLeast {
		t.Errorf("%d are spared", n)
	}
}
