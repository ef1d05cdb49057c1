package meter_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tetratelabs/wazero"

	"github.com/wasmgate/wasmgate/plugins/plugintest"
	"github.com/wasmgate/wasmgate/plugins/wasm/binary"
	"github.com/wasmgate/wasmgate/plugins/wasm/meter"
)

// generator makes valid modules that end: loops count down, and functions call
// only those with higher numbers. Each function takes and gives one i32; the
// locals are the parameter, one to work with, and one for each loop.
type generator struct {
	*rand.Rand
	function, functions int
	loops               int // how many locals are taken by loops
	depth               int
	code                []byte
}

const (
	loopLocals = 6
	imports    = 1
)

func (g *generator) emit(b ...byte) { g.code = append(g.code, b...) }

func (g *generator) constant() { g.emit(plugintest.ConstI32(int32(g.Uint32()))...) }

// value emits something that gives an i32.
func (g *generator) value() {
	switch g.IntN(7) {
	case 0:
		g.constant()
	case 1, 2:
		g.emit(0x20, byte(g.IntN(2))) // local.get
	case 3:
		g.value()
		g.emit(0x41, 7, 0x71, 0x28, 2, 0) // and 7, i32.load
	case 4:
		g.emit(0x3f, 0) // memory.size
	case 5:
		g.call()
	default:
		g.emit(0x20, 0)
		g.constant()
		g.emit([]byte{0x6a, 0x6b, 0x6c, 0x71, 0x73, 0x77}[g.IntN(6)]) // add, sub, mul, and, xor, rotl
	}
}

// call emits a call of a function that is not called yet, by a table or not, or
// of the import.
func (g *generator) call() {
	g.emit(0x20, 1)
	target := imports + g.function + 1 + g.IntN(3)
	if target >= imports+g.functions {
		target = 0
	}
	if g.IntN(3) == 0 {
		g.emit(plugintest.Join(plugintest.ConstI32(int32(target)), []byte{0x11, 0, 0})...)
		return
	}
	g.emit(plugintest.Call(uint32(target))...)
}

func (g *generator) block(kind byte, body func()) {
	g.emit(kind, 0x40)
	g.depth++
	body()
	g.depth--
	g.emit(0x0b)
}

func (g *generator) statement() {
	switch choice := g.IntN(12); {
	case choice < 3 || g.depth > 3:
		g.value()
		g.emit(0x21, 1) // local.set
	case choice < 5:
		g.value()
		g.block(0x04, func() {
			g.statement()
			g.emit(0x05)
			g.statement()
		})
	case choice < 7 && g.loops < loopLocals:
		counter := byte(2 + g.loops)
		g.loops++
		g.emit(plugintest.Join(plugintest.ConstI32(int32(1+g.IntN(4))), []byte{0x21, counter})...)
		g.block(0x03, func() {
			g.statements(2)
			g.emit(0x20, counter, 0x41, 1, 0x6b, 0x22, counter, 0x0d, 0)
		})
		g.loops--
	case choice == 8:
		g.block(0x02, func() {
			g.statement()
			g.value()
			g.emit(0x0d, 0) // br_if
			g.statement()
			g.value()
			g.emit(0x41, 3, 0x71, 0x0e, 2, 0, 0, 0) // br_table
		})
	case choice == 9:
		g.emit(0x41, 0)
		g.value()
		g.emit(0x41, byte(g.IntN(60)), 0xfc, 11, 0) // memory.fill
	case choice == 10:
		g.emit(0x41, byte(g.IntN(2)), 0x40, 0, 0x21, 1) // memory.grow
	default:
		g.emit(0x41, 16, 0x20, 1, 0x36, 2, 0) // i32.store
	}
}

func (g *generator) statements(most int) {
	for range 1 + g.IntN(most) {
		g.statement()
	}
}

// generated is a module made of a seed.
func generated(seed uint64) []byte {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 1)), functions: 5}
	guest := plugintest.Guest{Pages: 1, Imports: []plugintest.Import{host}, Funcs: map[string]plugintest.Func{}}
	i32 := []byte{plugintest.I32}
	entries := [][]byte{{0}}
	for g.function = range g.functions {
		g.code = nil
		g.statements(4)
		g.emit(0x20, 1)
		f := plugintest.Func{Params: i32, Results: i32, Locals: []byte{1, 1 + loopLocals, plugintest.I32}, Code: g.code}
		name := fmt.Sprint("run", g.function)
		if g.function == 0 { // "run" comes first, and takes nothing
			name, f.Params, f.Locals = "run", nil, []byte{1, 2 + loopLocals, plugintest.I32}
		}
		guest.Funcs[name] = f
		entries = append(entries, []byte{byte(imports + g.function)})
	}
	table := plugintest.Join([]byte{0, 0x41, 0, 0x0b}, plugintest.List(entries...))
	guest.Raw = map[byte][]byte{4: {1, 0x70, 0, 16}, 9: plugintest.List(table)}
	return guest.Bytes()
}

