package wasm

import (
	"context"
	"errors"
	"fmt"

	"github.com/tetratelabs/wazero/api"

	"github.com/wasmgate/wasmgate/plugins"
	"github.com/wasmgate/wasmgate/plugins/wasm/binary"
	"github.com/wasmgate/wasmgate/plugins/wasm/meter"
	"github.com/wasmgate/wasmgate/plugins/wasm/wasi"
)

// imported is a function that guests may import.
type imported struct {
	name string
	binary.FuncType
	call api.GoModuleFunc
}

// i32s is a type with so many parameters of 32 bits, and results.
func i32s(params int, results ...byte) binary.FuncType {
	t := binary.FuncType{Results: results}
	for range params {
		t.Params = append(t.Params, binary.I32)
	}
	return t
}

// provideImports makes what guests may import.
func (e *Engine) provideImports(ctx context.Context) error {
	e.imports = map[string]map[string]signature{}
	var ofWASI []imported
	for _, f := range wasi.Functions() {
		ofWASI = append(ofWASI, imported{f.Name, typeOf(f), hostWASI(f)})
	}
	for module, functions := range map[string][]imported{
		plugins.ImportWASI: ofWASI,
		plugins.ImportModule: {
			{plugins.ImportLog, i32s(2), hostLog},
			{plugins.ImportLookup, i32s(2, binary.I64), hostLookup},
			{plugins.ImportResult, i32s(1), hostResult},
		},
		importWaPC: waPCImports(),
		importOPA:  opaImports(),
		meter.Module: {
			{meter.Import, binary.FuncType{Params: []byte{binary.I64}, Results: []byte{binary.I64}}, hostRefuel},
		},
	} {
		if err := e.provide(ctx, module, functions); err != nil {
			return fmt.Errorf("imports of %s: %w", module, err)
		}
	}
	return nil
}

func (e *Engine) provide(ctx context.Context, module string, functions []imported) error {
	builder, known := e.runtime.NewHostModuleBuilder(module), map[string]signature{}
	for _, f := range functions {
		builder.NewFunctionBuilder().WithGoModuleFunction(f.call, f.Params, f.Results).Export(f.name)
		known[f.name] = signatureOf(f.FuncType)
	}
	e.imports[module] = known
	_, err := builder.Instantiate(ctx)
	return err
}

// typeOf is the type of a function of WASI.
func typeOf(f wasi.Function) (t binary.FuncType) {
	for _, p := range f.Params {
		t.Params = append(t.Params, map[rune]byte{'i': binary.I32, 'I': binary.I64}[p])
	}
	if f.Returns() {
		t.Results = []byte{binary.I32}
	}
	return t
}

// environmentOf is that of the guest that calls. A panic ends the call.
func environmentOf(ctx context.Context) *environment {
	env, ok := ctx.Value(environmentKey{}).(*environment)
	if !ok {
		panic(errors.New("a guest runs without an environment"))
	}
	return env
}

// read copies what a guest names out of its memory, at most so many bytes, and books
// the work. What is outside, or longer, is the guest's mistake, which ends the call.
func (env *environment) read(ctx context.Context, mod api.Module, what string, at, size uint64, most int64) []byte {
	if n := api.DecodeU32(size); int64(n) > most {
		panic(&misuse{fmt.Sprintf("%s has %d bytes, more than the limit of %d", what, n, most)})
	}
	view, ok := mod.Memory().Read(api.DecodeU32(at), api.DecodeU32(size))
	if !ok {
		panic(&misuse{fmt.Sprintf("%s (%d bytes at %d) is outside of the module's memory of %d bytes", what, api.DecodeU32(size), api.DecodeU32(at), mod.Memory().Size())})
	}
	env.spend(ctx, int64(len(view)))
	return append(make([]byte, 0, len(view)), view...)
}

// write copies to where a guest wants it.
func (env *environment) write(ctx context.Context, mod api.Module, what string, at uint64, data []byte) {
	env.spend(ctx, int64(len(data)))
	if !mod.Memory().Write(api.DecodeU32(at), data) {
		panic(&misuse{fmt.Sprintf("there is no room for %s (%d bytes at %d) in the module's memory of %d bytes", what, len(data), api.DecodeU32(at), mod.Memory().Size())})
	}
}

// misuse is a call of an import that makes no sense: the guest does not keep to its ABI.
type misuse struct{ why string }

// Error says what.
func (m *misuse) Error() string { return m.why }
