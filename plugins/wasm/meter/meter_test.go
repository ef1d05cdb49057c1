package meter_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/wasmgate/wasmgate/plugins/plugintest"
	"github.com/wasmgate/wasmgate/plugins/wasm/binary"
	"github.com/wasmgate/wasmgate/plugins/wasm/meter"
)

// metered is the module with its charges.
func metered(t testing.TB, module []byte) []byte {
	t.Helper()
	m, err := binary.Decode(module)
	if err != nil {
		t.Fatal(err)
	}
	sections, err := meter.Sections(m, nil)
	if err != nil {
		t.Fatal(err)
	}
	return m.Assemble(sections)
}

var errSpent = errors.New("all is spent")

// budget is a host that gives out fuel.
type budget struct {
	limit, slice, spent, given int64
	asked                      int
	hosted                     int // calls of the import env.host
	// marked modules are asked which of the first 64 branches were taken, and once more.
	marked bool
	taken  []int
	after  uint64
}

func (b *budget) refuel(_ context.Context, _ api.Module, stack []uint64) {
	b.asked++
	left := int64(stack[0])
	b.spent, b.given = b.spent+b.given-left, left
	if b.spent > b.limit {
		panic(errSpent)
	}
	b.given = min(b.slice, b.limit-b.spent)
	stack[0] = uint64(b.given)
}

// engines are what runs modules; they have to agree.
var engines = map[string]func() wazero.RuntimeConfig{
	"compiled":    wazero.NewRuntimeConfigCompiler,
	"interpreted": wazero.NewRuntimeConfigInterpreter,
}

// execute runs the export "run" and returns what it gives, and the memory.
func execute(t testing.TB, cfg wazero.RuntimeConfig, module []byte, b *budget) ([]uint64, []byte, error) {
	t.Helper()
	ctx := context.Background()
	r := wazero.NewRuntimeWithConfig(ctx, cfg.WithMemoryLimitPages(64))
	defer r.Close(ctx)
	i64 := []api.ValueType{api.ValueTypeI64}
	i32 := []api.ValueType{api.ValueTypeI32}
	_, err := r.NewHostModuleBuilder(meter.Module).NewFunctionBuilder().
		WithGoModuleFunction(api.GoModuleFunc(b.refuel), i64, i64).Export(meter.Import).Instantiate(ctx)
	if err != nil {
		t.Fatal(err)
	}
	host := func(_ context.Context, stack []uint64) { b.hosted++; stack[0]++ }
	_, err = r.NewHostModuleBuilder("env").NewFunctionBuilder().
		WithGoFunction(api.GoFunc(host), i32, i32).Export("host").
		NewFunctionBuilder().WithGoFunction(api.GoFunc(func(context.Context, []uint64) { b.hosted++ }), nil, nil).Export("nothing").
		Instantiate(ctx)
	if err != nil {
		t.Fatal(err)
	}
	guest, err := r.Instantiate(ctx, module)
	if err != nil {
		return nil, nil, err
	}
	var results []uint64
	if first := guest.ExportedFunction(meter.Start); first != nil {
		_, err = first.Call(ctx)
	}
	if err == nil {
		results, err = guest.ExportedFunction("run").Call(ctx)
	}
	if left := guest.ExportedGlobal(meter.Export); left != nil {
		b.spent += b.given - int64(left.Get())
		b.given = int64(left.Get())
	}
	if b.marked {
		ask := guest.ExportedFunction(meter.Taken)
		for n, word := 0, must(ask.Call(ctx, 0)); word != 0; n, word = n+1, word>>1 {
			if word&1 != 0 {
				b.taken = append(b.taken, n)
			}
		}
		b.after = must(ask.Call(ctx, 0))
	}
	memory := []byte(nil)
	if m := guest.Memory(); guest.ExportedMemory("memory") != nil {
		memory, _ = m.Read(0, m.Size())
		memory = append([]byte(nil), memory...)
	}
	return results, memory, err
}

// must is what a call returned.
func must(results []uint64, err error) uint64 {
	if err != nil {
		panic(err)
	}
	return results[0]
}

// A guest with one function "run", without memory.
func run(code ...[]byte) plugintest.Guest {
	return plugintest.Guest{Funcs: map[string]plugintest.Func{"run": {Code: plugintest.Join(code...)}}}
}

