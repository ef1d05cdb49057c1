package rawjson

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
)

// randomJSON is a value with strings that look like structure.
func randomJSON(r *rand.Rand, depth int) string {
	n := r.IntN(9)
	if depth <= 0 {
		n = r.IntN(5)
	}
	space := strings.Repeat(" ", r.IntN(3))
	switch n {
	case 0:
		return `"` + randomString(r, false) + `"`
	case 1:
		return `"` + strings.Repeat(`\\`, r.IntN(40)) + strings.Repeat(`]}"`[:2], r.IntN(40)) + strings.Repeat(`\"`, r.IntN(40)) + `"`
	case 2:
		return []string{"null", "true", "false"}[r.IntN(3)]
	case 3:
		return []string{"0", "-1", "1.5", "1e5", "12345678901234567890", "-0.5E-3"}[r.IntN(6)]
	case 4:
		return []string{"{}", "[]", "{ }", "[ ]"}[r.IntN(4)]
	case 5, 6:
		var parts []string
		for range 1 + r.IntN(5) {
			parts = append(parts, space+randomJSON(r, depth-1))
		}
		return "[" + strings.Join(parts, space+",") + space + "]"
	}
	var parts []string
	for range 1 + r.IntN(5) {
		parts = append(parts, `"`+randomString(r, false)+`"`+space+":"+space+randomJSON(r, depth-1))
	}
	return "{" + strings.Join(parts, ","+space) + "}"
}

// Skip and Pass find the end of any value, wherever it stands in the blocks
// that Pass reads, and whatever follows.
func TestTheEndOfAnyValue(t *testing.T) {
	for seed := range uint64(4000) {
		r := rand.New(rand.NewPCG(seed, 2))
		value := randomJSON(r, 4)
		if !json.Valid([]byte(value)) {
			t.Fatalf("the test made %s", value)
		}
		before := strings.Repeat(" ", r.IntN(70))
		for _, after := range []string{"", ",", "}", "]", " ", `,"]}":[{`, strings.Repeat(" ", 70) + `"`} {
			text := []byte(before + value + after)
			want := len(before) + len(value)
			if end, err := Skip(text, 0); err != nil || end != want {
				t.Fatalf("Skip(%q) = %d, %v, want %d", text, end, err, want)
			}
			if end := Pass(text, 0); end != want {
				t.Fatalf("Pass(%q) = %d, want %d", text, end, want)
			}
			if end := Pass(text, len(before)); end != want {
				t.Fatalf("Pass(%q, %d) = %d, want %d", text, len(before), end, want)
			}
		}
		cut := value[:r.IntN(len(value)+1)]
		if end, err := Skip([]byte(cut), 0); (err == nil && end == len(cut)) != json.Valid([]byte(cut)) {
			t.Fatalf("Skip(%q) = %d, %v", cut, end, err)
		}
		if end := Pass([]byte(cut), 0); end > len(cut) {
			t.Fatalf("Pass(%q) = %d", cut, end)
		}
	}
}

func TestWhatIsWrongAndWhere(t *testing.T) {
	for _, c := range []struct {
		text string
		err  error
		at   int
	}{
		{``, ErrEnd, 0}, {`  `, ErrEnd, 2}, {`{`, ErrEnd, 1}, {`[`, ErrEnd, 1}, {`[1`, ErrEnd, 2}, {`[1,`, ErrEnd, 3}, {`{"a"`, ErrEnd, 4}, {`{"a":`, ErrEnd, 5},
		{`{"a":1`, ErrEnd, 6}, {`{"a":1,`, ErrEnd, 7}, {`"a`, ErrEnd, 2}, {`tru`, ErrEnd, 0}, {`-`, ErrEnd, 1},
		{`x`, ErrSyntax, 0}, {`trux`, ErrSyntax, 0}, {`nulx`, ErrSyntax, 0}, {`falsx`, ErrSyntax, 0}, {`{1`, ErrSyntax, 1}, {`{"a"x`, ErrSyntax, 4}, {`[1 2`, ErrSyntax, 3},
		{`[1}`, ErrSyntax, 2}, {`{"a":1]`, ErrSyntax, 6}, {`{"a":1,}`, ErrSyntax, 7}, {`[1,]`, ErrSyntax, 3}, {`-x`, ErrSyntax, 1}, {`01`, ErrSyntax, 0}, {`1.x`, ErrSyntax, 2},
		{`1ex`, ErrSyntax, 2}, {`1e+`, ErrSyntax, 3}, {`"\x"`, ErrSyntax, 1}, {"\"a\x1f\"", ErrSyntax, 2}, {`]`, ErrSyntax, 0}, {`,`, ErrSyntax, 0},
		{"\"a\xff\"", ErrUTF8, 1}, {"\"\x80\"", ErrUTF8, 1}, {`1e999`, ErrNumber, 0}, {`-1E+999`, ErrNumber, 0}, {strings.Repeat("9", 400), ErrNumber, 0},
		{`[` + strings.Repeat("9", 299) + `]`, nil, 301}, {strings.Repeat("9", 302), nil, 302}, {` -0 `, nil, 3}, {`1e+5,`, nil, 4}, {`0.0`, nil, 3}, {`00`, ErrSyntax, 0}, {`-01`, ErrSyntax, 1},
	} {
		at, err := Skip([]byte(c.text), 0)
		if !errors.Is(err, c.err) || at != c.at {
			t.Errorf("Skip(%.20q) = %d, %v; want %d, %v", c.text, at, err, c.at, c.err)
		}
	}
}

