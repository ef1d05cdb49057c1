package registry

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/wasmgate/wasmgate/plugins"
	"github.com/wasmgate/wasmgate/plugins/pool"
	"github.com/wasmgate/wasmgate/plugins/wasm"
)

// Call calls a hook of the module of that name. check looks at the reply, which
// belongs to it; when check fails, and after any failure in the guest, the
// instance is thrown away, unless the error is a [Verdict]. So is one that the call
// changed for good, and its successor waits alike. The error is a
// *plugins.CallError, or check's.
func (r *Registry) Call(ctx context.Context, name string, hook plugins.Hook, request []byte, check func(reply []byte) error) error {
	_, err := r.call(ctx, name, hook, request, 1, nil, check)
	return err
}

// Admit is Call of the admission hook, which may look objects up that the module
// was granted. Other hooks may not: what a conversion gives depends on the object
// alone. by is the digest of the content that was called, "" for none.
func (r *Registry) Admit(ctx context.Context, name string, request []byte, there plugins.Lookup, check func(reply []byte) error) (by string, err error) {
	return r.call(ctx, name, plugins.Admit, request, 1, there, check)
}

// call is Call with a request that has some objects, and may find others. by is the digest
// of the content that was called.
func (r *Registry) call(ctx context.Context, name string, hook plugins.Hook, request []byte, objects int, there plugins.Lookup, check func(reply []byte) error) (by string, err error) {
	for {
		rev := r.active(name)
		if rev == nil {
			if rev = r.await(ctx, name); rev == nil {
				return "", r.notReady(name, hook)
			}
		}
		if !slices.Contains(rev.hooks, hook) {
			return "", &plugins.CallError{Module: name, Hook: hook, Kind: plugins.Refused,
				Reason: fmt.Sprintf("the module does not have this hook; it has %v", rev.hooks)}
		}
		lease, err := rev.instances.Take(ctx)
		switch {
		case errors.Is(err, pool.ErrDrained):
			continue // replaced since; the next look finds its successor
		case err != nil && wasm.Ended(ctx) != nil:
			return "", &plugins.CallError{Module: name, Hook: hook, Kind: plugins.Deadline,
				Reason: "the request ended while it waited for an instance", Cause: wasm.Ended(ctx)}
		case errors.Is(err, wasm.ErrNoRoom):
			return "", &plugins.CallError{Module: name, Hook: hook, Kind: plugins.NoRoom, Reason: wasm.ErrNoRoom.Error() + ", please try again later", Cause: err}
		case err != nil:
			return "", &plugins.CallError{Module: name, Hook: hook, Kind: plugins.NotReady, Reason: err.Error(), Cause: err}
		}
		err = r.callIn(ctx, lease, name, hook, request, plugins.Times(objects, len(request)), there, check)
		if err != nil && r.cfg.Failed != nil && wasm.Ended(ctx) == nil {
			r.cfg.Failed(name, hook, rev.Revision, request, err)
		}
		return rev.Digest, err
	}
}

// callIn calls a hook in an instance that is taken, and gives it back. A panic,
// of check for one, goes on; the instance is thrown away.
func (r *Registry) callIn(ctx context.Context, lease *pool.Lease[*wasm.Instance], name string, hook plugins.Hook, request []byte, times int, there plugins.Lookup, check func(reply []byte) error) error {
	giveBack := lease.Discard
	defer func() { giveBack() }()
	reply, err := lease.Value.CallSeeing(ctx, hook, request, times, r.lookupFor(name, there))
	if err == nil {
		err = check(reply)
	}
	discarded := err
	var verdict Verdict
	if errors.As(err, &verdict) && verdict.Verdict() {
		discarded = nil
	}
	if r.cfg.Observe != nil {
		r.cfg.Observe(name, hook, lease.Value.Used(), discarded)
	}
	switch {
	case discarded == nil && !lease.Value.Spent():
		giveBack = lease.Return
	case discarded != nil && wasm.Ended(ctx) != nil:
		giveBack = lease.End
	}
	return err
}

// Verdict is an error that a module gives as its answer, in good order.
type Verdict interface {
	error
	Verdict() bool
}

func (r *Registry) notReady(name string, hook plugins.Hook) error {
	e := &plugins.CallError{Module: name, Hook: hook, Kind: plugins.NotReady}
	status, known := r.Status(name)
	switch {
	case known && status.Failure != nil && !status.Failure.Reason.Final():
		e.Reason = fmt.Sprintf("the module is not loaded (%s: %s)", status.Failure.Reason, status.Failure.Detail)
		e.Cause = status.Failure
	case known && status.Failure != nil:
		e.Reason = fmt.Sprintf("the module was refused (%s: %s); fix it and set it again", status.Failure.Reason, status.Failure.Detail)
		e.Cause = status.Failure
	case known:
		e.Reason = "the module is being loaded; try again"
	default:
		e.Reason = fmt.Sprintf("there is no such module; create a WasmModule named %q, for example with: wasmgate module push %s FILE", plugins.NameOf(name), plugins.NameOf(name))
	}
	return e
}