var (
	nop  = []byte{0x01}
	drop = []byte{0x1a}
	end  = []byte{0x0b}
	n    = plugintest.ConstI32
)

// The pieces of a loop that runs some times: the local 0 counts.
func times(count int32, body ...[]byte) []byte {
	return plugintest.Join(n(count), []byte{0x21, 0}, []byte{0x03, 0x40}, plugintest.Join(body...),
		[]byte{0x20, 0}, n(1), []byte{0x6b, 0x22, 0, 0x0d, 0}, end) // local.get, const, sub, tee, br_if: 5
}

func withLocals(g plugintest.Guest) plugintest.Guest {
	f := g.Funcs["run"]
	f.Locals = []byte{1, 3, plugintest.I32}
	return g.With("run", f)
}

func paged(g plugintest.Guest) plugintest.Guest { g.Pages = 1; return g }

func raw(g plugintest.Guest, contents map[byte][]byte) plugintest.Guest { g.Raw = contents; return g }

var host = plugintest.Import{Module: "env", Name: "host", Params: []byte{plugintest.I32}, Results: []byte{plugintest.I32}}

func importing(g plugintest.Guest, i ...plugintest.Import) plugintest.Guest { g.Imports = i; return g }

var charges = []struct {
	name  string
	guest plugintest.Guest
	want  int64
}{
	{"a function without instructions", run(), 1},
	{"three instructions", run(nop, nop, nop), 3},
	{"results", func() plugintest.Guest {
		g := run()
		return g.With("run", plugintest.Func{Results: []byte{plugintest.I64, plugintest.I32}, Code: plugintest.Join(plugintest.ConstI64(7), n(1))})
	}(), 2 + 2},
	{"a call, with its parameter and result", run(n(1), plugintest.Call(1), drop).
		With("z", plugintest.Func{Params: []byte{plugintest.I32}, Results: []byte{plugintest.I32}, Code: []byte{0x20, 0}}), 3 + 1 + 2},
	{"blocks and else cost nothing, both branches do", run([]byte{0x02, 0x40}, n(0), []byte{0x04, 0x40}, nop, []byte{0x05}, nop, nop, end, end), 1 + 1 + 3},
	{"what a block gives", run([]byte{0x02, plugintest.I32}, n(5), end, drop), 1 + 1 + 1},
	{"what an if gives", run(n(1), []byte{0x04, plugintest.I32}, n(5), []byte{0x05}, n(6), end, drop), 1 + 1 + 1 + 2 + 1},
	{"a loop that runs five times", withLocals(run(times(5), nop)), 5 * (2 + 5 + 1)},
	{"instructions in the loop", withLocals(run(times(5, nop, nop))), 5 * (2 + 7)},
	{"a loop in a loop", withLocals(run(times(3,
		n(4), []byte{0x21, 1, 0x03, 0x40}, nop, []byte{0x20, 1}, n(1), []byte{0x6b, 0x22, 1, 0x0d, 0}, end, nop))), 3*(2+2+5+1) + 3*4*6},
	{"a loop after a loop", withLocals(run(times(3), times(2, nop))), 3*(4+5) + 2*6},
	{"blocks in a loop", withLocals(run(times(3, []byte{0x02, 0x40}, nop, end, nop))), 3 * (2 + 7)},
	{"a loop without instructions", run([]byte{0x03, 0x40}, end, []byte{0x03, 0x40}, end), 1 + 1},
	{"a loop that takes a value", raw(withLocals(run(n(9), times(1), []byte{0x03, 1}, drop, n(2), end, drop)),
		map[byte][]byte{1: plugintest.List([]byte{0x60, 0, 0}, []byte{0x60, 1, 0x7f, 1, 0x7f})}), 1 + 2 + 5 + 2 + 1 + (1 + 2)},
	{"a loop in a block", withLocals(run([]byte{0x02, 0x40}, times(2), end)), 2 * (2 + 5)},
	{"a loop after a block", withLocals(run([]byte{0x02, 0x40}, end, times(2))), 2 + 2*5},
	{"a loop after an if", withLocals(run(n(0), []byte{0x04, 0x40}, end, times(2))), 4 + 2*5},
	{"a loop in an if", withLocals(run(n(0), []byte{0x04, 0x40}, times(2), end)), 4},
	{"a loop after a call", withLocals(run(plugintest.Call(1), times(2))).With("z", plugintest.Func{Code: nop}), 3 + 1 + 2*5},
	{"a loop after a call through a table", raw(withLocals(run(n(0), []byte{0x11, 0, 0}, times(2))).With("z", plugintest.Func{Code: nop}),
		map[byte][]byte{4: {1, 0x70, 0, 1}, 9: plugintest.List([]byte{0, 0x41, 0, 0x0b, 1, 1})}), 4 + 1 + 2*5},
	{"a loop after memory.grow", paged(withLocals(run(n(0), []byte{0x40, 0}, drop, times(2)))), 105 + 2*5},
	{"a loop after memory.fill", paged(withLocals(run(n(0), n(0), n(0), []byte{0xfc, 11, 0}, times(2)))), 16 + 2*5},
	{"a loop after return", run([]byte{0x0f, 0x03, 0x40}, end), 1},
	{"a loop after br", run([]byte{0x0c, 0, 0x03, 0x40}, end), 1},
	{"a loop after br_if", run(n(1), []byte{0x0d, 0, 0x03, 0x40}, end), 2},
	{"a loop after br_table", run(n(0), []byte{0x0e, 0, 0, 0x03, 0x40}, end), 2},
	{"memory.fill, by length", paged(run(n(0), n(7), n(4000), []byte{0xfc, 11, 0})), 4 + 10 + 4000/8},
	{"memory.copy, by length", paged(run(n(0), n(8), n(79), []byte{0xfc, 10, 0, 0})), 4 + 10 + 79/8},
	{"memory.grow, by pages", paged(run(n(3), []byte{0x40, 0}, drop)), 3 + 100 + 3<<14},
	{"memory.grow that fails", paged(run(n(-1), []byte{0x40, 0}, drop)), 3 + 100 + 0xffffffff<<14},
	{"memory.init, by length", raw(paged(run(n(0), n(0), n(16), []byte{0xfc, 8, 0, 0})),
		map[byte][]byte{11: plugintest.List([]byte{1, 16, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}), 12: {1}}), 4 + 10 + 2},
	{"table.grow, by entries", raw(run([]byte{0xd0, 0x70}, n(5), []byte{0xfc, 15, 0}, drop), map[byte][]byte{4: {1, 0x70, 0, 1}}), 4 + 100 + 5},
	{"table.fill, by entries", raw(run(n(0), []byte{0xd0, 0x70}, n(6), []byte{0xfc, 17, 0}), map[byte][]byte{4: {1, 0x70, 0, 9}}), 4 + 10 + 6},
	{"table.copy, by entries", raw(run(n(0), n(1), n(7), []byte{0xfc, 14, 0, 0}), map[byte][]byte{4: {1, 0x70, 0, 9}}), 4 + 10 + 7},
	{"table.init, by entries", raw(run(n(0), n(0), n(2), []byte{0xfc, 12, 0, 0}),
		map[byte][]byte{4: {1, 0x70, 0, 9}, 9: plugintest.List([]byte{1, 0, 2, 0, 0})}), 4 + 10 + 2},
	{"an import", importing(run(n(1), plugintest.Call(0), drop), host), 3 + meter.HostCall},
	{"an import through a table", raw(importing(run(n(1), n(0), []byte{0x11, 0, 0}, drop), host),
		map[byte][]byte{4: {1, 0x70, 0, 1}, 9: plugintest.List([]byte{0, 0x41, 0, 0x0b, 1, 0})}), 4 + meter.HostCall},
	{"an import as the start function", raw(importing(run(), plugintest.Import{Module: "env", Name: "nothing"}), map[byte][]byte{8: {0}}), 1 + meter.HostCall},
}