func TestWhatIsWrongOnAWalk(t *testing.T) {
	for _, c := range []struct {
		text string
		err  error
		end  int
	}{
		{`{}`, nil, 2}, {` [ ] `, nil, 4}, {`{"a":1}x`, nil, 7}, {`[1,2] `, nil, 5}, {`{ "a" : 1 , "b" : 2 }`, nil, 21},
		{`{`, ErrEnd, 1}, {`[1`, ErrEnd, 2}, {`[1,`, ErrEnd, 3}, {`[1, `, ErrEnd, 4}, {`{"a`, ErrEnd, 3}, {`{"a"`, ErrEnd, 4}, {`{"a" `, ErrEnd, 5}, {`{"a":1`, ErrEnd, 6}, {`{"a":1,`, ErrEnd, 7},
		{`{1`, ErrSyntax, 1}, {`{"a"1`, ErrSyntax, 4}, {`{"a":1 "b"`, ErrSyntax, 7}, {`[1 2]`, ErrSyntax, 3}, {`{"a":1,}`, ErrSyntax, 7}, {`{"a":x}`, ErrSyntax, 5}, {`["\x"]`, ErrSyntax, 2},
	} {
		w, err := Open([]byte(c.text), 0, false)
		if err != nil {
			t.Fatal(err)
		}
		for w.Next() {
			w.Value()
		}
		if !errors.Is(w.Err(), c.err) || w.End() != c.end {
			t.Errorf("%s: %v at %d, want %v at %d", c.text, w.Err(), w.End(), c.err, c.end)
		}
		for range 3 {
			if w.Next() || !errors.Is(w.Err(), c.err) || w.End() != c.end {
				t.Errorf("%s: goes on after its end, with %v at %d", c.text, w.Err(), w.End())
			}
		}
		if end := Pass([]byte(c.text), 0); end > len(c.text) {
			t.Errorf("Pass(%s) = %d", c.text, end)
		}
	}
	for text, want := range map[string]error{``: ErrEnd, ` `: ErrEnd, `1`: ErrSyntax, `"a"`: ErrSyntax} {
		if _, err := Open([]byte(text), 0, true); !errors.Is(err, want) {
			t.Errorf("Open(%s): %v", text, err)
		}
	}
}

// What was checked before is not checked again.
func TestATrustedWalkChecksStructureOnly(t *testing.T) {
	text := []byte(`{"a\x":tru,"b":[1}, "c" : "\x" ,"d":` + "\"\xff\"" + `}`)
	keys, values, err := walkAll(text, true)
	if err != nil || strings.Join(keys, " ") != `a\x b c d` || strings.Join(values, " ") != "tru [1} \"\\x\" \"\xff\"" {
		t.Errorf("got %q %q, %v", keys, values, err)
	}
	for _, bad := range []string{`{"a":}`, `{"a":,"b":1}`, `[1,]`, `{"`, `{"a`, `["a"`} {
		if _, _, err := walkAll([]byte(bad), true); err == nil {
			t.Errorf("%s: no error", bad)
		}
	}
}

func TestWalkGoesOnAfterAValuePassedByOthers(t *testing.T) {
	text := []byte(` [ {"a":1} , 7 ]`)
	w, err := Open(text, 0, false)
	if err != nil || w.IsObject() || !w.Next() || w.At() != 3 {
		t.Fatalf("at %d, %v", w.At(), err)
	}
	inner, err := Open(text, w.At(), false)
	if err != nil || !inner.IsObject() || !inner.Next() || string(inner.Key()) != "a" || string(inner.Value()) != "1" || inner.Next() {
		t.Fatal("the inner walk fails")
	}
	w.Resume(inner.End())
	if !w.Next() || string(w.Value()) != "7" || w.Next() || w.Err() != nil || w.End() != len(text) {
		t.Errorf("at %d, %v", w.At(), w.Err())
	}
}

