package object

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	kjson "sigs.k8s.io/json"
)

var samples = []string{
	`{}`, ` { "a" : [ 1 , -2.5e3, true, null, "x\n\u00e9\"" ] } `, `{"a":{"b":[{"c":1,"c":2},{"c":1}]},"a":{}}`,
	`{"n":9223372036854775807,"m":9223372036854775808,"z":0,"f":1.0,"e":1e5}`, `{"a":01}`, `{"a":-}`, `{"a"}`, `[1]`, `null`, `{"a":1}x`,
	`{"a":"\ud83d\ude00","b":"\ud800"}`, `{"":{"":{"a":1,"a":2},"b":[{"":1,"":2}]}}`, `{"a":1,"a":2,"a":3,"b":{"c":1,"c":2},"b":{"c":1,"c":2}}`, "{\"\xff\":1,\"\ufffd\":\"\xe2\x82\u00e9\xff\xff\"}", `{"a":"\x"}`, `{"a":1e999}`, "{\"a\":\"\xff\"}", "{\"a\":\"\x01\"}", `{"a":tru}`, `{"é":"<&> "}`, ``, `{"a":[1,]}`,
}

func FuzzParse(f *testing.F) {
	for _, s := range samples {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got, dups, err := Parse(data)
		var want any
		strict, werr := kjson.UnmarshalStrict(data, &want)
		wm, isMap := want.(map[string]any)
		if (err == nil) != (werr == nil && isMap) {
			t.Fatalf("%q: error %v, library %v", data, err, werr)
		}
		if err != nil {
			return
		}
		if !reflect.DeepEqual(got, wm) {
			t.Fatalf("%q: %#v, library %#v", data, got, wm)
		}
		var wd []string
		for _, e := range strict {
			wd = append(wd, e.Error())
		}
		if len(strict) < 100 && !reflect.DeepEqual(dups, wd) {
			t.Fatalf("%q: duplicates %q, library %q", data, dups, wd)
		}
		enc, err := Encode(got)
		if err != nil {
			t.Fatal(err)
		}
		lib, _ := json.Marshal(wm)
		if string(enc) != string(lib) {
			t.Fatalf("encoded %s, library %s", enc, lib)
		}
	})
}

func TestParseDeep(t *testing.T) {
	deep := strings.Repeat(`{"a":`, MaxDepth+1) + "1" + strings.Repeat("}", MaxDepth+1)
	if _, _, err := Parse([]byte(deep)); err == nil || !strings.Contains(err.Error(), "exceeded max depth") {
		t.Fatalf("got %v", err)
	}
}

func TestWithRevision(t *testing.T) {
	for in, want := range map[string]string{
		`{"metadata":{},"a":1}`:                                     `{"metadata":{"resourceVersion":"7"},"a":1}`,
		`{"metadata":{"name":"x","uid":"u"}}`:                       `{"metadata":{"name":"x","resourceVersion":"7","uid":"u"}}`,
		`{"metadata":{"name":"x","resourceVersion":"3","uid":"u"}}`: `{"metadata":{"name":"x","resourceVersion":"7","uid":"u"}}`,
		`{"metadata":{"uid":"u"}}`:                                  `{"metadata":{"resourceVersion":"7","uid":"u"}}`,
		`{"metadata":{"uid":"u","name":"x"}}`:                       `{"metadata":{"resourceVersion":"7","uid":"u","name":"x"}}`,
		`{"metadata":{"uid":"u","resourceVersion":"3"}}`:            `{"metadata":{"resourceVersion":"7","uid":"u"}}`,
		`{"metadata":{"name":"x","uid":{"a":[1]},"v":2},"z":{}}`:    `{"metadata":{"name":"x","resourceVersion":"7","uid":{"a":[1]},"v":2},"z":{}}`,
		`{"spec":{"metadata":1},"metadata":{"name":"x"}}`:           `{"spec":{"metadata":1},"metadata":{"name":"x","resourceVersion":"7"}}`,
	} {
		got, err := WithRevision([]byte(in), 7)
		if err != nil || string(got) != want {
			t.Errorf("%s: %s, %v; want %s", in, got, err, want)
		}
	}
	for _, in := range []string{``, `{`, `{"metadata":1}`, `{"a":1}`, `[]`, `{"metadata":{"a"}}`, `{"metadata":{"a":1`} {
		if got, err := WithRevision([]byte(in), 7); err == nil {
			t.Errorf("%s: accepted as %s", in, got)
		}
	}
}

// FuzzWithRevision sets the revision of objects as they are stored, which must
// succeed, and of any other text, which must not make another object of it.
func FuzzWithRevision(f *testing.F) {
	f.Add([]byte(`{"metadata":{"name":"x","resourceVersion":"3","uid":"u\\\""},"a":[{},"]"]}`))
	f.Add([]byte(`{"metadata":{},"a":1}`))
	f.Add([]byte(`{"a":{"metadata":{}},"metadata":[]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		tree, dups, err := Parse(data)
		if err != nil || len(dups) > 0 {
			_, _ = WithRevision(data, 42) // ends, whatever it makes of it
			return
		}
		stored, err := Encode(tree)
		if err != nil {
			t.Fatal(err)
		}
		metadata, ok := tree["metadata"].(map[string]any)
		if !ok {
			if out, err := WithRevision(stored, 42); err == nil {
				t.Fatalf("%q without metadata became %q", stored, out)
			}
			return
		}
		metadata["resourceVersion"] = "42"
		out, err := WithRevision(stored, 42)
		if err != nil {
			t.Fatalf("%q is refused: %v", stored, err)
		}
		same(t, out, tree)
		if out, err := WithRevision(data, 42); err == nil {
			same(t, out, tree)
		}
	})
}

// same fails unless data is an object that reads as want.
func same(t *testing.T, data []byte, want map[string]any) {
	t.Helper()
	if back, _, err := Parse(data); err != nil || !reflect.DeepEqual(back, want) {
		t.Fatalf("%q is read as %v, %v; want %v", data, back, err, want)
	}
}

var bench = []byte(`{"apiVersion":"bench.example.com/v1","kind":"Endpoint","metadata":{"name":"ep-1","namespace":"default","labels":{"app":"app-1","tier":"backend","env":"prod"},"annotations":{"example.com/owner":"team-1@example.com","example.com/note":"` + strings.Repeat("n", 120) + `"}},"spec":{"hostPort":"host:8080","replicas":3,"paused":false,"tags":["a","b","c","d"],"containers":[{"name":"main","image":"registry.example.com/app:v1.2.3","env":[{"name":"A","value":"1"},{"name":"B","value":"2"}],"resources":{"limits":{"cpu":"500m"}}}],"selector":{"app":"app-1"}}}`)

func BenchmarkParse(b *testing.B) {
	for b.Loop() {
		if _, _, err := Parse(bench); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkParseLibrary(b *testing.B) {
	for b.Loop() {
		var v any
		if _, err := kjson.UnmarshalStrict(bench, &v); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkEncode(b *testing.B) {
	m, _, _ := Parse(bench)
	for b.Loop() {
		if _, err := Encode(m); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkWithRevision(b *testing.B) {
	for b.Loop() {
		if _, err := WithRevision(bench, 42); err != nil {
			b.Fatal(err)
		}
	}
}
