package wasm

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/wasmgate/wasmgate/plugins"
	. "github.com/wasmgate/wasmgate/plugins/plugintest"
	"github.com/wasmgate/wasmgate/plugins/wasm/meter"
)

// generator makes programs at random that are valid and end: functions that
// call only earlier ones, loops that count down, and memory accesses that stay
// in the first page. Every function has two i32 parameters and an i64 result;
// locals 2 and 3 are i64, and each loop has a counter from 4 on.
type generator struct {
	*rand.Rand
	loops int // those that were made in this function
}

// program is a module of some functions, the last one the hook.
func (g *generator) program() Guest {
	p := Echo("")
	names := []string{}
	for n := range 1 + g.IntN(4) {
		name := fmt.Sprintf("a%d", n) // sorted before the others
		p = p.With(name, g.function(p, names))
		names = append(names, name)
	}
	for range g.IntN(3) { // indices of calls depend on all names
		p = p.With(string(plugins.Convert), g.function(p, names))
	}
	return p.With(string(plugins.Convert), g.function(p, names))
}

func (g *generator) function(p Guest, callable []string) Func {
	g.loops = 0
	calls := make([]uint32, len(callable))
	for i := range callable {
		calls[i] = uint32(i) // a0, a1, ... are the first by name
	}
	code := g.block(calls, 4)
	return Func{Params: []byte{I32, I32}, Results: []byte{I64},
		Locals: []byte{2, 2, I64, 40, I32}, Code: append(code, 0x20, 2, 0x20, 3, 0x85)} // both, xor
}

func (g *generator) block(calls []uint32, depth int) []byte {
	var code []byte
	for range 1 + g.IntN(5) {
		code = append(code, g.statement(calls, depth)...)
	}
	return code
}

func (g *generator) statement(calls []uint32, depth int) []byte {
	target := byte(2 + g.IntN(2))
	switch n := g.IntN(9); {
	case n == 0 && depth > 0 && g.loops < 36: // a loop of up to seven rounds
		counter := byte(4 + g.loops)
		g.loops++
		return Join(ConstI32(int32(g.IntN(7))), []byte{0x21, counter, 0x03, 0x40}, g.block(calls, depth-1),
			[]byte{0x20, counter, 0x41, 0, 0x4a, 0x04, 0x40, 0x20, counter, 0x41, 1, 0x6b, 0x21, counter, 0x0c, 1, 0x0b, 0x0b})
	case n == 1 && depth > 0: // if, else
		return Join(g.value(2), []byte{0xa7, 0x04, 0x40}, g.block(calls, depth-1), []byte{0x05}, g.block(calls, depth-1), []byte{0x0b})
	case n == 2 && depth > 0: // a branch table out of three blocks
		return Join([]byte{0x02, 0x40, 0x02, 0x40, 0x02, 0x40}, g.value(1), []byte{0xa7, 0x41, 3, 0x71, 0x0e, 2, 0, 1, 2, 0x0b},
			g.block(calls, depth-1), []byte{0x0b}, g.block(calls, depth-1), []byte{0x0b})
	case n == 3: // memory
		return Join(g.address(), g.value(2), []byte{0x37, 3, 0})
	case n == 4 && len(calls) > 0:
		return Join(g.value(1), []byte{0xa7}, g.address(), Call(calls[g.IntN(len(calls))]), []byte{0x21, target})
	case n == 5: // memory.grow beyond any limit fails, and says so
		return Join([]byte{0x41, 0xff, 0xff, 0x03, 0x40, 0, 0xac, 0x20, target, 0x7c, 0x21, target})
	default:
		return append(g.value(3), 0x21, target)
	}
}

// address is an i32 in the first page, below its last word.
func (g *generator) address() []byte {
	return Join(g.value(1), []byte{0xa7, 0x41, 0xff, 0xff, 0x01, 0x71}) // & 0x7fff
}

