package watchcache

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wasmgate/wasmgate/storage"
	"github.com/wasmgate/wasmgate/storage/storagetest"
)

// colour is the first word of a value; "" has none, and of "?" it cannot be told.
func colour(value string) (string, bool, error) {
	word, _, _ := strings.Cut(value, " ")
	if word == "?" {
		return "", false, errors.New("no colour")
	}
	return word, word != "", nil
}

// checkFound holds what an index finds in a state against a look at everything.
func checkFound(t *testing.T, x *Index[string], s Snapshot[string], terms ...string) bool {
	t.Helper()
	keys, ok := x.Find(s, terms...)
	if !ok {
		return false
	}
	if !slices.IsSorted(keys) || len(slices.Compact(slices.Clone(keys))) != len(keys) {
		t.Fatalf("keys out of order, or twice: %q", keys)
	}
	s.Ascend("", "", func(it Item[string]) bool {
		c, has, err := colour(it.Value)
		if _, found := slices.BinarySearch(keys, it.Key); !found && (err != nil || has && slices.Contains(terms, c)) {
			t.Fatalf("at %d: %s=%q is not among %q for %q", s.Revision(), it.Key, it.Value, keys, terms)
		}
		return true
	})
	return true
}

// play applies what data says to a bucket, and asks its index now and then.
func play(t *testing.T, data []byte) (answers int) {
	t.Helper()
	o := options()
	o.History = 300
	c := New[string](nil, o)
	b := c.Bucket("a/x")
	x := NewIndex(b, colour)
	// Most are white, so that an index of the others is worth something.
	colours := [...]string{"red", "green", "blue", "", "?", "red", "white", 31: "green"}
	for i := range colours {
		if colours[i] == "" && i > 6 {
			colours[i] = "white"
		}
	}
	var kept []Snapshot[string]
	rev := int64(1)
	for i := 0; i+2 < len(data); i += 3 {
		op, key, value := data[i], fmt.Sprintf("a/x/%03d", data[i+1]), int(data[i+2])
		ev := put(key, fmt.Sprintf("%s %d", colours[value%len(colours)], i))
		if op%4 == 0 {
			ev = del(key)
		}
		rev++
		ev.Revision = rev
		c.writer.apply(storage.Batch{Events: []storage.Event{ev}, Revision: rev}, time.Unix(rev, 0))
		if op%16 == 1 {
			c.buckets.mu.Lock()
			b.reset(&state[string]{rev: rev, root: b.pending}) // as when all is loaded again
			c.buckets.mu.Unlock()
		}
		if op%5 == 0 {
			kept = append(kept, b.Snapshot())
		}
		if op%3 == 0 {
			for _, s := range append(kept[max(0, len(kept)-5):], b.Snapshot()) {
				for _, terms := range [][]string{{"red"}, {"white", "blue"}, {"none"}, {""}} {
					if checkFound(t, x, s, terms...) {
						answers++
					}
				}
			}
		}
	}
	return answers
}

func TestIndexAgreesWithWalk(t *testing.T) {
	answers := 0
	for seed := range uint64(20) {
		rnd := rand.New(rand.NewPCG(seed, 3))
		data := make([]byte, 6000)
		for i := range data {
			data[i] = byte(rnd.Uint32())
		}
		answers += play(t, data)
	}
	if answers < 1000 {
		t.Errorf("the index answered %d times only", answers)
	}
}

func FuzzIndex(f *testing.F) {
	f.Add([]byte("\x01\x01\x00\x03\x01\x01\x03\x02\x00\x04\x01\x00"))
	f.Fuzz(func(t *testing.T, data []byte) { play(t, data[:min(len(data), 3000)]) })
}

// Of many items those of a rare term are found by looking at them alone, also when
// they have come and gone many times.
func TestIndexIsNarrow(t *testing.T) {
	s := storagetest.NewMemory()
	for i := range 4000 {
		value := "white"
		if i%1000 == 7 {
			value = "red"
		}
		if _, err := s.Create(t.Context(), fmt.Sprintf("/registry/a/x/%04d", i), []byte(value), 0); err != nil {
			t.Fatal(err)
		}
	}
	c := run(t, s, options())
	x := NewIndex(c.Bucket("a/x"), colour)
	expect := func(want int) {
		t.Helper()
		fresh(t, c)
		keys, ok := x.Find(c.Bucket("a/x").Snapshot(), "red")
		if !ok || len(keys) != want {
			t.Errorf("%d keys, %t; want %d", len(keys), ok, want)
		}
	}
	expect(4)
	if _, ok := x.Find(c.Bucket("a/x").Snapshot(), "white"); ok {
		t.Error("what most items have is worth no index")
	}
	for range 2 * (fewStale + 4000/2) { // each turn leaves one key behind, the same one
		for _, value := range []string{"red", "green"} {
			kv, err := s.Get(t.Context(), "/registry/a/x/0001")
			if err != nil {
				t.Fatal(err)
			}
			if _, err := s.Update(t.Context(), "/registry/a/x/0001", []byte(value), kv.Revision, 0); err != nil {
				t.Fatal(err)
			}
		}
	}
	expect(4)
}

// What is found of many terms is put together once, not again with each of them.
func TestIndexOfManyTerms(t *testing.T) {
	const rare = 1000
	c := New[string](nil, options())
	b := c.Bucket("a/x")
	var events []storage.Event
	var terms, want []string
	for i := range rare * 10 {
		ev := put(fmt.Sprintf("a/x/%05d", i), "white")
		if i%10 == 3 {
			terms = append(terms, fmt.Sprint("c", i))
			want = append(want, fmt.Sprintf("%05d", i))
			ev.Value = []byte(terms[len(terms)-1])
		}
		ev.Revision = int64(i + 1)
		events = append(events, ev)
	}
	c.writer.apply(storage.Batch{Events: events, Revision: rare * 10}, time.Unix(1, 0))
	rand.New(rand.NewPCG(4, 4)).Shuffle(rare, func(i, j int) { terms[i], terms[j] = terms[j], terms[i] })
	x, s := NewIndex(b, colour), b.Snapshot()
	keys, ok := x.Find(s, terms...)
	if !ok || !slices.Equal(keys, want) {
		t.Fatalf("%d keys, %t; want %d", len(keys), ok, rare)
	}
	if n := testing.AllocsPerRun(10, func() { x.Find(s, terms...) }); n > 30 {
		t.Errorf("%v allocations for %d terms", n, rare)
	}
	if n := testing.AllocsPerRun(10, func() { x.Find(s, terms[0]) }); n > 1 {
		t.Errorf("%v allocations for one term", n)
	}
}
