package object

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// Strings are written as encoding/json writes them, to the byte: what is stored
// is compared with what kube-apiserver stores.
func TestAppendStringOfEveryCharacter(t *testing.T) {
	check := func(s string) {
		t.Helper()
		want, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		if got := AppendString([]byte("x"), s); string(got) != "x"+string(want) {
			t.Fatalf("%q: got %s, want %s", s, got, want)
		}
	}
	for c := range rune(0x3000) {
		check("a" + string(c) + "b")
	}
	for _, c := range []rune{0xd7ff, 0xd800, 0xe000, 0xfffd, 0xffff, 0x10000, 0x10ffff} {
		check(string(c))
	}
	for c := range 256 {
		check(string([]byte{byte(c)}))
		check(string([]byte{'a', byte(c), byte(c), 'b'}))
		check(string([]byte{0xe2, 0x80, byte(c)}))
	}
	r := rand.New(rand.NewPCG(1, 1))
	for range 2000 {
		b := make([]byte, r.IntN(12))
		for i := range b {
			b[i] = byte(r.IntN(256))
		}
		check(string(b))
	}
}

func TestEncodeIsCanonical(t *testing.T) {
	for want, v := range map[string]any{
		`null`: nil, `true`: true, `"a"`: "a", `-7`: int64(-7), `1.5`: 1.5, `1e+21`: 1e21, `100000000000000000000`: 1e20, `0.000001`: 1e-6, `1e-7`: 1e-7,
		`{}`: map[string]any{}, `[]`: []any{}, `{"a":1,"b":[{"c":null},2],"é":""}`: map[string]any{"é": "", "b": []any{map[string]any{"c": nil}, int64(2)}, "a": int64(1)},
		`[null,null]`: []any{map[string]any(nil), []any(nil)}, `3`: 3, `["x"]`: []string{"x"}, `{"z":1}`: map[string]int{"z": 1},
	} {
		if got, err := Encode(v); err != nil || string(got) != want {
			t.Errorf("%v: got %s, %v; want %s", v, got, err, want)
		}
	}
	for _, v := range []any{math.NaN(), math.Inf(1), math.Inf(-1), make(chan int)} {
		for _, in := range []any{v, []any{1.0, v}, map[string]any{"a": 1.0, "b": []any{v}}} {
			if got, err := Encode(in); err == nil {
				t.Errorf("%v is written as %s", in, got)
			}
		}
	}
}

// Keys are borrowed from a pool while maps nest.
func TestEncodeOfMapsInMaps(t *testing.T) {
	tree, want := any(int64(0)), "0"
	for range 50 {
		tree, want = map[string]any{"b": tree, "a": "x", "c": map[string]any{"d": nil}}, `{"a":"x","b":`+want+`,"c":{"d":null}}`
	}
	for range 3 {
		if got, err := Encode(tree); err != nil || string(got) != want {
			t.Fatalf("got %s, %v", got, err)
		}
	}
}

// What is written is read again as the same: a zero that is read as an integer has no sign.
func TestZeros(t *testing.T) {
	for in, want := range map[string]string{`-0.0`: "0", `-0`: "0", `0.0`: "0", `-0e5`: "0", `-1e-400`: "0", `-0.5`: "-0.5"} {
		tree, _, err := Parse([]byte(`{"a":` + in + `}`))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := Encode(tree); err != nil || string(got) != `{"a":`+want+`}` {
			t.Errorf("%s: %s, %v", in, got, err)
		}
	}
}