// What is charged is exact, the same in both engines and for all slices, and
// all of it is needed.
func TestChargesAreExact(t *testing.T) {
	for _, c := range charges {
		t.Run(c.name, func(t *testing.T) {
			module := metered(t, c.guest.Bytes())
			for name, engine := range engines {
				for _, slice := range []int64{1, 3, 1000, 1 << 60} {
					b := &budget{limit: c.want, slice: slice}
					if _, _, err := execute(t, engine(), module, b); err != nil || b.spent != c.want {
						t.Errorf("%s, slices of %d: it spent %d, want %d: %v", name, slice, b.spent, c.want, err)
					}
					b = &budget{limit: c.want - 1, slice: slice}
					if _, _, err := execute(t, engine(), module, b); !errors.Is(err, errSpent) {
						t.Errorf("%s, slices of %d: with one less: %v", name, slice, err)
					}
				}
			}
		})
	}
}

// forever are modules that run for ever, or as good as that.
func forever() map[string]plugintest.Guest {
	twice := func(f uint32) []byte { return plugintest.Join(plugintest.Call(f), plugintest.Call(f)) }
	tree := plugintest.Guest{Funcs: map[string]plugintest.Func{"run": {Code: twice(1)}}}
	for i := range 60 { // each calls the next one twice
		code := twice(uint32(i) + 2)
		if i == 59 {
			code = nil
		}
		tree = tree.With("x"+strings.Repeat("x", i), plugintest.Func{Code: code})
	}
	boot := run()
	boot = boot.With("boot", plugintest.Func{Code: plugintest.Forever})
	boot.Start = "boot"
	loop := func(body ...byte) plugintest.Guest {
		return withLocals(run([]byte{0x03, 0x40}, body, []byte{0x0c, 0}, end, plugintest.Trap))
	}
	return map[string]plugintest.Guest{
		"loop":                   run(plugintest.Forever),
		"br_if":                  run([]byte{0x03, 0x40}, n(1), []byte{0x0d, 0}, end),
		"br_table":               run([]byte{0x03, 0x40, 0x02, 0x40}, n(9), []byte{0x0e, 2, 0, 0, 1}, end, end),
		"a loop from far inside": run([]byte{0x03, 0x40, 0x02, 0x40, 0x02, 0x40}, n(1), []byte{0x04, 0x40, 0x0c, 3, 0x0b, 0x0b, 0x0b, 0x0b}),
		"a tree of calls":        tree,
		"a start function":       boot,
		"imports":                importing(loop(plugintest.Join(n(0), plugintest.Call(0), drop)...), host),
		"imports through a table": raw(importing(loop(plugintest.Join(n(0), n(0), []byte{0x11, 0, 0}, drop)...), host),
			map[byte][]byte{4: {1, 0x70, 0, 1}, 9: plugintest.List([]byte{0, 0x41, 0, 0x0b, 1, 0})}),
		"memory.fill": paged(loop(plugintest.Join(n(0), n(0), n(65536), []byte{0xfc, 11, 0})...)),
		"code after a branch is not run, nor charged less": paged(run([]byte{0x03, 0x40, 0x0c, 0}, plugintest.Join(n(0), []byte{0x40, 0}, drop), end)),
	}
}

