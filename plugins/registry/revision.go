package registry

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/wasmgate/wasmgate/plugins"
	"github.com/wasmgate/wasmgate/plugins/configuration"
	"github.com/wasmgate/wasmgate/plugins/pool"
	"github.com/wasmgate/wasmgate/plugins/wasm"
)

// revision is one module with one configuration and its instances.
type revision struct {
	plugins.Revision // without the bytes

	module      *wasm.Module
	instances   *pool.Pool[*wasm.Instance]
	description []byte
	// hooks are those that the module has, and conversions what it says that it
	// converts.
	hooks       []plugins.Hook
	conversions []plugins.Conversion
	// epoch is the same only for revisions that follow each other and convert
	// alike: a call that met a revision in between must not pass for one that
	// did not.
	epoch uint64
}

// failures is how many instances of a module may end with a call that fails in
// them, or changes what nothing puts back, before their successors wait: starting
// one costs some 10 ms of a processor where Go made the module, as much as a hundred
// conversions, and leaves as much work to the garbage collector. The burst is for
// lists with objects that the module fails in, which are converted in ever smaller
// parts to find them.
var failures = pool.Allowance{PerSecond: 10, Burst: 100, PerUse: 0.01}

var epochs atomic.Uint64

func newRevision(cfg Config, shelf *pool.Shelf, module *wasm.Module, rev plugins.Revision) *revision {
	rev.Bytes, rev.Config, rev.Consent = nil, bytes.Clone(rev.Config), nil
	return &revision{
		Revision: rev,
		module:   module,
		epoch:    epochs.Add(1),
		instances: pool.New(pool.Config[*wasm.Instance]{
			New:     module.Instantiate,
			Close:   func(i *wasm.Instance) { _ = i.Close() },
			Max:     cfg.Instances,
			MaxUses: cfg.MaxUses,
			Shelf:   shelf,
			Size:    (*wasm.Instance).MemoryBytes,

			Discards: failures,
		}),
	}
}

// follow makes r the successor of old, which may be nil.
func (r *revision) follow(old *revision) {
	if old != nil && old.Digest == r.Digest && bytes.Equal(old.Config, r.Config) {
		r.epoch = old.epoch
	}
}

// close ends the revision when its last call has ended.
func (r *revision) close() {
	r.instances.Drain()
	<-r.instances.Empty()
	_ = r.module.Close(context.Background())
}

func (r *revision) status() plugins.Status {
	return plugins.Status{
		Serving: &r.Revision, Size: r.module.Size(), ABI: plugins.ABIVersion, Dialect: r.module.Dialect(),
		Hooks: r.hooks, Conversions: r.conversions, Description: r.description,
	}
}

// describe takes over what the module says of itself, and checks its
// configuration by that; none is an empty object. Without a word about hooks it has those that it
// exports.
func (r *revision) describe(ctx context.Context) (err error) {
	if r.description, err = r.module.Describe(ctx); err != nil {
		return r.startFailed(ctx, err)
	}
	described, err := plugins.ParseDescription(r.description)
	if err == nil {
		r.conversions = described.Conversions
		r.hooks, err = described.HooksOf(r.module.Hooks())
	}
	var refused *plugins.LoadError
	if errors.As(err, &refused) {
		refused.Module = r.module.Name()
	}
	if err != nil || described.ConfigSchema == nil {
		return err
	}
	config, what := r.Config, "its configuration: "
	if len(config) == 0 {
		config, what = []byte("{}"), "it has no configuration: "
	}
	if err := configuration.Check(described.ConfigSchema, config); err != nil {
		return &plugins.LoadError{Module: r.module.Name(), Reason: plugins.ConfigRefused, Detail: what + err.Error(), Cause: err}
	}
	return nil
}

// selfTest starts the first instance, which the pool then keeps unless the test is left
// in it.
func (r *revision) selfTest(ctx context.Context) error {
	if err := r.describe(ctx); err != nil {
		return err
	}
	lease, err := r.instances.Take(ctx)
	if err != nil {
		return err
	}
	if err := lease.Value.Probe(ctx); err != nil {
		lease.Discard()
		return r.startFailed(ctx, err)
	}
	if lease.Value.Spent() {
		lease.End()
		return nil
	}
	lease.Return()
	return nil
}

// startFailed makes a failed call of a module that is being loaded a reason to
// refuse it.
func (r *revision) startFailed(ctx context.Context, err error) error {
	var call *plugins.CallError
	if errors.As(err, &call) && !call.Later() && wasm.Ended(ctx) == nil {
		return &plugins.LoadError{Module: r.module.Name(), Reason: plugins.StartReason(err),
			Detail: fmt.Sprintf("%s failed: %s: %s", call.Hook, call.Kind, call.Reason), Cause: err}
	}
	return err
}