// What a module does is not changed by metering it, and what is charged is the
// same in both engines.
func TestMeteringChangesNoResult(t *testing.T) {
	seeds := uint64(300)
	if testing.Short() {
		seeds = 50
	}
	ended := 0
	for seed := range seeds {
		module := generated(seed)
		with := metered(t, module)
		plain := &budget{limit: 1 << 40, slice: 1 << 40}
		want, wantMemory, wantErr := execute(t, engines["interpreted"](), module, plain)
		if wantErr == nil {
			ended++
		}
		var spent []int64
		for _, engine := range engines {
			b := &budget{limit: 1 << 40, slice: 1000}
			got, memory, err := execute(t, engine(), with, b)
			if !slices.Equal(got, want) || !bytes.Equal(memory, wantMemory) || (err == nil) != (wantErr == nil) || b.hosted != plain.hosted {
				t.Fatalf("seed %d: %v, %v, want %v, %v", seed, got, err, want, wantErr)
			}
			spent = append(spent, b.spent)
		}
		if spent[0] != spent[1] || spent[0] <= 0 {
			t.Fatalf("seed %d: spent %d", seed, spent)
		}
	}
	if ended < int(seeds)/2 {
		t.Errorf("only %d of %d modules came to an end", ended, seeds)
	}
}

// everywhere is a module that refers to functions wherever one can.
func everywhere() []byte {
	global := func(b ...byte) []byte { return b }
	return plugintest.Sections(map[byte][]byte{
		1: {1, 0x60, 0, 0},
		2: plugintest.List([]byte{1, 'e', 1, 'f', 0, 0}, []byte{1, 'e', 1, 'g', 3, 0x7f, 0}),
		3: {2, 0, 0},
		4: {2, 0x70, 0, 9, 0x6f, 0, 1},
		5: {1, 0, 1},
		6: plugintest.List(global(0x70, 0, 0xd2, 1, 0x0b), global(0x70, 1, 0xd2, 0, 0x0b), global(0x70, 0, 0xd0, 0x70, 0x0b),
			global(0x7d, 0, 0x43, 1, 2, 3, 4, 0x0b), global(0x7c, 0, 0x44, 1, 2, 3, 4, 5, 6, 7, 8, 0x0b), global(0x7e, 0, 0x42, 0xff, 0, 0x0b),
			global(0x7f, 0, 0x23, 0, 0x0b), plugintest.Join(global(0x7b, 0, 0xfd, 12), make([]byte, 16), []byte{0x0b})),
		7: plugintest.List([]byte{1, 'f', 0, 0}, []byte{1, 'g', 0, 2}, []byte{1, 'm', 2, 0}, []byte{1, 't', 1, 1}, []byte{1, 'x', 3, 2}),
		8: {2},
		9: plugintest.List([]byte{0, 0x41, 0, 0x0b, 2, 0, 1}, []byte{1, 0, 1, 1}, []byte{2, 0, 0x41, 0, 0x0b, 0, 1, 2}, []byte{3, 0, 1, 0},
			[]byte{4, 0x41, 0, 0x0b, 1, 0xd2, 0, 0x0b}, []byte{5, 0x70, 2, 0xd2, 1, 0x0b, 0xd0, 0x70, 0x0b},
			[]byte{6, 1, 0x41, 0, 0x0b, 0x6f, 1, 0xd0, 0x6f, 0x0b}, []byte{7, 0x70, 1, 0xd2, 2, 0x0b}),
		10: plugintest.List(plugintest.Counted([]byte{0, 0xd2, 0, 0x1a, 0x10, 0, 0x0b}), plugintest.Counted([]byte{0, 0xd2, 2, 0x1a, 0x0b})),
	})
}

func compiles(r wazero.Runtime, module []byte) error {
	c, err := r.CompileModule(context.Background(), module)
	if err == nil {
		err = c.Close(context.Background())
	}
	return err
}

