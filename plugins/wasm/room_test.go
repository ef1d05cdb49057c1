package wasm

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/wasmgate/wasmgate/plugins"
	. "github.com/wasmgate/wasmgate/plugins/plugintest"
	"github.com/wasmgate/wasmgate/plugins/wasm/binary"
)

// pages is a room of so many pages.
type pages struct{ left atomic.Int64 }

func (p *pages) Take(n int) bool {
	if p.left.Add(-int64(n)) >= 0 {
		return true
	}
	p.Give(n)
	return false
}

func (p *pages) Give(n int) { p.left.Add(int64(n)) }

func (p *pages) Wait(_ context.Context, n int, _ time.Duration) bool { return p.Take(n) }

// A memory that has several names takes the room of one.
func TestTheMemoryOfAnInstanceIsTakenOnce(t *testing.T) {
	room := &pages{}
	const all = 20 * pageBytes
	room.left.Store(all)
	e, err := NewEngine(t.Context(), Config{Room: room})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = e.Close(context.Background()) }()
	g := Echo("{}")
	plain, err := binary.Decode(g.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	g.Raw = map[byte][]byte{7: Join(Number(len(plain.Exports)+1), plain.Content(binary.ExportSection)[1:], Counted([]byte("again")), []byte{2, 0})}
	m, err := e.Load(t.Context(), Source{Name: "m", Bytes: g.Bytes()})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = m.Close(context.Background()) }()
	i, err := m.Instantiate(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	// What it is reset to is one page of the system, or a copy of the two.
	if kept := all - room.left.Load() - 2*pageBytes; kept <= 0 || kept > 2*pageBytes {
		t.Errorf("%d bytes are taken for two pages", kept+2*pageBytes)
	}
	if err := i.Close(); err != nil || room.left.Load() != all {
		t.Errorf("%d bytes come back: %v", room.left.Load(), err)
	}
}

