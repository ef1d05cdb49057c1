package wasm

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"

	"github.com/wasmgate/wasmgate/plugins/wasm/linear"
	"github.com/wasmgate/wasmgate/plugins/wasm/meter"
)

// Room is where the memory of instances comes from. It is safe for concurrent use.
type Room interface {
	// Wait takes n bytes as soon as there are so many, or none when most is over, or
	// ctx ends.
	Wait(ctx context.Context, n int, most time.Duration) bool
	// Take takes n bytes, or none.
	Take(n int) bool
	// Give gives n bytes back.
	Give(n int)
}

// roomWait is how long an instance waits for the memory that it begins with.
const roomWait = 5 * time.Second

// ErrNoRoom tells that other instances take all there is.
var ErrNoRoom = errors.New("other instances take all the memory there is for modules")

// accounted is memory that is taken from a room: as much as it ever had since it was
// put back.
type accounted struct {
	linear.Memory
	room Room
	held uint64
	back bool // what is asked for next is what was kept, whatever is said
	// refused: since the call began there was no room for more.
	refused bool
}

// Reallocate implements [linear.Memory]. Where there is no room it is as if the memory
// had its limit, which a guest can be told.
func (a *accounted) Reallocate(size uint64) []byte {
	before := a.held
	if size > a.held && !a.back {
		if !a.room.Take(int(size - a.held)) {
			a.refused = true
			return nil
		}
		a.held = size
	}
	a.back = false
	memory := a.Memory.Reallocate(size)
	if memory == nil { // the guest keeps what it had
		a.shrink(before)
		return nil
	}
	a.shrink(uint64(len(memory)))
	return memory
}

// Restore implements [linear.Memory].
func (a *accounted) Restore() (grown bool, err error) {
	grown, err = a.Memory.Restore()
	a.back = grown
	return grown, err
}

// starved tells whether there was no room for more of a memory since its call began: its
// guest was told so, and what it did then is no fault of its own.
func starved(memory linear.Memory) bool {
	a, ok := memory.(*accounted)
	return ok && a.refused
}

func (a *accounted) shrink(size uint64) {
	if size < a.held {
		a.room.Give(int(a.held - size))
		a.held = size
	}
}

// Free implements [linear.Memory].
func (a *accounted) Free() {
	a.Memory.Free()
	a.shrink(0)
}

// withMemory makes the memory of the instance that is made with the context;
// where it is, is known when that is there. What the instance begins with is taken
// from the room before, and given back where memory stays nil.
func (m *Module) withMemory(ctx context.Context, memory *linear.Memory) context.Context {
	return experimental.WithMemoryAllocator(ctx, experimental.MemoryAllocatorFunc(func(_, most uint64) experimental.LinearMemory {
		*memory = linear.New(most - pageBytes) // limitMemory
		if room := m.engine.room; room != nil {
			*memory = &accounted{Memory: *memory, room: room, held: uint64(m.begins())}
		}
		return *memory
	}))
}

// begins is how much memory an instance begins with: the one that it has, under however
// many names.
func (m *Module) begins() (bytes int) {
	for _, memory := range m.compiled.ExportedMemories() {
		return int(memory.Min()) * pageBytes
	}
	return 0
}

// takeRoom takes the memory that an instance begins with.
func (m *Module) takeRoom(ctx context.Context) error {
	if room := m.engine.room; room != nil && !room.Wait(ctx, m.begins(), roomWait) {
		return m.noRoom()
	}
	return nil
}

func (m *Module) noRoom() error {
	return fmt.Errorf("wasm module %q: starting an instance: %w", m.name, ErrNoRoom)
}

// beginning is what an instance was when it was ready for its first call, beside
// its memory. Every call begins with that, so it can tell nothing of the calls
// before.
type beginning struct {
	globals []api.MutableGlobal
	values  []uint64
	// changed is not zero when a call changed what cannot be put back.
	changed api.MutableGlobal
	slept   int64
	size    uint32 // of the memory
}

// keep remembers what the instance is now.
func (i *Instance) keep() error {
	var ok bool
	b := &i.beginning
	if b.changed, ok = i.guest.ExportedGlobal(meter.Changed).(api.MutableGlobal); !ok {
		return fmt.Errorf("it has no global %q, so it does not say what it changes", meter.Changed)
	}
	for _, name := range i.module.globals {
		g, ok := i.guest.ExportedGlobal(name).(api.MutableGlobal)
		if !ok {
			return fmt.Errorf("it has no global %q", name)
		}
		b.globals, b.values = append(b.globals, g), append(b.values, g.Get())
	}
	b.changed.Set(0)
	b.slept, b.size = i.env.slept, i.guest.Memory().Size()
	return i.memory.Keep(i.module.shared)
}

// restore makes the instance again what it was when it was ready. Where that
// cannot be, it may only be closed.
func (i *Instance) restore() {
	if err := i.putBack(); err != nil {
		i.spent = true
	}
}

var errChanged = errors.New("a call changed what cannot be put back")

func (i *Instance) putBack() error {
	b := &i.beginning
	if b.changed == nil || b.changed.Get() != 0 {
		return errChanged
	}
	for n, g := range b.globals {
		g.Set(b.values[n])
	}
	i.env.slept = b.slept
	i.alloc = i.alloc.shorten(i.guest)
	for h, fn := range i.hooks {
		i.hooks[h] = fn.shorten(i.guest)
	}
	for name, fn := range i.calls {
		i.calls[name] = fn.shorten(i.guest)
	}
	grown, err := i.memory.Restore()
	if err != nil {
		return err
	}
	if grown {
		i.guest.Memory().Grow(1) // gets what was kept
	}
	if size := i.guest.Memory().Size(); size != b.size {
		return fmt.Errorf("its memory has %d bytes, and had %d", size, b.size)
	}
	return nil
}

// Spent reports whether the instance is not what it was when it was ready, though
// its last call went well: it may only be closed.
func (i *Instance) Spent() bool { return i.spent }
