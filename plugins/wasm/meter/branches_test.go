package meter_test

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/tetratelabs/wazero"

	"github.com/wasmgate/wasmgate/plugins/plugintest"
	"github.com/wasmgate/wasmgate/plugins/wasm/binary"
	"github.com/wasmgate/wasmgate/plugins/wasm/meter"
)

// marked is the module with its charges and marks.
func marked(t testing.TB, module []byte) ([]byte, *meter.Branches) {
	t.Helper()
	m, err := binary.Decode(module)
	if err != nil {
		t.Fatal(err)
	}
	b, err := meter.FindBranches(m)
	if err != nil {
		t.Fatal(err)
	}
	sections, err := meter.Sections(m, b)
	if err != nil {
		t.Fatal(err)
	}
	sections[binary.TableSection] = b.Tables(m.Content(binary.TableSection))
	return m.Assemble(sections), b
}

// Which branches are taken is told once, by their numbers: that of the function, and
// then what is in it, in order.
func TestBranchesThatAreTaken(t *testing.T) {
	cond := func(v int32, body ...byte) []byte { return plugintest.Join(n(v), []byte{0x04, 0x40}, body, end) }
	for name, c := range map[string]struct {
		guest plugintest.Guest
		all   int
		want  []int
	}{
		"a function":          {run(nop), 1, []int{0}},
		"one that is called":  {run(plugintest.Call(1)).With("z", plugintest.Func{Code: nop}), 2, []int{0, 1}},
		"one that is not":     {run(nop).With("z", plugintest.Func{Code: cond(1, nop...)}), 3, []int{0}},
		"if":                  {run(cond(1, nop...)), 2, []int{0, 1}},
		"if not":              {run(cond(0, nop...)), 2, []int{0}},
		"then":                {run(cond(1, 0x01, 0x05, 0x01)), 3, []int{0, 1}},
		"else":                {run(cond(0, 0x01, 0x05, 0x01)), 3, []int{0, 2}},
		"a loop":              {withLocals(run(times(3, nop))), 3, []int{0, 1, 2}},
		"a block that ends":   {run([]byte{0x02, 0x40}, nop, end), 2, []int{0, 1}},
		"a branch out of one": {run([]byte{0x02, 0x40}, n(1), []byte{0x0d, 0}, nop, end), 3, []int{0, 2}},
		"a branch not taken":  {run([]byte{0x02, 0x40}, n(0), []byte{0x0d, 0}, nop, end), 3, []int{0, 1, 2}},
		"out of two":          {run([]byte{0x02, 0x40, 0x02, 0x40, 0x0c, 1}, end, nop, end), 3, []int{0, 2}},
		"a table":             {run([]byte{0x02, 0x40, 0x02, 0x40}, n(0), []byte{0x0e, 1, 0, 1}, end, []byte{0x0f}, end), 3, []int{0, 1}},
		"with tables":         {raw(run(cond(1)), map[byte][]byte{4: {1, 0x70, 0, 1}}), 2, []int{0, 1}},
		"with an import":      {importing(run(n(1), plugintest.Call(0), drop, cond(1)), host), 2, []int{0, 1}},
		"with a memory":       {paged(run(n(0), n(7), n(9), []byte{0xfc, 11, 0}, cond(1))), 2, []int{0, 1}},
		"what is not reached": {run([]byte{0x0f, 0x02, 0x40}, n(1), []byte{0x0d, 0}, end), 3, []int{0}},
	} {
		module, b := marked(t, c.guest.Bytes())
		if b.All() != c.all {
			t.Errorf("%s: %d branches", name, b.All())
		}
		for engine, cfg := range engines {
			budget := &budget{limit: 1 << 40, slice: 1 << 40, marked: true}
			if _, _, err := execute(t, cfg(), module, budget); err != nil || !slices.Equal(budget.taken, c.want) || budget.after != 0 {
				t.Errorf("%s, %s: %v and then %b, want %v: %v", name, engine, budget.taken, budget.after, c.want, err)
			}
		}
	}
}

// Marks change nothing that a module does, nor what is charged.
func TestMarksChangeNoResult(t *testing.T) {
	for seed := range uint64(100) {
		module := generated(seed)
		with, _ := marked(t, module)
		plain, budgeted := &budget{limit: 1 << 40, slice: 1000}, &budget{limit: 1 << 40, slice: 1000, marked: true}
		want, wantMemory, wantErr := execute(t, engines["compiled"](), metered(t, module), plain)
		got, memory, err := execute(t, engines["compiled"](), with, budgeted)
		if !slices.Equal(got, want) || !bytes.Equal(memory, wantMemory) || (err == nil) != (wantErr == nil) || budgeted.hosted != plain.hosted || budgeted.spent != plain.spent {
			t.Fatalf("seed %d: %v, %v, want %v, %v; spent %d, want %d", seed, got, err, want, wantErr, budgeted.spent, plain.spent)
		}
		if len(budgeted.taken) == 0 {
			t.Fatalf("seed %d takes no branch", seed)
		}
	}
}

// Of a module with more branches than are marked the last functions are marked where
// they begin.
func TestMarksAreBounded(t *testing.T) {
	const blocks, functions = 3_000, 90
	code := bytes.Repeat([]byte{0x02, 0x40, 0x0b}, blocks)
	g := run()
	for i := range functions {
		g = g.With(fmt.Sprintf("z%02d", i), plugintest.Func{Code: code})
	}
	module, b := marked(t, g.Bytes())
	if most := (1 << 18) / blocks; b.All() != functions+1+most*blocks || b.Functions() != functions+1 || b.Inside[functions] != b.Inside[functions+1] {
		t.Errorf("%d branches in %d functions", b.All(), b.Functions())
	}
	r := wazero.NewRuntimeWithConfig(t.Context(), wazero.NewRuntimeConfigInterpreter())
	defer r.Close(context.Background())
	if err := compiles(r, module); err != nil {
		t.Error(err)
	}
}
