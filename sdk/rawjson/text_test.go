package rawjson

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"
)

// pieces of JSON strings; the last ones are wrong in every string.
var pieces = []string{
	`a`, `é`, `€`, `😀`, ` `, `/`, `0`, `u`, `d`, `{`, `]`, `,`, `\"`, `\\`, `\/`, `\b`, `\f`, `\n`, `\r`, `\t`,
	`\u0041`, `\u00e9`, `\u20AC`, `\uffff`, `\u0000`, `\ud83d`, `\ude00`, `\uD83D\uDE00`, `\ud83d\u0041`, `\ud83d\\`, `\ud83du`,
	`\ud83d\ud83d`, `\u005c`, `\u0022`, strings.Repeat(`x`, 40),
	`\x`, `\u12g4`, `\u123`, `\U0041`, "\x1f", `\u:000`, `\u/000`, `\u000@`, "\\u000`", `\uG000`,
}

const wrongPieces = 10

func randomString(r *rand.Rand, wrong bool) string {
	var b strings.Builder
	n := len(pieces)
	if !wrong {
		n -= wrongPieces
	}
	for range r.IntN(6) {
		b.WriteString(pieces[r.IntN(n)])
	}
	return b.String()
}

// Strings mean what they mean to encoding/json, and nothing else is one.
func TestStringsMeanWhatTheyMeanToEncodingJSON(t *testing.T) {
	for seed := range uint64(20_000) {
		r := rand.New(rand.NewPCG(seed, 1))
		raw := randomString(r, seed%2 == 0)
		quoted := `"` + raw + `"`
		var want string
		err := json.Unmarshal([]byte(quoted), &want)
		end, skipErr := Skip([]byte(quoted), 0)
		if (err == nil) != (skipErr == nil && end == len(quoted)) {
			t.Fatalf("%s: Skip says %d, %v; encoding/json %v", quoted, end, skipErr, err)
		}
		if err != nil {
			Unescape([]byte(raw)) // must end
			continue
		}
		if got := Unescape([]byte(raw)); got != want {
			t.Fatalf("Unescape(%s) = %q, want %q", raw, got, want)
		}
		if got, ok := String([]byte(quoted)); !ok || got != want {
			t.Fatalf("String(%s) = %q, %t", quoted, got, ok)
		}
		if !Equal([]byte(raw), want) {
			t.Fatalf("%s does not equal %q", raw, want)
		}
		for _, other := range []string{want + "a", "a" + want, strings.ToUpper(want) + "b", raw + `\`} {
			if Equal([]byte(raw), other) {
				t.Fatalf("%s equals %q", raw, other)
			}
		}
		if raw != want && Equal([]byte(raw), raw) {
			t.Fatalf("%s equals its own text", raw)
		}
	}
}

func TestEqualTellsStringsApart(t *testing.T) {
	for _, c := range []struct {
		raw, s string
		want   bool
	}{
		{``, ``, true}, {`a`, `a`, true}, {`a`, `b`, false}, {`ab`, `a`, false}, {`a`, `ab`, false}, {``, `a`, false}, {`a`, ``, false},
		{`\u0061`, `a`, true}, {`\u0061`, `b`, false}, {`\n`, "\n", true}, {`\n`, `n`, false}, {`\n`, `\n`, false}, {`\\n`, `\n`, true},
	} {
		if got := Equal([]byte(c.raw), c.s); got != c.want {
			t.Errorf("Equal(%s, %q) = %t", c.raw, c.s, got)
		}
	}
}

func TestOnlyStringsAreStrings(t *testing.T) {
	for _, v := range []string{``, `"`, `a`, `aa`, `"a`, `a"`, `1`, `null`, `{}`, `[""]`} {
		if s, ok := String([]byte(v)); ok || s != "" {
			t.Errorf("%s is the string %q", v, s)
		}
	}
	for v, want := range map[string]bool{`null`: true, `nul`: false, `true`: false, `"nu"`: false, ``: false, `nulll`: false} {
		if IsNull([]byte(v)) != want {
			t.Errorf("IsNull(%s) is %t", v, !want)
		}
	}
}

// Every code point and every byte that begins none is written so that
// encoding/json reads it back, and as short as JSON allows.
func TestAppendStringOfEveryCharacter(t *testing.T) {
	check := func(s, want string) {
		t.Helper()
		got := AppendString([]byte("x"), "<"+s+">")
		var back string
		if err := json.Unmarshal(got[1:], &back); err != nil || got[0] != 'x' {
			t.Fatalf("%q: %s: %v", s, got, err)
		}
		if back != "<"+want+">" {
			t.Fatalf("%q is read back as %q", s, back)
		}
	}
	for c := range rune(0x3000) {
		if c < 0x80 || utf8.ValidRune(c) {
			check(string(c), string(c))
		}
	}
	for _, c := range []rune{0xd7ff, 0xe000, 0xfffd, 0xffff, 0x10000, 0x10ffff} {
		check(string(c), string(c))
	}
	for c := 0x80; c < 0x100; c++ {
		check(string([]byte{byte(c)}), "�")
		check(string([]byte{byte(c), 'a', byte(c)}), "�a�")
	}
	check("\xc3\xc3\xa9", "�é")
	for in, want := range map[string]string{
		"a/<>&'": `"a/<>&'"`, "\"\\": `"\"\\"`, "\n\r\t": `"\n\r\t"`, "\x00\x1f\x7f": "\"\\u0000\\u001f\x7f\"", "\b\f": `"\u0008\u000c"`, "\u2028é": "\"\u2028é\"", "\x80": "\"�\"",
	} {
		if got := string(AppendString(nil, in)); got != want {
			t.Errorf("AppendString(%q) = %s, want %s", in, got, want)
		}
	}
}

func TestAScalarEndsWhereItsNeighbourBegins(t *testing.T) {
	for _, after := range " \n\t\r,:{}[]\"" {
		if end := Pass([]byte("12"+string(after)+"3"), 0); end != 2 {
			t.Errorf("before %q: the end is at %d", after, end)
		}
	}
}
