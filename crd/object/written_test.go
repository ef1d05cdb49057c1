package object

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// What is compared without being written is what would be written, and nothing
// else.
func TestWhatIsWrittenIsKnownUnwritten(t *testing.T) {
	nested := func(n int) any {
		var v any = "x"
		for range n {
			v = map[string]any{"a": []any{v}}
		}
		return v
	}
	for name, c := range map[string]struct {
		v      any
		seldom bool
	}{
		"null": {nil, false}, "bool": {true, false}, "integer": {int64(-12), false}, "float": {1.5e300, false}, "text": {"x", false}, "empty text": {"", false},
		"escaped": {"a\"b\\c\n<\u2028\x01é\xff", false}, "looks like JSON": {`x","b":"y`, false}, "managed": {Managed(`[{"manager":"m"}]`), false},
		"empty": {map[string]any{"a": map[string]any{}, "b": []any{}}, false}, "nil map": {map[string]any(nil), true}, "nil list": {[]any(nil), true},
		"fields": {map[string]any{"b": int64(1), "a": "x", "": nil, "é": 1.0}, true}, "more": {map[string]any{"b": int64(1), "a": []any{"x", nil, map[string]any{"k": "v"}}}, false},
		"escaped key": {map[string]any{"a\n": int64(1)}, true}, "as deep as usual": {nested(maxTextDepth / 2), false}, "deeper": {nested(maxTextDepth/2 + 1), true},
		"two at a depth": {[]any{nested(maxTextDepth/2 - 1), nested(maxTextDepth/2 - 1)}, false},
	} {
		raw, err := Append(nil, c.v)
		if err != nil {
			t.Fatal(err)
		}
		if IsText(c.v, raw) == c.seldom {
			t.Errorf("%s: %s is said to be %t", name, raw, !c.seldom)
		}
		for i := range raw {
			if IsText(c.v, raw[:i]) {
				t.Errorf("%s: %s is taken for the whole", name, raw[:i])
			}
			other := []byte(string(raw))
			other[i] ^= 1
			if IsText(c.v, other) {
				t.Errorf("%s: %s is taken for %s", name, other, raw)
			}
		}
		if IsText(c.v, append(raw, ' ')) || IsText(c.v, append([]byte(" "), raw...)) {
			t.Errorf("%s: space is passed", name)
		}
	}
	for text, v := range map[string]any{
		`{"b":1,"a":2}`: map[string]any{"a": int64(2), "b": int64(1)}, `{"a":2,"a":2}`: map[string]any{"a": int64(2), "b": int64(2)},
		`{"a":2}`: map[string]any{"a": int64(2), "b": int64(1)}, `{"a":2,"b":1}`: map[string]any{"a": int64(2)}, `"\u0061"`: "a", `{"a":2,}`: map[string]any{"a": int64(2)},
		`"a\n"`: `a\n`, `"x","b":"y"`: `x","b":"y`, `[1,2]`: []any{int64(1)}, `[1]`: []any{int64(1), int64(2)}, `[,1]`: []any{int64(1)}, `{`: map[string]any{}, `["x"`: []any{"x"},
	} {
		if IsText(v, []byte(text)) {
			t.Errorf("%s is taken for %v", text, v)
		}
	}
}

func TestTreesAreComparedWithWhatIsWritten(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	var trees []map[string]any
	var texts [][]byte
	for range 300 {
		tree, _, err := Parse([]byte("{" + strings.ReplaceAll(fieldsLike(r, 2), `"managedFields"`, `"m"`) + "}"))
		if err != nil {
			t.Fatal(err)
		}
		text, err := Encode(tree)
		if err != nil {
			t.Fatal(err)
		}
		trees, texts = append(trees, tree), append(texts, text)
	}
	for i, tree := range trees {
		for _, text := range texts {
			if got, want := IsText(tree, text), string(texts[i]) == string(text); got != want {
				t.Fatalf("%s and %s: %t", texts[i], text, got)
			}
		}
	}
}

// What no text is written for is told from every text.
func TestWhatCannotBeWrittenIsNoText(t *testing.T) {
	for _, v := range []any{make(chan int), math.NaN(), math.Inf(1), func() {}} {
		if _, err := Append(nil, v); err == nil {
			t.Fatalf("%v is written", v)
		}
		for _, raw := range []string{"", "null", "0", `""`} {
			if IsText(v, []byte(raw)) || IsText([]any{v}, []byte("["+raw+"]")) || IsText(map[string]any{"a": v}, []byte(`{"a":`+raw+`}`)) {
				t.Errorf("%q is taken for %T", raw, v)
			}
		}
	}
}