func TestParseOfOddNumbersAndWords(t *testing.T) {
	for in, want := range map[string]any{
		`0`: int64(0), `-0`: int64(0), `7`: int64(7), `9223372036854775807`: int64(math.MaxInt64), `-9223372036854775808`: int64(math.MinInt64),
		`9223372036854775808`: 9223372036854775808.0, `1.0`: 1.0, `1e2`: 100.0, `1E+2`: 100.0, `1e-2`: 0.01, `-1.25`: -1.25, `true`: true, `false`: false, `null`: nil,
	} {
		tree, _, err := Parse([]byte(`{"a":` + in + `}`))
		if err != nil || tree["a"] != want {
			t.Errorf("%s: got %#v, %v", in, tree["a"], err)
		}
	}
	for _, in := range []string{`-`, `+1`, `01`, `-01`, `1.`, `.5`, `1e`, `1e+`, `1e5.5`, `0x1`, `1_0`, `tru`, `truee`, `nul`, `nulll`, `fals`, `NaN`, `Infinity`, `--1`, `1e400`, `1 2`, `:`, `"a`, `{`, `[`, `[1`, `[1,`, `{"b"`, `{"b":`, `{"b":1`, `{"b":1,`, `{b:1}`, `[1}`} {
		if tree, _, err := Parse([]byte(`{"a":` + in + `}`)); err == nil {
			t.Errorf("%s is read as %v", in, tree)
		}
		if tree, _, err := Parse([]byte(`{"a":` + in)); err == nil {
			t.Errorf("%s, cut off, is read as %v", in, tree)
		}
	}
	for in, want := range map[string]string{
		`[]`: "array", `1`: "number", `1.5`: "number", `"x"`: "string", `true`: "bool", `null`: "null",
	} {
		_, _, err := Parse([]byte(in))
		if err == nil || err.Error() != "json: cannot unmarshal "+want+" into Go value of type map[string]interface {}" {
			t.Errorf("%s: %v", in, err)
		}
	}
}

func TestParseUpToTheDepthOfTheLibrary(t *testing.T) {
	for _, c := range []struct {
		open, shut string
		per        int
	}{{`{"a":`, `}`, 1}, {`[`, `]`, 1}, {`[{"a":`, `}]`, 2}} {
		nested := func(depth int) []byte {
			return []byte(`{"r":` + strings.Repeat(c.open, depth/c.per) + "1" + strings.Repeat(c.shut, depth/c.per) + `}`)
		}
		if _, _, err := Parse(nested(MaxDepth - c.per)); err != nil {
			t.Errorf("%s: %v", c.open, err)
		}
		if _, _, err := Parse(nested(MaxDepth)); err == nil || !strings.Contains(err.Error(), "exceeded max depth") {
			t.Errorf("%s, one more: %v", c.open, err)
		}
		// Depth counts what is open, not what was.
		wide := `{"l":[` + strings.Repeat(c.open+"1"+c.shut+",", MaxDepth+1) + `{},[]]}`
		if _, _, err := Parse([]byte(wide)); err != nil {
			t.Errorf("%s side by side: %v", c.open, err)
		}
		empty := `{"l":[` + strings.Repeat("{},[],", MaxDepth+1) + `1]}`
		if _, _, err := Parse([]byte(empty)); err != nil {
			t.Errorf("empty side by side: %v", err)
		}
	}
}

func TestLookingIntoEncodedObjects(t *testing.T) {
	text := []byte(` {"a":"x\ny","metadata":{"name":"m","labels":{"k":"v"}},"n":null,"l":[1,{"a":2}],"a2":7}`)
	for name, want := range map[string]string{"a": `"x\ny"`, "n": "null", "l": `[1,{"a":2}]`, "a2": "7", "name": "", "k": "", "": ""} {
		if got := Field(text, name); string(got) != want || (got == nil) != (want == "") {
			t.Errorf("%s is %s", name, got)
		}
	}
	for _, bad := range []string{``, `[]`, `1`, `{`, `{"b"`, `["a",1]`} {
		if got := Field([]byte(bad), "a"); got != nil {
			t.Errorf("%s has a: %s", bad, got)
		}
	}
	s, e, err := Metadata(text)
	if err != nil || string(text[s:e]) != `{"name":"m","labels":{"k":"v"}}` {
		t.Errorf("metadata at %d to %d, %v", s, e, err)
	}
	for _, bad := range []string{``, `[]`, `{}`, `{"metadata":null}`, `{"metadata":[]}`, `{"metadata":`, `{"metadata"`, `{"a":1}`, `["metadata",{}]`} {
		if s, e, err := Metadata([]byte(bad)); err != ErrSyntax || s != 0 || e != 0 {
			t.Errorf("%s: %d to %d, %v", bad, s, e, err)
		}
	}
	if s, ok := String([]byte(`"x\ny"`)); s != "x\ny" || !ok {
		t.Errorf("got %q, %t", s, ok)
	}
	for _, bad := range []string{`[]`, `["resourceVersion"]`, `{"a"`, `{"a":1`, ``} {
		if out, err := AppendMetadata(nil, []byte(bad), 1); err != ErrSyntax || out != nil {
			t.Errorf("%s: %s, %v", bad, out, err)
		}
	}
}