// value is an i64.
func (g *generator) value(depth int) []byte {
	switch n := g.IntN(6); {
	case depth == 0 || n == 0:
		return ConstI64(g.Uint64() >> g.IntN(64))
	case n == 1:
		return []byte{0x20, byte(2 + g.IntN(2))}
	case n == 2:
		return []byte{0x20, byte(g.IntN(2)), 0xac} // a parameter, extended
	case n == 3:
		return Join(g.address(), []byte{0x29, 3, 0})
	default:
		operators := []byte{0x7c, 0x7d, 0x7e, 0x83, 0x84, 0x85, 0x86, 0x88, 0x8a}
		return Join(g.value(depth-1), g.value(depth-1), []byte{operators[g.IntN(len(operators))]})
	}
}

// outcome is what a module replies to some requests, and its memory then.
func outcome(t *testing.T, r wazero.Runtime, module []byte) (replies []uint64, memory []byte) {
	t.Helper()
	ctx := t.Context()
	compiled, err := r.CompileModule(ctx, module)
	if err != nil {
		t.Fatalf("%v\n%x", err, module)
	}
	i, err := r.InstantiateModule(ctx, compiled, wazero.NewModuleConfig().WithName(""))
	if err != nil {
		t.Fatal(err)
	}
	for n := range uint64(5) {
		reply, err := i.ExportedFunction(string(plugins.Convert)).Call(ctx, n, n*7919)
		if err != nil {
			t.Fatal(err)
		}
		replies = append(replies, reply[0])
	}
	view, _ := i.Memory().Read(0, 1<<16)
	memory = bytes.Clone(view)
	if err := i.Close(ctx); err != nil {
		t.Fatal(err)
	}
	return replies, memory
}

// TestRewritingChangesNoOutput runs generated modules as they are and as they
// are rewritten.
func TestRewritingChangesNoOutput(t *testing.T) {
	ctx := context.Background()
	r := wazero.NewRuntime(ctx)
	defer r.Close(ctx)
	i64 := []api.ValueType{api.ValueTypeI64}
	_, err := r.NewHostModuleBuilder(meter.Module).NewFunctionBuilder().
		WithGoFunction(api.GoFunc(func(_ context.Context, stack []uint64) { stack[0] = 1000 }), i64, i64).
		Export(meter.Import).Instantiate(ctx)
	if err != nil {
		t.Fatal(err)
	}
	e := engine(t)
	rounds, different := 150, map[uint64]bool{}
	for seed := range uint64(rounds) {
		g := generator{Rand: rand.New(rand.NewPCG(seed, 1))}
		module := g.program().Bytes()
		m, _, err := e.inspect(module)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		rewritten, err := rewrite(m, plugins.Limits{}.Effective(), nil)
		if err != nil {
			t.Fatal(err)
		}
		branches, err := meter.FindBranches(m)
		if err != nil {
			t.Fatal(err)
		}
		marked, err := rewrite(m, plugins.Limits{}.Effective(), branches)
		if err != nil {
			t.Fatal(err)
		}
		before, memory := outcome(t, r, module)
		if with, memoryWith := outcome(t, r, marked); fmt.Sprint(before) != fmt.Sprint(with) || !bytes.Equal(memory, memoryWith) {
			t.Errorf("seed %d: replies %x, marked %x", seed, before, with)
		}
		after, memoryAfter := outcome(t, r, rewritten)
		if fmt.Sprint(before) != fmt.Sprint(after) || !bytes.Equal(memory, memoryAfter) {
			t.Errorf("seed %d: replies %x, rewritten %x", seed, before, after)
		}
		for _, reply := range before {
			different[reply] = true
		}
		if bytes.Equal(module, rewritten) || binary.LittleEndian.Uint32(rewritten) != binary.LittleEndian.Uint32(module) {
			t.Error("nothing was rewritten")
		}
	}
	if len(different) < rounds {
		t.Errorf("only %d different replies: the programs do too little", len(different))
	}
}
