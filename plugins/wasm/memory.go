package wasm

import (
	"context"
	"errors"
	"fmt"

	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"

	"github.com/wasmgate/wasmgate/plugins"
	"github.com/wasmgate/wasmgate/plugins/wasm/linear"
	"github.com/wasmgate/wasmgate/plugins/wasm/meter"
)

// withMemory makes the memory of the instance that is made with the context;
// where it is, is known when that is there.
func withMemory(ctx context.Context, memory *linear.Memory) context.Context {
	return experimental.WithMemoryAllocator(ctx, experimental.MemoryAllocatorFunc(func(_, most uint64) experimental.LinearMemory {
		*memory = linear.New(most - pageBytes) // limitMemory
		return *memory
	}))
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
	i.alloc = i.alloc.shorten(i.guest, plugins.ExportAlloc)
	for h, fn := range i.hooks {
		i.hooks[h] = fn.shorten(i.guest, string(h))
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
