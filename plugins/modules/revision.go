package modules

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/wasmgate/wasmgate/plugins"
	"github.com/wasmgate/wasmgate/plugins/pool"
	"github.com/wasmgate/wasmgate/plugins/wasm"
)

// revision is one module with one configuration and its instances.
type revision struct {
	module      *wasm.Module
	instances   *pool.Pool[*wasm.Instance]
	digest      string
	config      []byte
	limits      plugins.Limits
	description []byte
	// epoch is the same only for revisions that follow each other and convert
	// alike: a call that met a revision in between must not pass for one that
	// did not.
	epoch uint64
}

var epochs atomic.Uint64

func newRevision(cfg Config, module *wasm.Module, spec Spec) *revision {
	return &revision{
		module: module,
		digest: spec.Digest,
		config: bytes.Clone(spec.Config),
		limits: spec.Limits,
		epoch:  epochs.Add(1),
		instances: pool.New(pool.Config[*wasm.Instance]{
			New:     module.Instantiate,
			Close:   func(i *wasm.Instance) { _ = i.Close() },
			Max:     cfg.Instances,
			MaxUses: cfg.MaxUses,
		}),
	}
}

// follow makes r the successor of old, which may be nil.
func (r *revision) follow(old *revision) {
	if old != nil && old.digest == r.digest && bytes.Equal(old.config, r.config) {
		r.epoch = old.epoch
	}
}

// is says whether the revision is what spec asks for.
func (r *revision) is(spec Spec) bool {
	return spec.same(Spec{Digest: r.digest, Config: r.config, Limits: r.limits})
}

// same says whether two specs ask for the same.
func (s Spec) same(other Spec) bool {
	return s.Digest == other.Digest && bytes.Equal(s.Config, other.Config) && s.Limits == other.Limits
}

// close ends the revision when its last call has ended.
func (r *revision) close() {
	r.instances.Drain()
	<-r.instances.Empty()
	_ = r.module.Close(context.Background())
}

func (r *revision) status() Status {
	return Status{
		Digest: r.digest, Size: r.module.Size(), ABI: plugins.ABIVersion,
		Hooks: slices.Clone(r.module.Hooks()), Description: bytes.Clone(r.description),
	}
}

// selfTest starts the first instance, which the pool then keeps.
func (r *revision) selfTest(ctx context.Context) error {
	lease, err := r.instances.Take(ctx)
	if err != nil {
		return err
	}
	if err = lease.Value.Probe(ctx); err == nil {
		r.description, err = lease.Value.Describe(ctx)
	}
	if err != nil {
		lease.Discard()
		var call *plugins.CallError
		if errors.As(err, &call) && ctx.Err() == nil {
			return &plugins.LoadError{Module: r.module.Name(), Reason: plugins.StartFailed,
				Detail: fmt.Sprintf("%s failed: %s: %s", call.Hook, call.Kind, call.Reason), Cause: err}
		}
		return err
	}
	lease.Return()
	return nil
}
