package rawjson

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestSkipAcceptsWhatEncodingJSONAccepts(t *testing.T) {
	for _, s := range seeds {
		checkAgainstStdlib(t, []byte(s))
	}
}

var seeds = []string{
	``, ` `, `null`, `true`, `false`, `tru`, `nul`, `0`, `-0`, `-`, `01`, `1.`, `1.5`, `.5`, `1e5`, `1E+5`, `1e`, `1e-`, `1e999`,
	`""`, `"a`, `"\n"`, `"\x"`, `"\u00e9"`, `"\u00g9"`, `"\ud83d\ude00"`, `"\ud83d"`, "\"\x01\"", `"é"`,
	`{}`, `[]`, `{ }`, `[ ]`, `{"a":1}`, `{"a":1,}`, `{"a" : [1, 2, {"b": null}] }`, `[1,]`, `[,1]`, `{,}`, `{"a"}`, `{"a":}`, `{1:2}`,
	`[1}`, `{"a":1]`, `[[[[]]]]`, `[[[[]]]`, `{"a":{"b":{"c":[{}]}}}`, `"\"`, `"\\"`, `"\\\""`, `[1 2]`, `{"a":1 "b":2}`,
	`{"metadata":{"managedFields":[{"fieldsV1":{"f:a":{},"f:b":{"f:c":{}}},"time":"2026-11-21T08:38:56Z"}],"x":"]}]}"},"y":[1,2,3]}`,
	`{"a":"` + strings.Repeat("x", 61) + `}","b":{"c":"` + strings.Repeat(`\"{`, 40) + `"},"d":"` + strings.Repeat(`\\`, 40) + `"}`,
	`[` + strings.Repeat(`{"k":["v",{}]},`, 30) + `null]`,
}

func checkAgainstStdlib(t *testing.T, data []byte) {
	t.Helper()
	end, err := Skip(data, 0)
	got := err == nil && Space(data, end) == len(data)
	var v any
	want := json.Unmarshal(data, &v) == nil && utf8.Valid(data)
	if got != want {
		t.Fatalf("Skip(%q) = %d, %v; encoding/json accepts it: %v", data, end, err, want)
	}
	if got {
		if p := Pass(data, 0); p != end {
			t.Fatalf("Pass(%q) = %d, Skip says %d", data, p, end)
		}
	}
}

func FuzzSkip(f *testing.F) {
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		checkAgainstStdlib(t, data)
		if p := Pass(data, 0); p > len(data) {
			t.Fatalf("Pass ran to %d of %d", p, len(data))
		}
	})
}

func TestSkipBoundsDepth(t *testing.T) {
	deep := func(n int) []byte { return []byte(strings.Repeat("[", n) + strings.Repeat("]", n)) }
	if _, err := Skip(deep(MaxDepth), 0); err != nil {
		t.Fatalf("depth %d: %v", MaxDepth, err)
	}
	if _, err := Skip(deep(MaxDepth+1), 0); !errors.Is(err, ErrDepth) {
		t.Fatalf("depth %d: %v, want ErrDepth", MaxDepth+1, err)
	}
}

func walkAll(data []byte, trusted bool) (keys, values []string, err error) {
	w, err := Open(data, 0, trusted)
	if err != nil {
		return nil, nil, err
	}
	for w.Next() {
		keys = append(keys, string(w.Key()))
		values = append(values, string(w.Value()))
	}
	return keys, values, w.Err()
}

func TestWalk(t *testing.T) {
	data := []byte(` { "a" : 1, "b\"" : {"x":[1,"]"]} , "c":"}"} `)
	for _, trusted := range []bool{false, true} {
		keys, values, err := walkAll(data, trusted)
		if err != nil || strings.Join(keys, "|") != `a|b\"|c` || strings.Join(values, "|") != `1|{"x":[1,"]"]}|"}"` {
			t.Errorf("trusted=%v: keys %q values %q err %v", trusted, keys, values, err)
		}
	}
	if _, values, err := walkAll([]byte(`[1, "a" ,[]]`), false); err != nil || strings.Join(values, "|") != `1|"a"|[]` {
		t.Errorf("array: %q %v", values, err)
	}
	for _, bad := range []string{`{"a":1,}`, `{"a":1 "b":2}`, `{"a"`, `{"a":`, `[1,,2]`, `[1`, `{"a":tru}`, `7`, `[1,]`} {
		if _, _, err := walkAll([]byte(bad), false); err == nil {
			t.Errorf("%s: no error", bad)
		}
	}
}

func FuzzWalk(f *testing.F) {
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		_, _, _ = walkAll(data, true) // must end, and stay in bounds
		keys, _, err := walkAll(data, false)
		var m map[string]json.RawMessage
		if json.Unmarshal(data, &m) == nil && m != nil && utf8.Valid(data) {
			if err != nil {
				t.Fatalf("walk of %q: %v", data, err)
			}
			for _, k := range keys {
				if _, ok := m[Unescape([]byte(k))]; !ok {
					t.Fatalf("key %q of %q is unknown to encoding/json", k, data)
				}
			}
		}
	})
}

func FuzzString(f *testing.F) {
	for _, s := range []string{"", "a", "\"\\", "\n\x00", "é", "\xff", "\U0001f600"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		enc := AppendString(nil, s)
		var want string
		if err := json.Unmarshal(enc, &want); err != nil {
			t.Fatalf("AppendString(%q) = %s: %v", s, enc, err)
		}
		if got, ok := String(enc); !ok || got != want {
			t.Fatalf("String(%s) = %q, want %q", enc, got, want)
		}
		if std, err := json.Marshal(s); err == nil {
			if got, _ := String(std); got != want {
				t.Fatalf("String(%s) = %q, want %q", std, got, want)
			}
		}
	})
}
