package wasm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/sys"

	"github.com/wasmgate/wasmgate/plugins"
	"github.com/wasmgate/wasmgate/plugins/wasm/linear"
	"github.com/wasmgate/wasmgate/plugins/wasm/meter"
)

// Instance is a running module with its own memory. It makes one call at a
// time and is not safe for concurrent use. After an error it may only be
// closed. Every call finds it as it was when it was ready, whatever the calls
// before did (memory.go).
type Instance struct {
	module *Module
	guest  api.Module
	env    *environment
	memory linear.Memory
	alloc  *function
	hooks  map[plugins.Hook]*function

	beginning beginning
	used      plugins.Usage // of the last call
	spent     bool
}

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
	if err := i.keep(); err != nil {
		_ = i.Close()
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
	if err := i.configure(ctx); err != nil {
		_ = i.Close()
		return nil, err
	}
	return i, nil
}

// reserve asks the guest for room for as large a request as there often is: what
// it has when it is ready it has in every call, and else asks for in every call.
func (i *Instance) reserve(ctx context.Context) error {
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
	env := newEnvironment(m.name, m.engine.logModules)
	env.fuel.limit, env.turn.turns, env.stack = m.limits.Fuel, m.engine.turns, stackLimit(m.limits)
	env.begin()
	defer env.end()
	callCtx := m.callContext(ctx, env, plugins.MaxTimes)
	env.turn.early()
	var memory linear.Memory
	guest, err := m.engine.instantiate(withMemory(callCtx, &memory), m.compiled)
	if err != nil {
		if memory != nil {
			memory.Free() // the runtime may not have
		}
		return nil, m.startError(ctx, env, err)
	}
	i := &Instance{module: m, guest: guest, env: env, memory: memory, hooks: map[plugins.Hook]*function{}}
	if err := env.fuel.attach(guest); err != nil {
		_ = i.Close()
		return nil, fmt.Errorf("wasm module %q: %w", m.name, err)
	}
	for _, name := range []string{meter.Start, exportInitialize} {
		if first := export(guest, name); first != nil {
			env.running = first
			if _, err := first.Call(callCtx); err != nil {
				_ = i.Close()
				return nil, m.startError(ctx, env, err)
			}
		}
	}
	i.alloc = export(guest, plugins.ExportAlloc)
	for _, h := range m.hooks {
		i.hooks[h] = export(guest, string(h))
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
	return &plugins.LoadError{Module: m.name, Reason: plugins.StartFailed, Detail: detail, Cause: err}
}

// configure hands over the configuration.
func (i *Instance) configure(ctx context.Context) error {
	if len(i.module.config) == 0 {
		return nil
	}
	reply, err := i.call(ctx, plugins.ExportConfigure, export(i.guest, plugins.ExportConfigure), i.module.config)
	refuse := func(why string, cause error) error {
		return &plugins.LoadError{Module: i.module.name, Reason: plugins.ConfigRefused, Detail: why, Cause: cause}
	}
	if err != nil {
		if Ended(ctx) != nil {
			return err
		}
		return refuse(err.Error(), err)
	}
	if len(reply) == 0 {
		return nil
	}
	var answer struct {
		Error string `json:"error"`
	}
	if err := json.Unmarshal(reply, &answer); err != nil {
		return refuse("its reply to the configuration is not JSON: "+firstLine(err.Error()), err)
	}
	if answer.Error != "" {
		return refuse("it refuses its configuration: "+firstLine(answer.Error), nil)
	}
	return nil
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

// Probe asks the guest for a little memory, which shows that its runtime is up
// before anything depends on it.
func (i *Instance) Probe(ctx context.Context) error {
	i.env.begin()
	defer i.env.end()
	callCtx := i.module.callContext(ctx, i.env, 1)
	var stack [2]uint64
	if err := i.writeRequest(callCtx, plugins.ExportAlloc, []byte("{}"), &stack); err != nil {
		return i.withContext(ctx, err)
	}
	i.restore()
	return nil
}

// Call calls a hook. The request is copied into the guest and the reply out of
// it. The error is a *plugins.CallError.
func (i *Instance) Call(ctx context.Context, hook plugins.Hook, request []byte) ([]byte, error) {
	return i.CallSeeing(ctx, hook, request, 1, nil)
}

// CallSeeing is Call of a guest that may take its timeout so many times, and may
// look objects up; find is nil if it may not.
func (i *Instance) CallSeeing(ctx context.Context, hook plugins.Hook, request []byte, times int, find plugins.Lookup) ([]byte, error) {
	fn := i.hooks[hook]
	if fn == nil {
		return nil, i.callError(string(hook), plugins.Refused, "the module does not export this hook", nil)
	}
	return i.callSeeing(ctx, string(hook), fn, request, times, find)
}

// Used is what the last call took. It may be asked until the next call.
func (i *Instance) Used() plugins.Usage { return i.used }

// MemoryBytes is how much memory it takes while no call is under way, what the
// instances of its module share included.
func (i *Instance) MemoryBytes() int64 { return i.memory.Resident() }

func (i *Instance) call(ctx context.Context, export string, fn *function, request []byte) ([]byte, error) {
	return i.callSeeing(ctx, export, fn, request, plugins.MaxTimes, nil)
}

func (i *Instance) callSeeing(ctx context.Context, export string, fn *function, request []byte, times int, find plugins.Lookup) ([]byte, error) {
	i.env.begin()
	i.env.lookups.find = find
	defer func() { i.env.lookups = lookups{} }()
	defer i.env.end()
	reply, err := i.answer(ctx, export, fn, request, times)
	i.used = plugins.Usage{Fuel: i.env.fuel.used(), MemoryBytes: int64(i.guest.Memory().Size())}
	if err == nil && i.beginning.changed != nil {
		i.restore()
	}
	return reply, err
}

// answer runs the guest for one call and copies its reply.
func (i *Instance) answer(ctx context.Context, export string, fn *function, request []byte, times int) ([]byte, error) {
	callCtx := i.module.callContext(ctx, i.env, times)
	var stack [2]uint64
	if request != nil {
		if err := i.writeRequest(callCtx, export, request, &stack); err != nil {
			return nil, i.withContext(ctx, err)
		}
	}
	i.env.running = fn
	if err := fn.CallWithStack(callCtx, stack[:]); err != nil {
		return nil, i.withContext(ctx, i.failure(export, err))
	}
	return i.readReply(export, stack[0])
}

func (i *Instance) writeRequest(ctx context.Context, export string, request []byte, stack *[2]uint64) error {
	stack[0] = uint64(len(request))
	i.env.running = i.alloc
	if err := i.alloc.CallWithStack(ctx, stack[:]); err != nil {
		return i.failure(export, err)
	}
	ptr := api.DecodeU32(stack[0])
	if !i.guest.Memory().Write(ptr, request) {
		return i.callError(export, plugins.BadReply,
			fmt.Sprintf("%s(%d) returned %d, which is outside of the module's memory of %d bytes", plugins.ExportAlloc, len(request), ptr, i.guest.Memory().Size()), nil)
	}
	stack[0], stack[1] = uint64(ptr), uint64(len(request))
	return nil
}

func (i *Instance) readReply(export string, result uint64) ([]byte, error) {
	ptr, size := uint32(result>>32), uint32(result)
	if int64(size) > i.module.limits.ResponseBytes {
		return nil, i.callError(export, plugins.BadReply, fmt.Sprintf("the reply has %d bytes, more than the limit of %d", size, i.module.limits.ResponseBytes), nil)
	}
	if size == 0 {
		return nil, nil
	}
	view, ok := i.guest.Memory().Read(ptr, size)
	if !ok {
		return nil, i.callError(export, plugins.BadReply,
			fmt.Sprintf("the reply (%d bytes at %d) is outside of the module's memory of %d bytes", size, ptr, i.guest.Memory().Size()), nil)
	}
	return append(make([]byte, 0, size), view...), nil
}

func (i *Instance) callError(export string, kind plugins.ErrorKind, reason string, cause error) *plugins.CallError {
	return &plugins.CallError{Module: i.module.name, Hook: plugins.Hook(export), Kind: kind, Reason: reason, Cause: cause}
}

// withContext makes the end of the caller's context the cause of an error that
// came of it.
func (i *Instance) withContext(ctx context.Context, err error) error {
	var call *plugins.CallError
	if ended := Ended(ctx); ended != nil && errors.As(err, &call) {
		call.Kind, call.Reason, call.Cause = plugins.Deadline, "the request ended before the module did: "+ended.Error(), ended
	}
	return err
}

// failure classifies an error of the runtime.
func (i *Instance) failure(export string, err error) *plugins.CallError {
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return i.callError(export, plugins.Deadline, fmt.Sprintf("the module did not finish within %s and was stopped", i.env.allowed), context.DeadlineExceeded)
	}
	if errors.Is(err, errOutOfFuel) {
		return i.callError(export, plugins.OutOfFuel, export+" "+i.module.fuelText(), err)
	}
	if errors.Is(err, errStack) || strings.Contains(err.Error(), "stack overflow") {
		return i.callError(export, plugins.OutOfStack, fmt.Sprintf("its calls are nested too deeply: they need more than %d bytes of stack, an eighth of its memory", i.env.stack), err)
	}
	reason, kind := trapText(err), plugins.Trap
	words := i.env.lastWords()
	// A failed memory.grow is seen by the guest alone, so what it does then
	// has to tell: it fails with all its memory used, or says why.
	used := int64(i.guest.Memory().Size())
	if used+pageBytes > i.module.limits.MemoryBytes || strings.Contains(words, "out of memory") || strings.Contains(words, "cannot allocate memory") {
		kind = plugins.OutOfMemory
		reason = fmt.Sprintf("it ran out of memory (it has %d of %d bytes): %s", used, i.module.limits.MemoryBytes, reason)
	}
	if words != "" {
		reason += "; it logged: " + words
	}
	return i.callError(export, kind, reason, err)
}

// trapText is the runtime's error in one line.
func trapText(err error) string {
	var exit *sys.ExitError
	if errors.As(err, &exit) {
		return fmt.Sprintf("it exited with code %d", exit.ExitCode())
	}
	return firstLine(err.Error())
}

// Close frees the instance. It may be called more than once.
func (i *Instance) Close() error {
	return i.guest.Close(context.Background())
}