// Strings are passed 8 bytes at a time where these mean themselves; whatever
// comes, and wherever, it is found.
func TestPlainStopsAtTheFirstOddByte(t *testing.T) {
	for c := range 256 {
		for at := range 20 {
			data := []byte(strings.Repeat("a b~\x7f!#[]", 4))
			data[at] = byte(c)
			odd := c < ' ' || c >= 0x80 || c == '"' || c == '\\'
			last := len(data) / 8 * 8 // where no 8 bytes are left
			want := last
			if odd {
				want = at
			}
			if got := Plain(data, 0); got != want {
				t.Fatalf("%#x at %d: stopped at %d, want %d", c, at, got, want)
			}
			// What comes after it does not matter.
			data[at+1] = 0
			if got := Plain(data, 0); odd && got != at || !odd && got != at+1 {
				t.Fatalf("%#x at %d before a zero: stopped at %d", c, at, got)
			}
		}
	}
	if Plain([]byte("abcdefg"), 0) != 0 || Plain([]byte("abcdefgh"), 0) != 8 || Plain([]byte("xabcdefgh"), 1) != 9 || Plain([]byte("xabcdefgh"), 2) != 2 {
		t.Error("it stops too early or too late at the end")
	}
}

func BenchmarkSkip(b *testing.B) {
	data := []byte(`{"apiVersion":"example.com/v1","kind":"Endpoint","metadata":{"annotations":{"example.com/note":"` + strings.Repeat("n", 120) +
		`"},"labels":{"app":"app-1","env":"prod"},"name":"ep-1","namespace":"default"},"spec":{"containers":[{"env":[{"name":"A","value":"1"},{"name":"B","value":"` + strings.Repeat("y", 300) + `"}]}],"paused":false,"replicas":3}}`)
	for b.Loop() {
		if _, err := Skip(data, 0); err != nil {
			b.Fatal(err)
		}
	}
}

// Member finds what a walk finds, in text with and without white space and
// escapes, and ends on anything.
func TestMembersAreThoseOfAWalk(t *testing.T) {
	for seed := range uint64(4000) {
		r := rand.New(rand.NewPCG(seed, 3))
		text := []byte(strings.Repeat(" ", r.IntN(3)) + randomJSON(r, 3) + strings.Repeat("]", r.IntN(12)))
		i, object := Enter(text, 0)
		w, err := Open(text, 0, true)
		if (i == 0) != (err != nil) || i > 0 && object != w.IsObject() {
			t.Fatalf("Enter(%q) = %d, %t; Open says %v", text, i, object, err)
		}
		for i > 0 {
			key, keyEnd, value := Member(text, i, object)
			if more := w.Next(); more != (value > 0) {
				t.Fatalf("%q: at %d Member says %d, and the walk %t", text, i, value, more)
			}
			if value == 0 {
				if key != w.End() {
					t.Fatalf("%q ends at %d, not at %d", text, w.End(), key)
				}
				break
			}
			if value != w.At() || string(text[key:keyEnd]) != string(w.Key()) {
				t.Fatalf("%q: Member finds %q at %d, the walk %q at %d", text, text[key:keyEnd], value, w.Key(), w.At())
			}
			w.Value()
			i = Pass(text, value)
		}
		endsOnAnything(t, text[:r.IntN(len(text)+1)])
	}
	for _, c := range []struct {
		text   string
		object bool
		i      int
	}{{`{]`, true, 1}, {`{"a"`, true, 1}, {`{"abcdefghijk"`, true, 1}, {`{"abcdefghijk":`, true, 1}, {`{"abcdefghijk"1`, true, 1},
		{`{"a`, true, 1}, {`{1`, true, 1}, {`[`, false, 1}, {`[ `, false, 1}, {`{"a":1 `, true, 6}, {`{"a":1,`, true, 6}, {`{"a":1}`, true, 7}} {
		if key, keyEnd, value := Member([]byte(c.text), c.i, c.object); value != 0 && value < len(c.text) || value == 0 && key != 0 {
			t.Errorf("Member(%q, %d) = %d, %d, %d", c.text, c.i, key, keyEnd, value)
		}
	}
}

// endsOnAnything goes over the members of text that may be no JSON.
func endsOnAnything(t *testing.T, text []byte) {
	t.Helper()
	i, object := Enter(text, 0)
	for steps := 0; i > 0; steps++ {
		_, _, value := Member(text, i, object)
		if value == 0 {
			return
		}
		if steps > len(text) || value < i || value > len(text) {
			t.Fatalf("%q: from %d to %d", text, i, value)
		}
		if i = Pass(text, value); i == value {
			return
		}
	}
}
