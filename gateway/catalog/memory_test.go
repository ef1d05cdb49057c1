package catalog

import (
	"bytes"
	"context"
	"fmt"
	"testing"
	"testing/synctest"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/conversion"
	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/crd/builtin"
	"github.com/wasmgate/wasmgate/crd/definition"
	"github.com/wasmgate/wasmgate/gateway/catalog/catalogtest"
	"github.com/wasmgate/wasmgate/gateway/view/encoding"
	"github.com/wasmgate/wasmgate/storage"
	"github.com/wasmgate/wasmgate/storage/storagetest"
)

// remembering is entries that remember views of 1,000 bytes.
func remembering(m *memory, n int) []*Entry {
	r := &Resource{memory: m}
	all := make([]*Entry, n)
	for i := range all {
		all[i] = NewEntry(storage.KV{Value: []byte("{}"), Revision: int64(i + 1)})
		r.remember(all[i], &view{viewKey: viewKey{Encoding: encoding.At("v1")}, data: make([]byte, 1000)})
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
	m := newMemory(most)
	small := remembering(m, 700)
	if m.look(visit(small)); m.held.Load() != derived(small) || derived(small) < 700_000 {
		t.Errorf("below the bound: %d held, %d are there", m.held.Load(), derived(small))
	}
	m = newMemory(most)
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
	none := newMemory(0)
	kept := remembering(none, 5000)
	if len(none.due) != 0 || derived(kept) != none.held.Load() {
		t.Errorf("without a bound: %d held, %d are there", none.held.Load(), derived(kept))
	}
}

// It is looked at whenever there may be too much and not before, however much is
// added at once, and again when others remember more while somebody looks.
func TestMemoryIsLookedAt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory(1 << 20)
		all := remembering(m, 100)
		visits, during := 0, func() {}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			m.run(ctx, func(fn func(*Entry)) {
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
			m.grew(2 << 20) // which is not there when somebody looks
			expect(i + 1)
		}
		during = func() {
			during = func() {}
			all = append(all, remembering(m, 2000)...)
		}
		m.grew(2 << 20)
		expect(3 + 1 + 2) // once more to count, and once to give up
		if there := derived(all); there > 1<<20 {
			t.Errorf("%d are there", there)
		}
		cancel()
		<-ended
		m.grew(2 << 20)
		m.grew(2 << 20) // nobody looks any more, and nobody waits for it
	})
}

// What others remember while somebody looks is still counted afterwards.
func TestWhatIsRememberedDuringALookCounts(t *testing.T) {
	m := newMemory(1 << 20)
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

// Whatever is derived counts, and is counted where it is given up.
func TestAllThatIsDerivedIsCounted(t *testing.T) {
	m := newMemory(1 << 30)
	r := &Resource{memory: m}
	all := remembering(m, 200)
	in := RunKey{memory: m}
	if _, err := Compressed(all, in, func(int) int { return 100 }, func(dst []byte, from, to int) []byte {
		return append(dst, bytes.Repeat([]byte("x"), 100*(to-from))...)
	}); err != nil {
		t.Fatal(err)
	}
	for i, e := range all {
		e.Stored = fmt.Appendf(nil, `{"metadata":{"name":"a","labels":{"a":"%d","b":"c"}}}`, i)
		if _, err := r.Labels(e); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := m.held.Load(), derived(all); got != want || want < 200*1128+200*2*labelBytes {
		t.Errorf("%d counted, %d derived", got, want)
	}
	for _, e := range all {
		e.Shed()
	}
	if derived(all) != 0 {
		t.Errorf("%d left", derived(all))
	}
}

// A catalog that runs keeps to the bound over the objects of all kinds.
func TestCatalogKeepsToItsMemory(t *testing.T) {
	const most = 64 << 10
	kinds, err := builtin.All(builtin.Options{})
	if err != nil {
		t.Fatal(err)
	}
	store := storagetest.NewMemory()
	c := New(Options{Store: store, Prefix: "/registry/", Builtins: append(kinds, definition.Definition()), Compile: catalogtest.Compile, ViewBytes: most,
		Convert: func(*crd.Definition) (conversion.Converter, error) { return nil, nil }})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- c.Run(ctx) }()
	<-c.Ready()
	var rev int64
	for i := range 100 {
		data := fmt.Appendf(nil, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"m%d","namespace":"default"},"data":{"a":%q}}`, i, bytes.Repeat([]byte("x"), 2000))
		if rev, err = store.Create(ctx, fmt.Sprintf("/registry/configmaps/default/m%d", i), data, 0); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Cache().Wait(ctx, rev); err != nil {
		t.Fatal(err)
	}
	r := c.Snapshot().Resource(schema.GroupResource{Resource: "configmaps"})
	var all []*Entry
	c.eachEntry(func(e *Entry) {
		if bytes.Contains(e.Stored, []byte("ConfigMap")) {
			all = append(all, e)
		}
	})
	if _, err := r.bytesOf(ctx, all, "v1"); err != nil || len(all) != 100 {
		t.Fatalf("%d objects: %v", len(all), err)
	}
	for range 3 { // which nobody takes unless somebody looks
		c.memory.due <- struct{}{}
	}
	cancel()
	<-ended
	if held := c.ViewBytes(); held > most || derived(all) > most {
		t.Errorf("%d bytes are held, %d are there", held, derived(all))
	}
}
