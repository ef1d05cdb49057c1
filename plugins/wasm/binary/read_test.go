package binary_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"reflect"
	"testing"

	. "github.com/wasmgate/wasmgate/plugins/plugintest"
	"github.com/wasmgate/wasmgate/plugins/wasm/binary"
)

// everything is a module with every kind of section and immediate.
func everything() []byte {
	f := Join([]byte{0x02, 0x40, 0x0b}, // block
		[]byte{0x41, 0, 0x04, 0x7f, 0x41, 1, 0x05, 0x41, 2, 0x0b, 0x1a},       // if with a result, else
		[]byte{0x03, 0x40, 0x41, 0, 0x0e, 1, 0, 1, 0x0b},                      // br_table
		[]byte{0x41, 0, 0x02, 3, 0x1a, 0x0b},                                  // a block with a parameter
		[]byte{0x10, 0, 0x41, 0, 0x11, 0, 0x80, 0x80, 0x00, 0x20, 0, 0x21, 1}, // calls, a padded index, locals
		[]byte{0x23, 0, 0x24, 2, 0x41, 0, 0x41, 0, 0x25, 0, 0x26, 0},          // globals, tables
		[]byte{0x41, 0, 0x28, 2, 0x80, 0x08, 0x1a, 0x3f, 0, 0x40, 0, 0x1a},    // memory
		[]byte{0x41, 0, 0x28, 2, 0xff, 0xff, 0xff, 0xff, 0x0f, 0x1a, 0x41, 0x80, 0x80, 0x80, 0x80, 0x78, 0x1a, 0x41, 0xff, 0xff, 0xff, 0xff, 0x07, 0x1a}, // the last offset, the least and the largest number
		[]byte{0x42, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x7f, 0x1a, 0x42, 0x7f, 0x1a, 0x43, 0, 0, 0x80, 0x3f, 0x1a, 0x44, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f, 0x1a},
		[]byte{0xd0, 0x70, 0xd1, 0x1a, 0xd2, 1, 0x1a, 0x41, 0, 0x41, 0, 0x41, 0, 0x1c, 1, I32, 0x1a, 0xc0},
		[]byte{0xfc, 0, 0xfc, 8, 0, 0, 0xfc, 9, 0, 0xfc, 10, 0, 0, 0xfc, 11, 0, 0xfc, 12, 0, 0, 0xfc, 13, 0, 0xfc, 14, 0, 0, 0xfc, 15, 0, 0xfc, 16, 0, 0xfc, 17, 0},
		[]byte{0xfd, 0x0c}, make([]byte, 16), []byte{0xfd, 0x0d}, make([]byte, 16),
		[]byte{0xfd, 0x15, 15, 0xfd, 0x5b, 3, 0, 1, 0xfd, 0xff, 0x01, 0x00, 0x0f})
	code := List(Counted(Join([]byte{2, 1, I32, 1, I64}, f, []byte{0x0b})), Counted([]byte{0, 0x0b}))
	return Sections(map[byte][]byte{
		1:  List([]byte{0x60, 0, 0}, []byte{0x60, 1, I32, 1, I64}, []byte{0x60, 2, 0x7d, 0x7c, 2, 0x70, 0x6f}, []byte{0x60, 1, I32, 0}),
		2:  List(Join(Counted([]byte("m")), Counted([]byte("f")), []byte{0, 0}), Join(Counted([]byte("m")), Counted([]byte("g")), []byte{3, I32, 0})),
		3:  List([]byte{0}, []byte{0}),
		4:  List([]byte{0x70, 1, 1, 2}, []byte{0x6f, 0, 0}),
		5:  List([]byte{0, 1}),
		6:  List([]byte{I32, 1, 0x23, 0, 0x0b}, []byte{I64, 1, 0x42, 0x7f, 0x0b}, []byte{0x7d, 0, 0x43, 0, 0, 0, 0, 0x0b}, []byte{0x7c, 0, 0x44, 0, 0, 0, 0, 0, 0, 0, 0, 0x0b}, Join([]byte{0x7b, 0, 0xfd, 12}, make([]byte, 16), []byte{0x0b}), []byte{0x70, 0, 0xd2, 1, 0x0b}),
		7:  List(Join(Counted([]byte("e")), []byte{0, 1}), Join(Counted([]byte("t")), []byte{1, 1}), Join(Counted([]byte("m")), []byte{2, 0}), Join(Counted([]byte("g")), []byte{3, 1})),
		8:  {2},
		9:  List([]byte{0, 0x41, 0, 0x0b, 1, 1}, []byte{1, 0, 1, 1}, []byte{2, 0, 0x41, 0, 0x0b, 0, 1, 1}, []byte{3, 0, 1, 1}, []byte{4, 0x41, 0, 0x0b, 1, 0xd2, 1, 0x0b}, []byte{5, 0x6f, 1, 0xd0, 0x6f, 0x0b}, []byte{6, 0, 0x41, 0, 0x0b, 0x70, 1, 0xd2, 0, 0x0b}, []byte{7, 0x70, 0}),
		10: code,
		11: List([]byte{0, 0x41, 0, 0x0b, 1, 'a'}, []byte{1, 1, 'b'}, []byte{2, 0, 0x41, 0, 0x0b, 0}),
		12: {3},
		0:  Join(Counted([]byte("name")), []byte{0xff, 0xff}),
	})
}