func TestNothingRunsWithoutEnd(t *testing.T) {
	for name, guest := range forever() {
		t.Run(name, func(t *testing.T) {
			module := metered(t, guest.Bytes())
			var spent []int64
			for _, engine := range engines {
				for _, slice := range []int64{17, 1 << 60} {
					b := &budget{limit: 300_000, slice: slice}
					if _, _, err := execute(t, engine(), module, b); !errors.Is(err, errSpent) {
						t.Fatalf("it ended with %v", err)
					}
					spent = append(spent, b.spent)
				}
			}
			for _, s := range spent {
				if s != spent[0] || s <= 300_000 {
					t.Errorf("it ended at %v", spent)
				}
			}
		})
	}
}

// Before an import runs the host is asked, however much is left.
func TestImportsAskBefore(t *testing.T) {
	for _, c := range charges {
		if !strings.HasPrefix(c.name, "an import") {
			continue
		}
		want := 2 // when it begins, and before the import
		if c.guest.Raw[8] != nil {
			want = 1 // which is where it begins
		}
		b := &budget{limit: 1 << 60, slice: 1 << 60}
		if _, _, err := execute(t, engines["compiled"](), metered(t, c.guest.Bytes()), b); err != nil || b.asked != want || b.hosted != 1 {
			t.Errorf("%s: asked %d times, called %d times: %v", c.name, b.asked, b.hosted, err)
		}
	}
}

func TestWhatCannotBeStepped(t *testing.T) {
	m, err := binary.Decode(run(nop, nop).Bytes())
	if err != nil {
		t.Fatal(err)
	}
	broken := *m
	broken.Bodies = append([]binary.Body(nil), m.Bodies...)
	broken.Bodies[0].End-- // without its end
	if sections, err := meter.Sections(&broken, nil); err == nil || sections != nil {
		t.Errorf("got %v, %v", sections, err)
	}
}
