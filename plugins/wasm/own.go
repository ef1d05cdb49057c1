package wasm

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/tetratelabs/wazero/api"

	"github.com/wasmgate/wasmgate/plugins"
	"github.com/wasmgate/wasmgate/plugins/wasm/binary"
)

// own is the gateway's own ABI, which docs/abi.md describes.
var own = abi{
	dialect: plugins.Own,
	imports: []string{plugins.ImportWASI, plugins.ImportModule},
	exports: map[plugins.Hook]string{},
	verify:  verifyOwn,
	speaker: ownSpeaker{},
}

func init() {
	for _, h := range plugins.Hooks() {
		own.exports[h] = string(h)
	}
}

func verifyOwn(m *binary.Module) ([]plugins.Hook, *plugins.LoadError) {
	if e, ok := m.Export(plugins.ExportABI); !ok || e.Kind != binary.Func {
		return nil, refusal(plugins.MissingExport, "it does not export the function %q, so it is not a module of ABI %d (the Go SDK exports it; did main import it?)", plugins.ExportABI, plugins.ABIVersion)
	}
	if isCommand(m) {
		return nil, refusal(plugins.StartFailed, "it is a program that runs once (it exports %q and not %q), not a library; with Go, build it with -buildmode=c-shared",
			exportStart, exportInitialize)
	}
	if err := verifyExport(m, plugins.ExportAlloc, sigAlloc, true); err != nil {
		return nil, err
	}
	if err := verifyExport(m, plugins.ExportConfigure, sigHook, false); err != nil {
		return nil, err
	}
	if err := verifyExport(m, plugins.ExportDescribe, sigDescribe, false); err != nil {
		return nil, err
	}
	var hooks []plugins.Hook
	for _, h := range plugins.Hooks() {
		if _, ok := m.Export(string(h)); !ok {
			continue
		}
		if err := verifyExport(m, string(h), sigHook, true); err != nil {
			return nil, err
		}
		hooks = append(hooks, h)
	}
	if len(hooks) == 0 {
		return nil, refusal(plugins.MissingExport, "it exports no hook; one of %q, %q and %q is needed", plugins.Convert, plugins.Admit, plugins.Prioritize)
	}
	return hooks, nil
}

// ownSpeaker speaks to guests of the gateway's own ABI.
type ownSpeaker struct{}

// probe implements [speaker]: the guest is asked for a little memory.
func (ownSpeaker) probe(ctx context.Context, i *Instance) error {
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

// ask implements [speaker].
func (ownSpeaker) ask(ctx context.Context, i *Instance, export string, fn *function, request []byte) ([]byte, error) {
	var stack [2]uint64
	if request != nil {
		if err := i.writeRequest(ctx, export, request, &stack); err != nil {
			return nil, err
		}
	}
	i.env.running = fn
	if err := fn.CallWithStack(ctx, stack[:]); err != nil {
		return nil, i.failure(export, err)
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

// configure implements [speaker].
func (ownSpeaker) configure(ctx context.Context, i *Instance) error {
	if len(i.module.config) == 0 {
		return nil
	}
	reply, err := i.call(ctx, plugins.ExportConfigure, export(i.guest, plugins.ExportConfigure), i.module.config)
	if err != nil {
		return i.unconfigured(ctx, err)
	}
	if len(reply) == 0 {
		return nil
	}
	var answer struct {
		Error string `json:"error"`
	}
	if err := json.Unmarshal(reply, &answer); err != nil {
		return i.configRefused("its reply to the configuration is not JSON: "+firstLine(err.Error()), err)
	}
	if answer.Error != "" {
		return i.configRefused("it refuses its configuration: "+firstLine(answer.Error), nil)
	}
	return nil
}
