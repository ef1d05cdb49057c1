package wasm

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/sys"

	"github.com/wasmgate/wasmgate/plugins/wasm/wasi"
)

// guestTime is what time it always is inside a module.
var guestTime = time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)

// environment is what one instance sees of the world. It is used by one
// goroutine at a time.
type environment struct {
	module string
	sink   func(module, line string)
	log    []byte
	random *rand.ChaCha8
	slept  int64
	// running is what runs, and stack how long its stack may be.
	running *function
	stack   int64
	// allowed is how long the call under way may take.
	allowed time.Duration
	fuel    fuel
	turn    turn
	// lookups are those of the call under way.
	lookups lookups
	// exchange is the call under way, of a guest of waPC.
	exchange exchange
	// policy is what is known of one that OPA compiled.
	policy *policy
	// responseBytes is the largest reply.
	responseBytes int64
}

// maxLog is how much of what a module writes in one call is kept.
const maxLog = 4 << 10

func newEnvironment(module string, sink func(module, line string)) *environment {
	// Go refuses to start at zero.
	env := &environment{module: module, sink: sink, random: rand.NewChaCha8([32]byte{}), slept: int64(time.Second)}
	return env
}

// begin prepares for a call.
func (env *environment) begin() {
	env.log = env.log[:0]
	env.random.Seed([32]byte{})
	env.fuel.begin()
	env.lookups = lookups{}
}

// end hands the log of a call to the gateway.
func (env *environment) end() {
	env.turn.end()
	if env.sink == nil || len(env.log) == 0 {
		return
	}
	for line := range strings.Lines(string(env.log)) {
		if line = strings.TrimSpace(line); line != "" {
			env.sink(env.module, line)
		}
	}
}

// Log implements wasi.World. The beginning is kept, since that is where a panic
// says what happened.
func (env *environment) Log(text []byte) {
	env.log = append(env.log, text[:min(maxLog-len(env.log), len(text))]...)
}

// Random implements wasi.World: the numbers start over in every call.
func (env *environment) Random(room []byte) { _, _ = env.random.Read(room) }

// Now implements wasi.World.
func (env *environment) Now() int64 { return guestTime.UnixNano() }

// Elapsed implements wasi.World.
func (env *environment) Elapsed() int64 { return env.slept }

// Sleep implements wasi.World: only the clock that goes forward moves.
func (env *environment) Sleep(nanoseconds int64) {
	env.slept += min(max(nanoseconds, 1), math.MaxInt64-env.slept)
}

// lastWords is the line of the log that explains a failed call best.
func (env *environment) lastWords() string {
	last := ""
	for line := range strings.Lines(string(env.log)) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ") || strings.HasPrefix(line, "runtime: ") {
			return firstLine(strings.ToValidUTF8(line, "\ufffd"))
		}
		if line != "" {
			last = line
		}
	}
	return firstLine(strings.ToValidUTF8(last, "\ufffd"))
}

type environmentKey struct{}

// caller is a guest that calls a function of WASI.
type caller struct {
	*environment
	ctx    context.Context
	memory api.Memory
}

// Read implements wasi.Guest.
func (c *caller) Read(at, size uint32) ([]byte, bool) { return c.memory.Read(at, size) }

// Exit implements wasi.Guest.
func (c *caller) Exit(code uint32) { panic(sys.NewExitError(code)) }

// Charge implements wasi.Guest.
func (c *caller) Charge(work int64) { c.spend(c.ctx, work) }

// hostWASI is the import of a function of WASI.
func hostWASI(f wasi.Function) api.GoModuleFunc {
	return func(ctx context.Context, mod api.Module, stack []uint64) {
		env, ok := ctx.Value(environmentKey{}).(*environment)
		if !ok {
			panic(errors.New("a guest runs without an environment"))
		}
		e := f.Call(&caller{env, ctx, mod.Memory()}, stack)
		if f.Returns() {
			stack[0] = uint64(e)
		}
	}
}

// hostLog is the import wasmgate.log. A line outside of memory is dropped.
func hostLog(ctx context.Context, mod api.Module, stack []uint64) {
	env, _ := ctx.Value(environmentKey{}).(*environment)
	line, ok := mod.Memory().Read(api.DecodeU32(stack[0]), min(api.DecodeU32(stack[1]), maxLog))
	if env == nil || !ok {
		return
	}
	env.Log(line)
	env.Log([]byte{'\n'})
}
