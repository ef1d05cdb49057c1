package wasm

import (
	"context"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/sys"
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
	fuel   fuel
	turn   turn
	// lookups are those of the call under way.
	lookups lookups
}

// maxLog is how much of what a module writes in one call is kept.
const maxLog = 4 << 10

func newEnvironment(module string, sink func(module, line string)) *environment {
	// Go refuses to start at zero.
	env := &environment{module: module, sink: sink, random: rand.NewChaCha8([32]byte{}), slept: int64(time.Second)}
	return env
}

// config gives an instance no files, arguments, variables or sockets, a clock
// that only moves when the guest sleeps (which returns at once), and random
// numbers that start over in every call.
func (env *environment) config() wazero.ModuleConfig {
	return wazero.NewModuleConfig().
		WithName("").
		WithStartFunctions("_initialize").
		WithStderr(env).
		WithRandSource(env.random).
		WithWalltime(func() (int64, int32) { return guestTime.Unix(), 0 }, sys.ClockResolution(time.Microsecond)).
		WithNanotime(func() int64 { return env.slept }, sys.ClockResolution(1)).
		WithNanosleep(func(ns int64) { env.slept += max(ns, 1) })
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

// Write is the guest's standard error. The beginning is kept, since that is
// where a panic says what happened.
func (env *environment) Write(p []byte) (int, error) {
	env.log = append(env.log, p[:min(maxLog-len(env.log), len(p))]...)
	return len(p), nil
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

// hostLog is the import wasmgate.log. A line outside of memory is dropped.
func hostLog(ctx context.Context, mod api.Module, stack []uint64) {
	env, _ := ctx.Value(environmentKey{}).(*environment)
	line, ok := mod.Memory().Read(api.DecodeU32(stack[0]), min(api.DecodeU32(stack[1]), maxLog))
	if env == nil || !ok {
		return
	}
	_, _ = env.Write(line)
	_, _ = env.Write([]byte{'\n'})
}