func TestReadsEverything(t *testing.T) {
	module := everything()
	m, err := binary.Decode(module)
	if err != nil {
		t.Fatal(err)
	}
	if len(m.Types) != 4 || !bytes.Equal(m.Types[2].Params, []byte{0x7d, 0x7c}) || !bytes.Equal(m.Types[2].Results, []byte{0x70, 0x6f}) {
		t.Errorf("types %v", m.Types)
	}
	wantImports := []binary.Import{{Module: "m", Name: "f", Kind: binary.Func}, {Module: "m", Name: "g", Kind: binary.Global}}
	if !reflect.DeepEqual(m.Imports, wantImports) || m.Imported(binary.Func) != 1 || m.Imported(binary.Global) != 1 || m.Imported(binary.Table) != 0 {
		t.Errorf("imports %v", m.Imports)
	}
	if !reflect.DeepEqual(m.Funcs, []uint32{0, 0, 0}) || len(m.FuncType(1).Params) != 0 {
		t.Errorf("functions %v", m.Funcs)
	}
	if want := []binary.TableType{{Elem: 0x70, Limits: binary.Limits{Min: 1, Max: 2, HasMax: true}}, {Elem: 0x6f}}; !reflect.DeepEqual(m.Tables, want) {
		t.Errorf("tables %v", m.Tables)
	}
	if want := []binary.Limits{{Min: 1}}; !reflect.DeepEqual(m.Memories, want) {
		t.Errorf("memories %v", m.Memories)
	}
	if len(m.Globals) != 7 || m.Globals[0] != (binary.GlobalType{Type: I32}) || m.Globals[1] != (binary.GlobalType{Type: I32, Mutable: true}) {
		t.Errorf("globals %v", m.Globals)
	}
	if e, ok := m.Export("g"); !ok || e != (binary.Export{Name: "g", Kind: binary.Global, Index: 1}) || len(m.Exports) != 4 {
		t.Errorf("exports %v", m.Exports)
	}
	if _, ok := m.Export("x"); ok {
		t.Error("an export that is not there")
	}
	if m.Start != 2 || m.DataSegments != 3 || !m.HasDataCount || string(m.ElementTypes) != "pppppopp" {
		t.Errorf("start %d, data %d %v, elements %q", m.Start, m.DataSegments, m.HasDataCount, m.ElementTypes)
	}
	if len(m.Bodies) != 2 || m.Bodies[0].Locals != 2 || m.Bodies[0].Func != 1 || m.Bodies[1].Func != 2 {
		t.Errorf("bodies %+v", m.Bodies)
	}
	if m.Content(binary.CustomSection) != nil || !bytes.Equal(m.Content(binary.DataCountSection), []byte{3}) {
		t.Error("contents of sections")
	}
}

func TestStepsThroughInstructions(t *testing.T) {
	code := []byte{0x02, 0x40, 0x41, 0x80, 0x01, 0x0e, 1, 0, 1, 0x0b, 0x10, 0x80, 0x00, 0xfc, 11, 0, 0xfd, 0x80, 0x01, 0x0b}
	m, err := binary.Decode(Sections(map[byte][]byte{1: {1, 0x60, 0, 0}, 3: {1, 0}, 5: {1, 0, 1},
		10: List(Counted(Join([]byte{0}, code)))}))
	if err != nil {
		t.Fatal(err)
	}
	type step struct {
		op              binary.Opcode
		start, imm, end int
		depth           int
		index           uint32
	}
	want := []step{
		{0x02, 0, 1, 2, 1, 0}, {0x41, 2, 3, 5, 2, 0}, {0x0e, 5, 6, 9, 2, 1}, {0x0b, 9, 10, 10, 2, 0},
		{0x10, 10, 11, 13, 1, 0}, {0xfc0b, 13, 15, 16, 1, 0}, {0xfd80, 16, 19, 19, 1, 0}, {0x0b, 19, 20, 20, 1, 0},
	}
	c := m.Code(m.Bodies[0], nil)
	for n, w := range want {
		i, ok := c.Next()
		if !ok {
			t.Fatal(c.Err())
		}
		at := m.Bodies[0].Code
		if got := (step{i.Op, i.Start - at, i.Immediates - at, i.End - at, i.Depth, i.Index}); got != w {
			t.Errorf("step %d: got %+v, want %+v", n, got, w)
		}
	}
	if _, ok := c.Next(); ok || c.Err() != nil {
		t.Errorf("after the end: %v", c.Err())
	}
}