// Everything that names a function names the same one as before: one higher,
// or the one around an import, which are after the three that were there.
func TestFunctionsAreRenumberedEverywhere(t *testing.T) {
	const f0, f1, f2 = 4, 2, 3
	with := metered(t, everywhere())
	r := wazero.NewRuntimeWithConfig(t.Context(), wazero.NewRuntimeConfigInterpreter())
	defer r.Close(t.Context())
	if before, after := compiles(r, everywhere()), compiles(r, with); before != nil || after != nil {
		t.Fatalf("before: %v, after: %v", before, after)
	}
	m, err := binary.Decode(with)
	if err != nil {
		t.Fatal(err)
	}
	section := func(id binary.SectionID, want ...byte) {
		t.Helper()
		if got := m.Content(id); !bytes.Equal(got, want) {
			t.Errorf("section %d is\n% x, want\n% x", id, got, want)
		}
	}
	section(binary.TypeSection, 3, 0x60, 0, 0, 0x60, 1, 0x7e, 1, 0x7e, 0x60, 3, 0x7f, 0x7f, 0x7f, 0)
	section(binary.ImportSection, plugintest.Join([]byte{3, 14}, []byte("wasmgate_meter"), []byte{6}, []byte("refuel"), []byte{0, 1},
		[]byte{1, 'e', 1, 'f', 0, 0}, []byte{1, 'e', 1, 'g', 3, 0x7f, 0})...)
	section(binary.FunctionSection, 5, 0, 0, 0, 2, 2)
	section(binary.GlobalSection, plugintest.Join([]byte{10, 0x70, 0, 0xd2, f1, 0x0b, 0x70, 1, 0xd2, f0, 0x0b, 0x70, 0, 0xd0, 0x70, 0x0b,
		0x7d, 0, 0x43, 1, 2, 3, 4, 0x0b, 0x7c, 0, 0x44, 1, 2, 3, 4, 5, 6, 7, 8, 0x0b, 0x7e, 0, 0x42, 0xff, 0, 0x0b,
		0x7f, 0, 0x23, 0, 0x0b, 0x7b, 0, 0xfd, 12}, make([]byte, 16), []byte{0x0b, 0x7e, 1, 0x42, 0, 0x0b, 0x7f, 1, 0x41, 0, 0x0b})...)
	section(binary.ExportSection, plugintest.Join([]byte{8, 1, 'f', 0, f0, 1, 'g', 0, f2, 1, 'm', 2, 0, 1, 't', 1, 1, 1, 'x', 3, 2, 14}, []byte("wasmgate_start"), []byte{0, f2, 13},
		[]byte("wasmgate_fuel"), []byte{3, 9, 16}, []byte("wasmgate_changed"), []byte{3, 10})...)
	section(binary.StartSection)
	section(binary.ElementSection, 8, 0, 0x41, 0, 0x0b, 2, f0, f1, 1, 0, 1, f1, 2, 0, 0x41, 0, 0x0b, 0, 1, f2, 3, 0, 1, f0,
		4, 0x41, 0, 0x0b, 1, 0xd2, f0, 0x0b, 5, 0x70, 2, 0xd2, f1, 0x0b, 0xd0, 0x70, 0x0b,
		6, 1, 0x41, 0, 0x0b, 0x6f, 1, 0xd0, 0x6f, 0x0b, 7, 0x70, 1, 0xd2, f2, 0x0b)
	charge := func(cost byte) []byte { // the imported global and eight others are before the one of fuel, the local 0 is what is left
		return []byte{0x23, 9, 0x42, cost, 0x7d, 0x22, 0, 0x24, 9, 0x20, 0, 0x42, 0, 0x53, 0x04, 0x40, 0x20, 0, 0x10, 0, 0x24, 9, 0x0b}
	}
	code := m.Content(binary.CodeSection)
	if code[0] != 5 {
		t.Errorf("%d bodies", code[0])
	}
	// The last two are tried by TestPiecesDoWhatTheInstructionDoes.
	wantBodies(t, code[1:], plugintest.Join(
		plugintest.Counted(plugintest.Join([]byte{1, 1, 0x7e}, charge(3), []byte{0xd2, f0, 0x1a, 0x10, f0, 0x0b})),
		plugintest.Counted(plugintest.Join([]byte{1, 1, 0x7e}, charge(2), []byte{0xd2, f2, 0x1a, 0x0b})),
		plugintest.Counted([]byte{0, 0x23, 9, 0x42, 0xe8, 7, 0x7d, 0x24, 9, 0x23, 9, 0x10, 0, 0x24, 9, 0x10, 1, 0x0b})))
}

