package wasm

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/tetratelabs/wazero/api"

	"github.com/wasmgate/wasmgate/plugins"
	"github.com/wasmgate/wasmgate/plugins/opa"
	"github.com/wasmgate/wasmgate/plugins/wasm/binary"
)

// The names of OPA's ABI.
const (
	importOPA  = "env"
	opaEval    = "opa_eval"
	opaMalloc  = "opa_malloc"
	opaParse   = "opa_json_parse"
	opaDump    = "opa_json_dump"
	opaHeapGet = "opa_heap_ptr_get"
	opaHeapSet = "opa_heap_ptr_set"
	opaCalls   = "builtins"
	opaEntries = "entrypoints"
	opaMajor   = plugins.ExportOPA
	opaMinor   = "opa_wasm_abi_minor_version"
)

// opaExports are what is called of a policy, with their types.
var opaExports = map[string]signature{
	opaEval: "(i32, i32, i32, i32, i32, i32, i32) -> (i32)", opaMalloc: "(i32) -> (i32)", opaParse: "(i32, i32) -> (i32)", opaDump: "(i32) -> (i32)",
	opaHeapGet: "() -> (i32)", opaHeapSet: "(i32) -> ()", opaCalls: "() -> (i32)", opaEntries: "() -> (i32)",
}

// ofOPA is the ABI of policies that OPA compiled.
var ofOPA = abi{
	dialect: plugins.OPA,
	marks:   []string{opaMajor},
	imports: []string{importOPA},
	exports: map[plugins.Hook]string{plugins.Admit: opaEval},
	calls:   opaExports,
	verify:  verifyOPA,
	speaker: opaSpeaker{},
}

func verifyOPA(m *binary.Module) ([]plugins.Hook, *plugins.LoadError) {
	for _, name := range []string{opaMajor, opaMinor} {
		e, ok := m.Export(name)
		if !ok || e.Kind != binary.Global || m.Globals[e.Index].Type != binary.I32 {
			return nil, refusal(plugins.MissingExport, "it does not say of which version of OPA's ABI it is: it has no global %q of 32 bits; build it with OPA 0.27 or later", name)
		}
	}
	for name, want := range opaExports {
		if err := verifyExport(m, name, want, true); err != nil {
			return nil, err
		}
	}
	return []plugins.Hook{plugins.Admit}, nil
}

// ownMemory is a module that has the memory that it imported, at the same size.
func ownMemory(m *binary.Module) ([]byte, error) {
	l := m.Memories[0]
	var kept []byte
	count := uint32(0)
	for _, i := range m.Imports {
		if i.Kind == binary.Memory && i.Module == importOPA && i.Name == plugins.ExportMemory {
			continue
		}
		if i.Kind != binary.Func {
			return nil, refusal(plugins.ForeignImport, "it imports %q from %q, which is no function; of %s only the memory can be imported besides", shorten(i.Name), shorten(i.Module), importOPA)
		}
		for _, name := range []string{i.Module, i.Name} {
			kept = append(binary.AppendU32(kept, uint32(len(name))), name...)
		}
		kept = binary.AppendU32(append(kept, byte(binary.Func)), m.Funcs[i.Index])
		count++
	}
	memory := []byte{1, 0}
	if l.HasMax {
		memory[1] = 1
	}
	if memory = binary.AppendU32(memory, l.Min); l.HasMax {
		memory = binary.AppendU32(memory, l.Max)
	}
	return m.Assemble(map[binary.SectionID][]byte{
		binary.ImportSection: append(binary.AppendU32(nil, count), kept...),
		binary.MemorySection: memory,
	}), nil
}

// policy is what is known of an instance of a policy once it is configured.
type policy struct {
	calls       map[string]*function
	functions   map[int32]string
	entrypoints []opa.Entrypoint
	// data and heap are where its data are, and where they end.
	data, heap uint64
	// evaluating: it may call its host; answering: it does.
	evaluating, answering bool
}

// invoke calls an export.
func (p *policy) invoke(ctx context.Context, env *environment, name string, args ...uint64) (uint64, error) {
	var stack [8]uint64
	copy(stack[:], args)
	before := env.running
	env.running = p.calls[name]
	defer func() { env.running = before }()
	err := env.running.CallWithStack(ctx, stack[:])
	return uint64(api.DecodeU32(stack[0])), err
}

// put copies text into the guest.
func (p *policy) put(ctx context.Context, env *environment, mod api.Module, text []byte) (uint64, error) {
	at, err := p.invoke(ctx, env, opaMalloc, uint64(len(text)))
	if err == nil && !mod.Memory().Write(uint32(at), text) {
		err = &misuse{fmt.Sprintf("%s(%d) returned %d, which is outside of the module's memory of %d bytes", opaMalloc, len(text), at, mod.Memory().Size())}
	}
	return at, err
}

// value makes a value of the guest of JSON.
func (p *policy) value(ctx context.Context, env *environment, mod api.Module, text []byte) (uint64, error) {
	at, err := p.put(ctx, env, mod, text)
	if err != nil {
		return 0, err
	}
	value, err := p.invoke(ctx, env, opaParse, at, uint64(len(text)))
	if err == nil && value == 0 {
		err = &misuse{opaParse + " reads no value"}
	}
	return value, err
}

// text makes JSON of a value of the guest.
func (p *policy) text(ctx context.Context, env *environment, mod api.Module, value uint64, most int64) ([]byte, error) {
	at, err := p.invoke(ctx, env, opaDump, value)
	if err != nil {
		return nil, err
	}
	return terminated(mod, at, most, 0)
}

