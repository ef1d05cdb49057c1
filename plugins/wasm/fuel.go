package wasm

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/tetratelabs/wazero/api"

	"github.com/wasmgate/wasmgate/plugins/wasm/meter"
)

// slice is how much fuel a guest is given at a time. It runs for less than a
// millisecond, or some where every load misses the processor's caches, and
// nothing stops it meanwhile: neither its deadline, nor the garbage collector,
// which has to wait, and the rest of the gateway with it.
const slice = 250_000

// errOutOfFuel ends a call that spent more than its limit.
var errOutOfFuel = errors.New("the limit of fuel is used up")

// fuel is the account of one instance. It is used by the goroutine of the call.
type fuel struct {
	// limit is what a call may spend; 0 means any amount.
	limit int64
	// spent is what the call under way has spent of what it was given before.
	spent int64
	// given is what the guest was given last.
	given int64
	// deadline is when the call under way has to end.
	deadline time.Time
	// left is what the guest has of it, nil until the instance has started; it
	// is zero until then, or as the guest says when it asks.
	left api.MutableGlobal
}

// attach finds the guest's global.
func (f *fuel) attach(guest api.Module) error {
	left, ok := guest.ExportedGlobal(meter.Export).(api.MutableGlobal)
	if !ok {
		return fmt.Errorf("it has no global %q, so it is not metered", meter.Export)
	}
	f.left = left
	return nil
}

// begin begins a call. The guest has nothing, so it asks at once.
func (f *fuel) begin() {
	f.spent, f.given = 0, 0
	if f.left != nil {
		f.left.Set(0)
	}
}

// used is what the call has spent until now.
func (f *fuel) used() int64 { return f.with(int64(f.left.Get())) }

// with is what the call has spent when it has left of what it was given. The account
// is full rather than below zero: an instruction that fails at once may cost 1<<46.
func (f *fuel) with(left int64) int64 {
	now := f.given - left
	if f.spent > math.MaxInt64-max(now, 0) {
		return math.MaxInt64
	}
	return f.spent + now
}

// refuel books what was spent, and returns what the guest may spend next. The
// slices change nothing about where a call runs out: the last one is what is
// left of the limit, and a debt from one is booked before the next is given.
func (f *fuel) refuel(ctx context.Context, now time.Time, left int64) (int64, error) {
	f.spent, f.given = f.with(left), left
	next := int64(slice)
	if f.limit > 0 {
		if f.spent > f.limit {
			return 0, errOutOfFuel
		}
		next = min(next, f.limit-f.spent)
	}
	if err := Ended(ctx); err != nil {
		return 0, err
	}
	if !now.Before(f.deadline) {
		return 0, context.DeadlineExceeded
	}
	f.given = next
	return next, nil
}

// charge books what the gateway did for the guest: its next question for more
// comes as much sooner.
func (f *fuel) charge(n int64) {
	if f.left != nil {
		f.left.Set(uint64(int64(f.left.Get()) - n))
	}
}

// spend books what the gateway is about to do for the guest. It panics, which ends
// the call, where the guest may not.
func (env *environment) spend(ctx context.Context, work int64) {
	left := int64(env.fuel.left.Get()) - work
	if left < 0 {
		left = env.more(ctx, left)
	}
	env.fuel.left.Set(uint64(left))
}

// more is what the guest may spend after it has left, which may be a debt. It
// panics where that is nothing.
func (env *environment) more(ctx context.Context, left int64) int64 {
	now := time.Now()
	next, err := env.fuel.refuel(ctx, now, left)
	if err == nil {
		err = env.turn.next(ctx, now, env.fuel.deadline)
	}
	if err == nil && env.running.stackBytes() > env.stack {
		err = errStack
	}
	if err != nil {
		panic(err)
	}
	return next
}

// Ended is why a context is over, nil while it is not. Its deadline counts as
// soon as it has passed: the timer may be late, as it runs only where Go does,
// and the module is not to blame for what the caller had no time for.
func Ended(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if end, ok := ctx.Deadline(); ok && !time.Now().Before(end) {
		return context.DeadlineExceeded
	}
	return nil
}

// hostRefuel is the import of metered modules. A panic ends the call: no guest
// can catch it.
func hostRefuel(ctx context.Context, _ api.Module, stack []uint64) {
	env, ok := ctx.Value(environmentKey{}).(*environment)
	if !ok {
		panic(errors.New("a guest runs without an environment"))
	}
	stack[0] = uint64(env.more(ctx, int64(stack[0])))
}

// fuelText says what a call that ran out of fuel did.
func (m *Module) fuelText() string {
	return fmt.Sprintf("needs more than its limit of %d units of fuel and was stopped", m.limits.Fuel)
}
