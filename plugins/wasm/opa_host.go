package wasm

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/tetratelabs/wazero/api"

	"github.com/wasmgate/wasmgate/plugins/opa"
	"github.com/wasmgate/wasmgate/plugins/wasm/binary"
)

// opaImports are what policies that OPA compiled may import.
func opaImports() []imported {
	all := []imported{
		{"opa_abort", i32s(1), func(ctx context.Context, mod api.Module, stack []uint64) {
			panic(&misuse{"it aborted: " + shorten(environmentOf(ctx).said(ctx, mod, stack[0]))})
		}},
		{"opa_println", i32s(1), func(ctx context.Context, mod api.Module, stack []uint64) {
			env := environmentOf(ctx)
			env.Log([]byte(env.said(ctx, mod, stack[0]) + "\n"))
		}},
	}
	for n := range 5 {
		all = append(all, imported{fmt.Sprintf("opa_builtin%d", n), i32s(n+2, binary.I32), opaBuiltin(n)})
	}
	return all
}

// said is a line of a policy.
func (env *environment) said(ctx context.Context, mod api.Module, at uint64) string {
	text, err := terminated(mod, uint64(api.DecodeU32(at)), maxLog, 0)
	if err != nil {
		panic(err)
	}
	env.spend(ctx, int64(len(text)))
	return string(text)
}

// opaBuiltin is the import of functions of the host with some operands. The guest's own
// functions read the operands and make the value; they may not call the host
// meanwhile, which would never end.
func opaBuiltin(operands int) api.GoModuleFunc {
	return func(ctx context.Context, mod api.Module, stack []uint64) {
		env := environmentOf(ctx)
		p := env.policy
		if p == nil || !p.evaluating || p.answering {
			panic(&misuse{"it calls a function of its host where nothing is evaluated"})
		}
		p.answering = true
		value, err := p.answer(ctx, env, mod, api.DecodeI32(stack[0]), stack[2:2+operands])
		if err != nil {
			panic(err)
		}
		p.answering = false
		stack[0] = value
	}
}

// answer is the value of a function for operands, 0 where it is undefined.
func (p *policy) answer(ctx context.Context, env *environment, mod api.Module, id int32, operands []uint64) (uint64, error) {
	name, ok := p.functions[id]
	if !ok {
		return 0, &misuse{fmt.Sprintf("it calls the function %d of its host, which it did not name", id)}
	}
	texts, left := make([]json.RawMessage, len(operands)), int64(opa.MaxOperands)
	for n, o := range operands {
		text, err := p.text(ctx, env, mod, uint64(api.DecodeU32(o)), left)
		if err != nil {
			return 0, err
		}
		texts[n], left = text, left-int64(len(text))
	}
	env.spend(ctx, lookupFuel+opaByteFuel*(opa.MaxOperands-left))
	value, err := opa.Call(env, name, texts)
	if err != nil || value == nil {
		return 0, err
	}
	env.spend(ctx, int64(len(value)))
	return p.value(ctx, env, mod, value)
}

// opaByteFuel is what a byte of an operand costs, which is read and written as JSON.
const opaByteFuel = 20
