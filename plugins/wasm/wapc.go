package wasm

import (
	"context"
	"errors"
	"fmt"

	"github.com/tetratelabs/wazero/api"

	"github.com/wasmgate/wasmgate/plugins"
	"github.com/wasmgate/wasmgate/plugins/kubewarden"
	"github.com/wasmgate/wasmgate/plugins/wasm/binary"
)

// The names of waPC, by which guests take requests and give replies through imports.
const (
	importWaPC  = "wapc"
	exportGuest = plugins.ExportGuestCall
	exportWaPC  = "wapc_init"
)

// waPC is the ABI of Kubewarden's policies.
var waPC = abi{
	dialect: plugins.Kubewarden,
	marks:   []string{exportGuest},
	imports: []string{plugins.ImportWASI, importWaPC},
	starts:  []string{exportStart, exportWaPC},
	exports: map[plugins.Hook]string{plugins.Admit: exportGuest},
	verify:  verifyWaPC,
	speaker: waPCSpeaker{},
}

// sigGuest is the type of __guest_call: the sizes of operation and request, and 1 for
// a reply.
const sigGuest signature = "(i32, i32) -> (i32)"

func verifyWaPC(m *binary.Module) ([]plugins.Hook, *plugins.LoadError) {
	if err := verifyExport(m, exportGuest, sigGuest, true); err != nil {
		return nil, err
	}
	for _, name := range []string{exportStart, exportInitialize, exportWaPC} {
		if err := verifyExport(m, name, sigStart, false); err != nil {
			return nil, err
		}
	}
	return []plugins.Hook{plugins.Admit}, nil
}

// exchange is one call of a guest of waPC: what it fetches, and what it leaves.
type exchange struct {
	operation string
	request   []byte
	response  []byte
	failure   string
	// told and refused are what came of the last call of its host.
	told, refused []byte
}

// waPCSpeaker speaks to guests of waPC that are policies of Kubewarden.
type waPCSpeaker struct{}

// configure implements [speaker]: the policy says whether its settings are valid.
func (waPCSpeaker) configure(ctx context.Context, i *Instance) error {
	reply, err := i.call(ctx, kubewarden.ValidateSettings, i.hooks[plugins.Admit], kubewarden.Settings(i.module.config))
	if err != nil {
		return i.unconfigured(ctx, err)
	}
	if err := kubewarden.Valid(reply); err != nil {
		return i.configRefused(firstLine(err.Error()), err)
	}
	return nil
}

// probe implements [speaker].
func (waPCSpeaker) probe(ctx context.Context, i *Instance) error {
	reply, err := i.callSeeing(ctx, kubewarden.ProtocolVersion, i.hooks[plugins.Admit], nil, 1, nil)
	if err != nil {
		return err
	}
	if err := kubewarden.Protocol(reply); err != nil {
		return i.callError(kubewarden.ProtocolVersion, plugins.BadReply, err.Error(), err)
	}
	return nil
}

// ask implements [speaker]: the hook is asked by a review, all else by its name.
func (waPCSpeaker) ask(ctx context.Context, i *Instance, export string, fn *function, request []byte) ([]byte, error) {
	if plugins.Hook(export) != plugins.Admit {
		return i.exchange(ctx, export, export, fn, request)
	}
	sent, err := kubewarden.Request(request, i.module.config)
	if err != nil {
		return nil, i.callError(export, plugins.BadReply, err.Error(), err)
	}
	said, err := i.exchange(ctx, export, kubewarden.Validate, fn, sent)
	if err != nil {
		return nil, err
	}
	reply, err := kubewarden.Reply(request, said)
	if err != nil {
		return nil, i.callError(export, plugins.BadReply, firstLine(err.Error()), err)
	}
	return reply, nil
}