// terminated copies a text that ends with a zero; what there is before it counts, too.
func terminated(mod api.Module, at uint64, most, before int64) ([]byte, error) {
	size := int64(mod.Memory().Size())
	view, ok := mod.Memory().Read(uint32(at), uint32(max(0, min(size-int64(at), most-before+1))))
	end := bytes.IndexByte(view, 0)
	switch {
	case ok && end >= 0:
		return append(make([]byte, 0, end), view[:end]...), nil
	case ok && before > 0 && int64(len(view)) > most-before:
		return nil, &misuse{fmt.Sprintf("its results are longer than the limit of %d bytes together", most)}
	case ok && int64(len(view)) > most:
		return nil, &misuse{fmt.Sprintf("a text is longer than the limit of %d bytes", most)}
	}
	return nil, &misuse{fmt.Sprintf("a text at %d does not end in the module's memory of %d bytes", at, size)}
}

// opaSpeaker speaks to policies that OPA compiled.
type opaSpeaker struct{}

// maxNames is how much a policy may say of what it has.
const maxNames = 64 << 10

// configure implements [speaker]: the configuration is the document data.
func (opaSpeaker) configure(ctx context.Context, i *Instance) error {
	i.env.begin()
	defer i.env.end()
	p := &policy{calls: i.calls}
	err := i.learn(i.module.callContext(ctx, i.env, plugins.MaxTimes), p)
	var refused *plugins.LoadError
	switch {
	case err == nil:
		i.env.policy = p
		return nil
	case errors.As(err, &refused):
		refused.Module = i.module.name
		return refused
	}
	call := i.withContext(ctx, i.failure("configuring", err))
	if Ended(ctx) != nil || errors.Is(call, ErrNoRoom) {
		return call
	}
	return &plugins.LoadError{Module: i.module.name, Reason: plugins.StartReason(call), Detail: firstLine(call.Error()), Cause: call}
}

// learn asks a policy what it is, and gives it its data.
func (i *Instance) learn(ctx context.Context, p *policy) error {
	major, minor := i.guest.ExportedGlobal(opaMajor).Get(), i.guest.ExportedGlobal(opaMinor).Get()
	if api.DecodeU32(major) != 1 || api.DecodeI32(minor) < 2 {
		return refusal(plugins.StartFailed, "it is of version %d.%d of OPA's ABI, and has to be of 1.2 or a later 1: build it with OPA 0.27 or later", api.DecodeU32(major), api.DecodeI32(minor))
	}
	said := map[string][]byte{}
	for _, name := range []string{opaCalls, opaEntries} {
		value, err := p.invoke(ctx, i.env, name)
		if err == nil {
			said[name], err = p.text(ctx, i.env, i.guest, value, maxNames)
		}
		if err != nil {
			return err
		}
	}
	var err error
	if p.functions, err = opa.Builtins(said[opaCalls]); err != nil {
		return refusal(plugins.ForeignImport, "%s", err)
	}
	if p.entrypoints, err = opa.Entrypoints(said[opaEntries]); err != nil {
		return refusal(plugins.MissingExport, "%s", err)
	}
	data, err := opa.Data(i.module.config)
	if err != nil {
		return refusal(plugins.ConfigRefused, "%s", err)
	}
	if p.data, err = p.value(ctx, i.env, i.guest, data); err == nil {
		p.heap, err = p.invoke(ctx, i.env, opaHeapGet)
	}
	return err
}

// probe implements [speaker]: who was configured has run.
func (opaSpeaker) probe(context.Context, *Instance) error { return nil }

// ask implements [speaker].
func (opaSpeaker) ask(ctx context.Context, i *Instance, export string, _ *function, request []byte) ([]byte, error) {
	bad := func(err error) error { return i.callError(export, plugins.BadReply, firstLine(err.Error()), err) }
	var results []opa.Result
	taken := int64(0)
	for _, e := range i.env.policy.entrypoints {
		input, err := opa.Input(e.Kind, request, i.module.config)
		if err != nil {
			return nil, bad(err)
		}
		set, err := i.evaluate(ctx, e.ID, input, taken)
		if err != nil {
			return nil, i.failure(export, err)
		}
		results, taken = append(results, opa.Result{Entrypoint: e, Set: set}), taken+int64(len(set))
	}
	reply, err := opa.Reply(request, results)
	if err != nil {
		return nil, bad(err)
	}
	return reply, nil
}

// evaluate is the result set of an entrypoint. Those before it took so many bytes.
func (i *Instance) evaluate(ctx context.Context, entrypoint int32, input []byte, taken int64) ([]byte, error) {
	p := i.env.policy
	if _, err := p.invoke(ctx, i.env, opaHeapSet, p.heap); err != nil {
		return nil, err
	}
	at, err := p.put(ctx, i.env, i.guest, input)
	if err != nil {
		return nil, err
	}
	heap, err := p.invoke(ctx, i.env, opaHeapGet)
	if err != nil {
		return nil, err
	}
	p.evaluating = true
	result, err := p.invoke(ctx, i.env, opaEval, 0, api.EncodeI32(entrypoint), p.data, at, uint64(len(input)), heap, 0)
	p.evaluating = false
	if err != nil {
		return nil, err
	}
	return terminated(i.guest, result, min(i.module.limits.ResponseBytes, plugins.MaxPolicyBytes), taken)
}
