package wasm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/wasmgate/wasmgate/plugins"
	"github.com/wasmgate/wasmgate/plugins/wasm/linear"
	"github.com/wasmgate/wasmgate/plugins/wasm/meter"
)

// Instantiate starts an instance: the module's start function and _initialize
// run, it gets its configuration, and makes room for a request, each within the
// module's timeout. The error is a *plugins.LoadError when the guest is to blame.
func (m *Module) Instantiate(ctx context.Context) (*Instance, error) {
	i, err := m.configured(ctx)
	if err != nil {
		return nil, err
	}
	if !m.cold.Load() && i.reserve(ctx) != nil {
		_ = i.Close()
		if err := Ended(ctx); err != nil {
			return nil, fmt.Errorf("wasm module %q: starting an instance: %w", m.name, err)
		}
		m.cold.Store(true)
		if i, err = m.configured(ctx); err != nil {
			return nil, err
		}
	}
	i.tellTaken(ctx, true)
	if err := i.keep(); err != nil {
		_ = i.Close()
		if errors.Is(err, linear.ErrNoRoom) {
			return nil, m.noRoom()
		}
		return nil, fmt.Errorf("wasm module %q: %w", m.name, err)
	}
	return i, nil
}

// configured starts an instance and configures it.
func (m *Module) configured(ctx context.Context) (*Instance, error) {
	i, err := m.start(ctx)
	if err != nil {
		return nil, err
	}
	if err := i.speaker.configure(ctx, i); err != nil {
		_ = i.Close()
		return nil, err
	}
	return i, nil
}

// reserve asks the guest for room for as large a request as there often is: what
// it has when it is ready it has in every call, and else asks for in every call.
func (i *Instance) reserve(ctx context.Context) error {
	if i.alloc == nil {
		return nil
	}
	const usual = 1<<20 + 64<<10 // a batch of conversions
	size := min(usual, i.module.limits.MemoryBytes/64)
	i.env.begin()
	defer i.env.end()
	stack := [1]uint64{uint64(size)}
	i.env.running = i.alloc
	return i.alloc.CallWithStack(i.module.callContext(ctx, i.env, plugins.MaxTimes), stack[:])
}

// Describe returns what the module says about itself, a JSON object, or nil
// when it says nothing. It is asked in an instance of its own, which has no
// configuration: what the module says may be what is wrong with that.
func (m *Module) Describe(ctx context.Context) ([]byte, error) {
	if !m.describe {
		return nil, nil
	}
	i, err := m.start(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { _ = i.Close() }()
	return i.Describe(ctx)
}

// start starts an instance that is not configured.
func (m *Module) start(ctx context.Context) (*Instance, error) {
	if err := m.takeRoom(ctx); err != nil {
		return nil, err
	}
	env := newEnvironment(m.name, m.engine.logModules)
	env.fuel.limit, env.turn.turns, env.stack = m.limits.Fuel, m.engine.turns, stackLimit(m.limits)
	env.begin()
	defer env.end()
	callCtx := m.callContext(ctx, env, plugins.MaxTimes)
	env.turn.early()
	var memory linear.Memory
	guest, err := m.engine.instantiate(m.withMemory(callCtx, &memory), m.compiled)
	if err != nil {
		if memory != nil {
			memory.Free() // the runtime may not have
		} else if m.engine.room != nil {
			m.engine.room.Give(m.begins())
		}
		return nil, m.startError(ctx, env, err)
	}
	i := &Instance{module: m, guest: guest, env: env, memory: memory, hooks: map[plugins.Hook]*function{}, calls: map[string]*function{}}
	if err := env.fuel.attach(guest); err != nil {
		_ = i.Close()
		return nil, fmt.Errorf("wasm module %q: %w", m.name, err)
	}
	for _, name := range append([]string{meter.Start, exportInitialize}, m.abi.starts...) {
		if first := export(guest, name); first != nil {
			env.running = first
			if _, err := first.Call(callCtx); err != nil && !ended(name, err) {
				short := starved(memory)
				_ = i.Close()
				if short && Ended(ctx) == nil {
					return nil, m.noRoom()
				}
				return nil, m.startError(ctx, env, err)
			}
		}
	}
	if m.branches != nil {
		i.taken = export(guest, meter.Taken)
	}
	i.speaker = m.abi.speaker
	if m.abi.dialect == plugins.Own {
		i.alloc = export(guest, plugins.ExportAlloc)
	}
	for _, h := range m.hooks {
		i.hooks[h] = export(guest, m.abi.exports[h])
	}
	for name := range m.abi.calls {
		i.calls[name] = export(guest, name)
	}
	return i, nil
}

// callContext is the context of what the runtime is asked to run, for so many
// times the module's timeout. That needs no timer: the guest asks for fuel.
func (m *Module) callContext(ctx context.Context, env *environment, times int) context.Context {
	now := time.Now()
	env.allowed = m.limits.Allowed(times)
	env.fuel.deadline = now.Add(env.allowed)
	env.turn.begin(now)
	return context.WithValue(ctx, environmentKey{}, env)
}

// startError words a failed start.
func (m *Module) startError(ctx context.Context, env *environment, err error) error {
	if ended := Ended(ctx); ended != nil {
		return fmt.Errorf("wasm module %q: starting an instance: %w", m.name, ended)
	}
	if errors.Is(err, errNoInstance) {
		return fmt.Errorf("wasm module %q: %w", m.name, err)
	}
	detail := "it failed to start: "
	switch {
	case errors.Is(err, errOutOfFuel):
		detail += "starting an instance " + m.fuelText()
	case errors.Is(err, errStack):
		detail += "its calls are nested too deeply"
	case errors.Is(err, context.DeadlineExceeded):
		detail += fmt.Sprintf("it did not finish within %s", env.allowed)
	default:
		detail += trapText(err)
	}
	if words := env.lastWords(); words != "" {
		detail += "; it logged: " + words
	}
	return &plugins.LoadError{Module: m.name, Reason: plugins.StartReason(err), Detail: detail, Cause: err}
}

// Describe returns what the module says about itself, a JSON object, or nil
// when it says nothing.
func (i *Instance) Describe(ctx context.Context) ([]byte, error) {
	if !i.module.describe {
		return nil, nil
	}
	reply, err := i.call(ctx, plugins.ExportDescribe, export(i.guest, plugins.ExportDescribe), nil)
	if err != nil {
		return nil, err
	}
	var object map[string]json.RawMessage
	if len(reply) > 64<<10 || json.Unmarshal(reply, &object) != nil {
		return nil, i.callError(plugins.ExportDescribe, plugins.BadReply, "its description is not a JSON object of at most 64 KiB", nil)
	}
	return reply, nil
}