// exchange has the guest do an operation.
func (i *Instance) exchange(ctx context.Context, export, operation string, fn *function, request []byte) ([]byte, error) {
	i.env.exchange = exchange{operation: operation, request: request}
	defer func() { i.env.exchange = exchange{} }()
	i.env.responseBytes = min(i.module.limits.ResponseBytes, plugins.MaxPolicyBytes)
	stack := [2]uint64{uint64(len(operation)), uint64(len(request))}
	i.env.running = fn
	if err := fn.CallWithStack(ctx, stack[:]); err != nil {
		return nil, i.failure(export, err)
	}
	if api.DecodeU32(stack[0]) != 1 {
		why := "it does not say why"
		if i.env.exchange.failure != "" {
			why = firstLine(i.env.exchange.failure)
		}
		return nil, i.callError(export, plugins.BadReply, fmt.Sprintf("the policy failed at %q: %s", operation, why), nil)
	}
	return i.env.exchange.response, nil
}

// waPCImports are what guests of waPC may import.
func waPCImports() []imported {
	return []imported{
		{"__guest_request", i32s(2), func(ctx context.Context, mod api.Module, stack []uint64) {
			env := environmentOf(ctx)
			env.write(ctx, mod, "the operation", stack[0], []byte(env.exchange.operation))
			env.write(ctx, mod, "the request", stack[1], env.exchange.request)
		}},
		{"__guest_response", i32s(2), func(ctx context.Context, mod api.Module, stack []uint64) {
			env := environmentOf(ctx)
			env.exchange.response = env.read(ctx, mod, "the reply", stack[0], stack[1], env.responseBytes)
		}},
		{"__guest_error", i32s(2), func(ctx context.Context, mod api.Module, stack []uint64) {
			env := environmentOf(ctx)
			env.exchange.failure = string(env.read(ctx, mod, "the error", stack[0], stack[1], maxError))
		}},
		{"__host_call", i32s(8, binary.I32), hostCall},
		{"__host_response_len", i32s(0, binary.I32), func(ctx context.Context, _ api.Module, stack []uint64) {
			stack[0] = uint64(len(environmentOf(ctx).exchange.told))
		}},
		{"__host_response", i32s(1), func(ctx context.Context, mod api.Module, stack []uint64) {
			env := environmentOf(ctx)
			env.write(ctx, mod, "what was told", stack[0], env.exchange.told)
		}},
		{"__host_error_len", i32s(0, binary.I32), func(ctx context.Context, _ api.Module, stack []uint64) {
			stack[0] = uint64(len(environmentOf(ctx).exchange.refused))
		}},
		{"__host_error", i32s(1), func(ctx context.Context, mod api.Module, stack []uint64) {
			env := environmentOf(ctx)
			env.write(ctx, mod, "the refusal", stack[0], env.exchange.refused)
		}},
		{"__console_log", i32s(2), hostLog},
	}
}

// maxError is the longest error of a guest.
const maxError = 64 << 10

// hostCall is the import __host_call.
func hostCall(ctx context.Context, mod api.Module, stack []uint64) {
	env, call := environmentOf(ctx), kubewarden.Call{}
	for n, part := range []*string{&call.Binding, &call.Namespace, &call.Operation} {
		*part = string(env.read(ctx, mod, "a name", stack[2*n], stack[2*n+1], plugins.MaxObjectName))
	}
	call.Payload = env.read(ctx, mod, "the payload", stack[6], stack[7], kubewarden.MaxPayload)
	told, err := env.answer(ctx, call)
	env.exchange.told, env.exchange.refused = told, nil
	if stack[0] = 1; err != nil {
		env.exchange.told, env.exchange.refused = nil, []byte(firstLine(err.Error()))
		stack[0] = 0
	}
	env.fuel.charge(lookupFuel + lookupByteFuel*int64(len(told)))
}

// answer answers what a policy asks of its host.
func (env *environment) answer(ctx context.Context, call kubewarden.Call) ([]byte, error) {
	q, err := call.Question()
	if err != nil {
		return nil, err
	}
	if q.Object.Name == "" {
		env.Log(append([]byte(q.Line), '\n'))
		return nil, nil
	}
	env.lookups.made++
	object, err := env.lookups.get(ctx, q.Object.String())
	if errors.Is(err, plugins.ErrNoObject) {
		return nil, fmt.Errorf("%s: %w", q.Object, err)
	}
	if err == nil {
		err = q.Found(object)
	}
	return object, err
}