func TestAssembleAddsSectionsInOrder(t *testing.T) {
	m, err := binary.Decode(Sections(map[byte][]byte{1: {1, 0x60, 0, 0}, 3: {1, 0}, 10: {1, 2, 0, 0x0b}}))
	if err != nil {
		t.Fatal(err)
	}
	want := Sections(map[byte][]byte{1: {1, 0x60, 0, 0}, 3: {1, 0}, 5: {1, 0, 1}, 8: {0}, 10: {1, 2, 0, 0x0b}, 11: {0}, 12: {0}})
	got := m.Assemble(map[binary.SectionID][]byte{binary.DataSection: {0}, binary.StartSection: {0}, binary.MemorySection: {1, 0, 1}, binary.DataCountSection: {0}})
	if !bytes.Equal(got, want) {
		t.Errorf("got %x, want %x", got, want)
	}
}

func TestAssembleReplacesAndStrips(t *testing.T) {
	module := everything()
	m, err := binary.Decode(module)
	if err != nil {
		t.Fatal(err)
	}
	custom := bytes.Index(module, []byte("\x04name")) - 2
	if got := m.Assemble(nil); !bytes.Equal(got, module[:custom]) {
		t.Errorf("stripped %x\nof %x", got, module)
	}
	memory := []byte{1, 1, 1, 0x80, 0x02}
	again, err := binary.Decode(m.Assemble(map[binary.SectionID][]byte{binary.MemorySection: memory}))
	if err != nil {
		t.Fatal(err)
	}
	if want := (binary.Limits{Min: 1, Max: 256, HasMax: true}); again.Memories[0] != want || len(again.Sections) != len(m.Sections) {
		t.Errorf("memory %v", again.Memories)
	}
}

func TestAppendU32(t *testing.T) {
	for v, want := range map[uint32][]byte{0: {0}, 127: {127}, 128: {0x80, 1}, 1<<32 - 1: {0xff, 0xff, 0xff, 0xff, 0x0f}} {
		if got := binary.AppendU32([]byte{9}, v); !bytes.Equal(got, append([]byte{9}, want...)) {
			t.Errorf("%d: %x", v, got)
		}
	}
}

// check looks at what has to hold for any bytes.
func check(t *testing.T, module []byte) {
	var m *binary.Module
	var err error
	used := allocated(func() { m, err = binary.Decode(module) })
	if most := int64(30*len(module) + 64<<10); used > most {
		t.Fatalf("a module of %d bytes made it allocate %d", len(module), used)
	}
	if err != nil {
		var refused *binary.Error
		if m != nil || !errors.As(err, &refused) || refused.Offset < 0 || refused.Offset > len(module) || refused.Detail == "" {
			t.Fatalf("module %v, error %#v", m, err)
		}
		return
	}
	var c binary.Code
	for _, b := range m.Bodies {
		at := b.Code
		for m.Code(b, &c); ; {
			i, ok := c.Next()
			if !ok {
				break
			}
			if i.Start != at || i.Immediates <= i.Start || i.End < i.Immediates {
				t.Fatalf("instruction %+v after byte %d", i, at)
			}
			at = i.End
		}
		if at != b.End || c.Err() != nil {
			t.Fatalf("function %d: %v", b.Func, c.Err())
		}
	}
	stripped := m.Assemble(nil)
	again, err := binary.Decode(stripped)
	if err != nil {
		t.Fatalf("assembled: %v", err)
	}
	if !bytes.Equal(again.Assemble(nil), stripped) || len(again.Bodies) != len(m.Bodies) {
		t.Fatal("assembled twice is not the same as once")
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(Echo("{}").Bytes())
	f.Add(everything())
	for _, b := range Bombs() {
		if len(b.Module) < 1000 {
			f.Add(b.Module)
		}
	}
	f.Fuzz(check)
}

// TestMutatedRealModules cuts and breaks a module that Go built.
func TestMutatedRealModules(t *testing.T) {
	module := Build(t, CronTab)
	check(t, module)
	if _, err := binary.Decode(module); err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 2))
	rounds := 30
	if testing.Short() {
		rounds = 3
	}
	for range rounds {
		cut := random.IntN(len(module))
		if _, err := binary.Decode(module[:cut]); err == nil {
			t.Errorf("accepted when cut off at byte %d", cut)
		}
		broken := bytes.Clone(module)
		for range 1 + random.IntN(20) {
			// Most of a module is data; most of what can go wrong is not.
			broken[random.IntN(len(module)/4)] = byte(random.Uint32())
		}
		check(t, broken)
	}
}

func BenchmarkDecode(b *testing.B) {
	module := Build(b, CronTab)
	b.SetBytes(int64(len(module)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := binary.Decode(module); err != nil {
			b.Fatal(err)
		}
	}
}