// What comes after a character with an escape of its own is escaped, too.
func TestAppendStringGoesOnAfterEveryEscape(t *testing.T) {
	for in, want := range map[string]string{
		"\u2028<\u2029>": `"\u2028\u003c\u2029\u003e"`, "\xff<\xffa": `"\ufffd\u003c\ufffda"`, "<&>": `"\u003c\u0026\u003e"`, "é<": `"é\u003c"`, "\n\"": `"\n\""`,
	} {
		if got := string(AppendString(nil, in)); got != want {
			t.Errorf("%q: got %s, want %s", in, got, want)
		}
	}
	for _, f := range []float64{math.Inf(1), math.Inf(-1), math.NaN()} {
		if out, err := Encode(map[string]any{"a": f}); err == nil {
			t.Errorf("%v: %s", f, out)
		}
	}
}

func TestSetRevision(t *testing.T) {
	for in, want := range map[string]string{
		`{}`:                        `{"metadata":{"resourceVersion":"7"}}`,
		`{"metadata":null}`:         `{"metadata":{"resourceVersion":"7"}}`,
		`{"metadata":{"name":"a"}}`: `{"metadata":{"name":"a","resourceVersion":"7"}}`,
		`{"metadata":{"resourceVersion":"3"},"a":1}`: `{"a":1,"metadata":{"resourceVersion":"7"}}`,
	} {
		tree, _, err := Parse([]byte(in))
		if err != nil {
			t.Fatal(err)
		}
		SetRevision(tree, 7)
		if out, err := Encode(tree); err != nil || string(out) != want {
			t.Errorf("%s: got %s, %v", in, out, err)
		}
	}
}

// What is encoded is kept for long: it has no room to spare, but for the
// newline that stored objects end with, and shares no memory with what is
// encoded next.
func TestEncodingsHaveNoRoomToSpare(t *testing.T) {
	for _, n := range []int{1, 500, 5000, maxEncoding + 1} {
		text := strings.Repeat("x", n)
		out, err := Encode(text)
		if err != nil || len(out) != n+2 || cap(out) != n+3 {
			t.Errorf("%d bytes: %d with room for %d, %v", n, len(out), cap(out), err)
		}
		if _, err := Encode(strings.Repeat("y", n)); err != nil || string(out) != `"`+text+`"` {
			t.Errorf("%d bytes: overwritten, %v", n, err)
		}
	}
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			want := `{"v":"` + strings.Repeat(strconv.Itoa(i), 100) + `"}`
			for range 100 {
				out, err := Encode(map[string]any{"v": strings.Repeat(strconv.Itoa(i), 100)})
				if err != nil || string(out) != want {
					t.Errorf("got %s, %v", out, err)
				}
			}
		})
	}
	wg.Wait()
}

func TestFields(t *testing.T) {
	got := Fields([]byte(` {"a": 1 ,"b":{"c":"x"},"d":[2]} `), "d", "none", "a", "c")
	if string(got[0]) != "[2]" || got[1] != nil || string(got[2]) != "1" || got[3] != nil || len(got) != 4 {
		t.Errorf("got %q", got)
	}
	for _, bad := range []string{"", "1", `{"b":1`, `{"b":`} {
		if got := Fields([]byte(bad), "a"); len(got) != 1 || got[0] != nil {
			t.Errorf("%q: got %q", bad, got)
		}
	}
}