func wantBodies(t *testing.T, got, want []byte) {
	t.Helper()
	if !bytes.HasPrefix(got, want) {
		t.Errorf("the bodies are\n% x, want\n% x ...", got, want)
	}
}

// What is done by pieces ends as if it were done at once, in whichever direction
// and however much it overlaps, or fails where that fails; and more is asked for
// after each piece.
func TestPiecesDoWhatTheInstructionDoes(t *testing.T) {
	const pages, megabyte = 48, 1 << 20
	big := func(g plugintest.Guest) plugintest.Guest { g.Pages = pages; return g }
	fill := func(to, what, size int32) []byte {
		return plugintest.Join(n(to), n(what), n(size), []byte{0xfc, 11, 0})
	}
	pattern := []byte{}
	for i := range int32(150) {
		pattern = append(pattern, fill(i*20_011, i+1, 15_000)...)
	}
	for _, c := range []struct {
		op             byte
		to, from, size int32
		pieces         int
	}{
		{11, 5, 9, 100, 0}, {11, 5, 9, megabyte, 0}, {11, 5, 9, megabyte + 1, 1}, {11, 5, 9, 5*megabyte/2 + 3, 2}, {11, 5, 9, 3 * megabyte, 2},
		{11, -1, 9, 3 * megabyte, 0}, {11, 0, 9, -1, 3},
		{10, 0, 7, 2*megabyte + 11, 2}, {10, 7, 0, 2*megabyte + 11, 2}, {10, 7, 7, 2*megabyte + 11, 2},
		{8, 9, 5, 5 * megabyte / 2, 2}, {8, 9, 5, megabyte, 0}, {8, 9, 5, 3 * megabyte, 2},
		{10, megabyte / 2, 0, 5 * megabyte / 2, 2}, {10, 0, megabyte / 2, 5 * megabyte / 2, 2}, {10, 40, 0, 3 * megabyte, 0}, {10, 0, 40, 3 * megabyte, 2},
	} {
		code := plugintest.Join(pattern, n(c.to), n(c.from), n(c.size), []byte{0xfc, c.op, 0})
		if c.op == 10 {
			code = append(code, 0)
		}
		g := big(run(code))
		if c.op == 8 {
			segment := make([]byte, 14*megabyte/5)
			for i := range segment {
				segment[i] = byte(i / 1000)
			}
			code = append(code, 0)
			g = raw(big(run(code)), map[byte][]byte{11: plugintest.List(plugintest.Join([]byte{1}, plugintest.Counted(segment))), 12: {1}})
		}
		module := g.Bytes()
		_, want, failed := execute(t, engines["compiled"](), module, &budget{limit: 1 << 60, slice: 1 << 60})
		b := &budget{limit: 1 << 60, slice: 1 << 60}
		_, got, err := execute(t, engines["compiled"](), metered(t, module), b)
		if (err != nil) != (failed != nil) || err == nil && !bytes.Equal(got, want) {
			t.Errorf("%+v: %v, and at once %v; the same memory: %v", c, err, failed, bytes.Equal(got, want))
		}
		if b.asked != 1+c.pieces {
			t.Errorf("%+v: asked %d times", c, b.asked)
		}
	}
}

// FuzzSections: a module that is accepted can be metered, and the result is
// valid if and only if the module was.
func FuzzSections(f *testing.F) {
	for _, c := range charges {
		f.Add(c.guest.Bytes())
	}
	for seed := range uint64(5) {
		f.Add(generated(seed))
	}
	f.Add(everywhere())
	ctx := context.Background()
	r := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigInterpreter())
	f.Cleanup(func() { _ = r.Close(ctx) })
	f.Fuzz(func(t *testing.T, module []byte) {
		m, err := binary.Decode(module)
		if err != nil {
			return
		}
		if _, taken := m.Export(meter.Export); taken {
			return
		}
		sections, err := meter.Sections(m, nil)
		if err != nil {
			t.Fatal(err)
		}
		before, after := compiles(r, m.Assemble(nil)), compiles(r, m.Assemble(sections))
		if (before == nil) != (after == nil) {
			t.Fatalf("before: %v\nafter: %v", before, after)
		}
		with, _ := marked(t, module)
		if after = compiles(r, with); (before == nil) != (after == nil) {
			t.Fatalf("before: %v\nmarked: %v", before, after)
		}
	})
}