// Instances take no more memory than there is room for, all together: who wants to grow
// is told that it cannot, who wants to begin is refused. It comes back with the end of a
// call, and of an instance.
func TestInstancesTakeRoom(t *testing.T) {
	room := &pages{}
	const all = 20 * pageBytes
	room.left.Store(all)
	e, err := NewEngine(t.Context(), Config{Room: room})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = e.Close(context.Background()) }()
	g := Echo("{}")
	g.Pages = 4
	// It grows by 8 pages, and traps where that cannot be.
	grow := Join(ConstI32(8), []byte{0x40, 0x00}, ConstI32(-1), []byte{0x46, 0x04, 0x40, 0x00, 0x0b}, ConstI64(uint64(DataAt)<<32|2))
	m, err := e.Load(t.Context(), Source{Name: "m", Bytes: g.With(string(plugins.Convert), Hook(grow...)).Bytes(), Limits: plugins.Limits{MemoryBytes: 64 << 20}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = m.Close(context.Background()) }()
	if left := room.left.Load(); left != all {
		t.Errorf("%d pages are taken by none", (all-left)/pageBytes)
	}
	start := func() *Instance {
		t.Helper()
		i, err := m.Instantiate(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return i
	}
	one, two := start(), start()
	// What they are reset to is one for all, or for each its own: it comes on top.
	top := all - 8*pageBytes - room.left.Load()
	if top >= 2*4*pageBytes {
		top = 5 * 4 * pageBytes
	}
	room.Give(int(top))
	for range 3 { // 8 of 12 that are left, each time
		if _, err := one.Call(t.Context(), plugins.Convert, []byte("{}")); err != nil {
			t.Fatal(err)
		}
	}
	three := start()
	if _, err := two.Call(t.Context(), plugins.Convert, []byte("{}")); err != nil {
		t.Errorf("it does not grow into the last page: %v", err)
	}
	four := start()
	var call *plugins.CallError
	if _, err := two.Call(t.Context(), plugins.Convert, []byte("{}")); !errors.As(err, &call) || call.Kind != plugins.NoRoom || !call.Later() {
		t.Errorf("it grew beyond the room: %v", err)
	}
	five := start()
	if i, err := m.Instantiate(t.Context()); !errors.Is(err, ErrNoRoom) {
		t.Errorf("%v %v", i, err)
	}
	for _, i := range []*Instance{one, two, three, four, five} {
		if err := i.Close(); err != nil {
			t.Error(err)
		}
	}
	if left := room.left.Load(); left != all+top {
		t.Errorf("%d bytes are taken by none", all+top-left)
	}
}

// A guest that asks for more than its limit keeps what it has, and so does its account.
func TestWhatCannotGrowKeepsItsRoom(t *testing.T) {
	room := &pages{}
	const all = 20 * pageBytes
	room.left.Store(all)
	e, err := NewEngine(t.Context(), Config{Room: room})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = e.Close(context.Background()) }()
	g := Echo("{}")
	g.Pages = 4
	// It grows to its limit, by one page more, which is what the runtime has as its
	// maximum, and by more than that.
	grow := func(pages int32) []byte { return Join(ConstI32(pages), []byte{0x40, 0x00, 0x1a}) }
	hook := Join(grow(2), grow(1), grow(9), ConstI64(uint64(DataAt)<<32|2))
	m, err := e.Load(t.Context(), Source{Name: "m", Bytes: g.With(string(plugins.Convert), Hook(hook...)).Bytes(), Limits: plugins.Limits{MemoryBytes: 6 * pageBytes}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = m.Close(context.Background()) }()
	i, err := m.Instantiate(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	began := room.left.Load()
	if began > all-4*pageBytes {
		t.Errorf("an instance of 4 pages takes %d bytes", all-began)
	}
	for range 2 {
		if _, err := i.Call(t.Context(), plugins.Convert, []byte("{}")); err != nil {
			t.Fatal(err)
		}
		if left := room.left.Load(); left != began {
			t.Errorf("%d bytes more are left after a call", left-began)
		}
	}
	if err := i.Close(); err != nil || room.left.Load() != all {
		t.Errorf("%d bytes come back: %v", room.left.Load(), err)
	}
}

// What instances are reset to takes room as well: as much as they begin with, where they
// fill that, and once for a module on systems that share it.
func TestWhatInstancesAreResetToTakesRoom(t *testing.T) {
	room := &pages{}
	const size, all = 4 * pageBytes, 12 * pageBytes
	room.left.Store(all)
	e, err := NewEngine(t.Context(), Config{Room: room})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = e.Close(context.Background()) }()
	loaded := func(with int32) *Module {
		t.Helper()
		g := Echo("{}")
		g.Pages = size / pageBytes
		fill := Join(ConstI32(0), ConstI32(with), ConstI32(size), []byte{0xfc, 0x0b, 0x00}) // memory.fill
		m, err := e.Load(t.Context(), Source{Name: "m", Bytes: g.With(exportInitialize, Func{Code: fill}).Bytes()})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = m.Close(context.Background()) })
		return m
	}
	one, two := loaded(1), loaded(2)
	first, err := one.Instantiate(t.Context())
	if err != nil || room.left.Load() != all-2*size {
		t.Fatalf("%d bytes are left: %v", room.left.Load(), err)
	}
	if i, err := two.Instantiate(t.Context()); !errors.Is(err, ErrNoRoom) || room.left.Load() != all-2*size {
		t.Errorf("there is room for what another one is reset to: %v, %v, %d bytes are left", i, err, room.left.Load())
	}
	if err := first.Close(); err != nil || room.left.Load() != all {
		t.Errorf("%d bytes come back: %v", room.left.Load(), err)
	}
	second, err := two.Instantiate(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := second.Close(); err != nil || room.left.Load() != all {
		t.Errorf("%d bytes come back: %v", room.left.Load(), err)
	}
}
