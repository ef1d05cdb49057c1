package wasm

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/sys"

	"github.com/wasmgate/wasmgate/plugins"
	"github.com/wasmgate/wasmgate/plugins/wasm/linear"
)

// Instance is a running module with its own memory. It makes one call at a
// time and is not safe for concurrent use. After an error it may only be
// closed. Every call finds it as it was when it was ready, whatever the calls
// before did (memory.go).
type Instance struct {
	module  *Module
	guest   api.Module
	env     *environment
	memory  linear.Memory
	speaker speaker
	alloc   *function // nil where the ABI has none
	hooks   map[plugins.Hook]*function
	calls   map[string]*function // further ones, by name
	taken   *function            // which branches were, nil where that is not asked

	beginning beginning
	used      plugins.Usage // of the last call
	spent     bool
}

// Probe shows that the guest's runtime is up, before anything depends on it.
func (i *Instance) Probe(ctx context.Context) error { return i.speaker.probe(ctx, i) }

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
	if a, ok := i.memory.(*accounted); ok {
		a.refused = false
	}
	i.env.lookups.find = find
	defer func() { i.env.lookups = lookups{} }()
	defer i.env.end()
	reply, err := i.answer(ctx, export, fn, request, times)
	i.tellTaken(ctx, i.hooks[plugins.Hook(export)] == nil)
	i.used = plugins.Usage{Fuel: i.env.fuel.used(), MemoryBytes: int64(i.guest.Memory().Size())}
	if err == nil && i.beginning.changed != nil {
		i.restore()
	}
	return reply, err
}

// tellTaken tells which branches were taken since it last did: when starting, or by a
// hook.
func (i *Instance) tellTaken(ctx context.Context, started bool) {
	if i.taken == nil {
		return
	}
	i.module.branches.Read(func(from int) uint64 {
		stack := [1]uint64{uint64(from)}
		if i.taken.CallWithStack(ctx, stack[:]) != nil {
			return 0 // it ended in the middle of something
		}
		return stack[0]
	}, started)
}

// answer runs the guest for one call and copies its reply.
func (i *Instance) answer(ctx context.Context, export string, fn *function, request []byte, times int) ([]byte, error) {
	reply, err := i.speaker.ask(i.module.callContext(ctx, i.env, times), i, export, fn, request)
	if err != nil {
		return nil, i.withContext(ctx, err)
	}
	return reply, nil
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
	if starved(i.memory) {
		return i.callError(export, plugins.NoRoom, ErrNoRoom.Error()+", please try again later", fmt.Errorf("%w: %w", ErrNoRoom, err))
	}
	reason, kind := trapText(err), plugins.Trap
	var wrong *misuse
	if errors.As(err, &wrong) {
		reason, kind = wrong.why, plugins.BadReply
	}
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
