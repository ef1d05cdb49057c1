package wasm

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/wasmgate/wasmgate/plugins"
	. "github.com/wasmgate/wasmgate/plugins/plugintest"
	"github.com/wasmgate/wasmgate/plugins/wasm/binary"
	"github.com/wasmgate/wasmgate/plugins/wasm/meter"
)

// branching replies only to requests of two bytes, and has begun before.
func branching() Guest {
	return Echo("{}").With("_initialize", Func{Code: []byte{0x02, 0x40, 0x0b}}).
		With(string(plugins.Convert), Hook(Join([]byte{0x20, 1}, ConstI32(2), []byte{0x47, 0x04, 0x40, 0x00, 0x0b}, ConstI64(DataAt<<32|2))...))
}

// Who loads a module with branches learns which each call takes, also one that fails;
// what serves has none.
func TestCallsTellTheirBranches(t *testing.T) {
	b := &plugins.Branches{}
	m, err := engine(t).Load(t.Context(), Source{Name: "m", Bytes: branching().Bytes(), Branches: b})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = m.Close(context.Background()) }()
	i, err := m.Instantiate(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer i.Close()
	if taken := b.Taken(); taken != nil {
		t.Errorf("starting takes %v", taken)
	}
	call := func(request string) []int {
		_, _ = i.Call(t.Context(), plugins.Convert, []byte(request))
		return b.Taken()
	}
	first, again, other := call("{}"), call("{}"), call("{ }")
	if len(first) == 0 || !slices.Equal(first, again) || len(other) != len(first)+1 {
		t.Errorf("they take %v, again %v, and another %v", first, again, other)
	}
	serving := start(t, branching().Bytes(), plugins.Limits{})
	if serving.taken != nil || serving.guest.ExportedFunction(meter.Taken) != nil {
		t.Error("what serves tells its branches")
	}
}

// What is refused with marks is loaded without.
func TestMarksThatAreTooMuch(t *testing.T) {
	c := &elsewhere{}
	c.compile = func(module []byte, dir string) error {
		if bytes.Contains(module, []byte(meter.Taken)) {
			return refusal(plugins.CompileFailed, "too much")
		}
		return CompileInto(t.Context(), dir, module)
	}
	b := &plugins.Branches{}
	m, err := restarted(t, folder(t), c).Load(t.Context(), Source{Name: "m", Bytes: branching().Bytes(), Branches: b})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = m.Close(context.Background()) }()
	i, err := m.Instantiate(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer i.Close()
	if _, err := i.Call(t.Context(), plugins.Convert, []byte("{}")); err != nil || b.Taken() != nil || c.count != 2 {
		t.Errorf("compiled %d times: %v", c.count, err)
	}
}

// What functions compare with is found.
func TestWhatIsCompared(t *testing.T) {
	const at = 1000
	i64 := func(v uint64, op byte) []byte { return Join([]byte{0x20, 0}, ConstI64(v), []byte{op, 0x1a}) }
	i32 := func(v int32, op byte) []byte { return Join([]byte{0x20, 1}, ConstI32(v), []byte{op, 0x1a}) }
	two := func(a, b []byte) []byte { return Join(a, b, []byte{0x1a, 0x1a}) }
	for name, c := range map[string]struct {
		code []byte
		want []any
	}{
		"a number":                       {i64(9443, 0x51), []any{int64(9443)}},
		"a small one":                    {i64(2, 0x51), nil},
		"one that is only added":         {i64(9443, 0x7c), nil},
		"a text, of i32":                 {Join(i32(7, 0x47), two(ConstI32(at), ConstI32(7))), []any{"special"}},
		"a text, of i64, length first":   {Join(i64(7, 0x51), two(ConstI64(7), ConstI64(at))), []any{"special"}},
		"no such length":                 {two(ConstI32(at), Join([]byte{0x01}, ConstI32(7))), nil},
		"place and length":               {two(ConstI32(at), ConstI32(7)), []any{"special"}},
		"a text as a number":             {Join(i64(0x726f7272696d, 0x51), i64(9443, 0x51)), []any{int64(0x726f7272696d), int64(9443), "mirror"}},
		"outside of the data":            {Join(i32(7, 0x47), two(ConstI32(at+5), ConstI32(7))), []any{int64(7)}},
		"no place at all":                {two(ConstI64(math.MaxInt64-1), ConstI64(2)), nil},
		"byte by byte":                   {Join(i64(3, 0x51), i64('a', 0x52), i64('b', 0x52), i64('c', 0x52)), []any{"abc"}},
		"two of them":                    {Join(i64(2, 0x51), i64('a', 0x52), i64('b', 0x52), i64('c', 0x52), i64('d', 0x52)), []any{"ab", "cd"}},
		"eight at a time":                {Join(i32(8, 0x47), i64(0x7468676965626f74, 0x51)), []any{"tobeight"}},
		"pieces that overlap":            {Join(i32(6, 0x47), i32(0x64636261, 0x73), i32(0x66656463, 0x73)), []any{"abcdef", "abcd", "cdef"}},
		"four, and the rest":             {Join(i32(5, 0x47), i32(0x64636261, 0x73), i32('e', 0x73)), []any{"abcde", "abcd"}},
		"bytes without a length, a port": {i64('e', 0x51), []any{int64('e')}},
	} {
		g := Guest{Pages: 1, Funcs: map[string]Func{"f": {Params: []byte{I64, I32}, Code: c.code}},
			Raw: map[byte][]byte{11: List(Join([]byte{0, 0x41, 0xe8, 7, 0x0b}, Counted([]byte("special\x00"))))}}
		m, err := binary.Decode(g.Bytes())
		if err != nil {
			t.Fatal(name, err)
		}
		if got := compared(m)(0); fmt.Sprintf("%#v", got) != fmt.Sprintf("%#v", c.want) {
			t.Errorf("%s: %#v, want %#v", name, got, c.want)
		}
	}
}
