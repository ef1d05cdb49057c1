package body

import (
	"encoding/json"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/wasmgate/wasmgate/gateway/resource"
)

func TestYAMLToJSON_MT05(t *testing.T) {
	for name, c := range map[string]struct{ body, want string }{
		"block":               {"a: 1\nb:\n- x\n- true\n", `{"a":1,"b":["x",true]}`},
		"JSON":                {` {"b": 1, "b": 2, "a": [1.0, 1e2, 1.5]}`, `{"a":[1,100,1.5],"b":2}`},
		"flow is not JSON":    {"{a: 1}", `{"a":1}`},
		"the last key counts": {"a: 1\na: 2\n", `{"a":2}`},
		"aliases":             {"a: &x {num: 1}\nb: *x\nc: [*x, *x]\n", `{"a":{"num":1},"b":{"num":1},"c":[{"num":1},{"num":1}]}`},
		"merge":               {"a: &x {num: 1}\nb:\n  <<: *x\n  m: 2\n", `{"a":{"num":1},"b":{"m":2,"num":1}}`},
		"brackets in text":    {"a: |\n  " + strings.Repeat("[", 5000) + "\n", `{"a":"` + strings.Repeat("[", 5000) + `\n"}`},
		"signs in text":       {"a: 'R&D *'\n", `{"a":"R\u0026D *"}`},
		"an anchor of itself": {"a: &x [*x]\n", ""},
		"unknown anchor":      {"a: *x # &\n", ""},
		"tab":                 {"a:\n\tb: 1\n", ""},
		"not an object's end": {"{", ""},
		"marked":              {"--- # first\na: 1\n...\n", `{"a":1}`},
		"directive":           {"%YAML 1.1\n---\na: 1\n", `{"a":1}`},
		"marks in text":       {"a: |\n  ---\n  b: 2\n  ...\n", `{"a":"---\nb: 2\n...\n"}`},
		"nothing follows":     {"a: 1\n---\n# nothing\n---\n~\n---\n", `{"a":1}`},
		"two documents":       {"a: 1\n---\nb: 2\n", ""},
		"the second is third": {"a: 1\n---\n---\nb: 2\n", ""},
		"nothing comes first": {"---\n---\nb: 2\n", ""},
		"two after an end":    {"a: 1\n...\nb: 2\n", ""},
		"a text follows":      {"a: 1\n--- null text\n", ""},
		"two of JSON":         {"{\"a\": 1}\n---\n{\"b\": 2}\n", ""},
		"the second is none":  {"a: 1\n---\n[\n", ""},
		"deep flow":           {strings.Repeat("[", 1<<20), ""},
		"deep block":          {strings.Repeat("- ", 1<<20), ""},
		"deep with an anchor": {"a: &a 1\nb: *a\nc: " + strings.Repeat("[", 1<<20), ""},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := yamlToJSON([]byte(c.body))
			if c.want == "" {
				if err == nil {
					t.Errorf("%.80q, %v, want a refusal", got, err)
				}
				return
			}
			if err != nil || string(got) != c.want {
				t.Errorf("%.200s %v, want %.200s", got, err, c.want)
			}
		})
	}
}

// A few kilobytes must not become gigabytes.
func TestYAMLToJSON_AliasesAreBounded(t *testing.T) {
	doubling := "a0: &a0 [x, x, x, x, x, x, x, x, x]\n"
	for i := range 9 {
		old := string(rune('0' + i))
		doubling += "a" + string(rune('1'+i)) + ": &a" + string(rune('1'+i)) + " [" + strings.Repeat("*a"+old+",", 9) + "]\n"
	}
	for name, body := range map[string]string{
		"one long string": "a: &a " + strings.Repeat("x", 100<<10) + "\nb: [" + strings.Repeat("*a,", 300_000) + "]\n",
		"doubling":        doubling,
		"a key":           "&a " + strings.Repeat("x", 100<<10) + ": [" + strings.Repeat("*a,", 1000) + "]\n",
		"keys":            "a: &a {" + strings.Repeat("x", 1<<20) + ": 1}\nb: [" + strings.Repeat("*a,", 100) + "]\n",
	} {
		if got, err := yamlToJSON([]byte(body)); err == nil {
			t.Errorf("%s: %d bytes, %v", name, len(got), err)
		}
	}
	if boundAliases([]byte("&a "+strings.Repeat("x", 1<<20)+": 1\nb: ["+strings.Repeat("*a,", 100)+"]\n")) == nil {
		t.Error("an anchor in the first place is not counted")
	}
	if boundAliases([]byte("a: &a [\nb: *a\n")) == nil {
		t.Error("what cannot be read is within bounds")
	}
	// What fits is served.
	if got, err := yamlToJSON([]byte("a: &a " + strings.Repeat("x", 1<<20) + "\nb: [*a, *a, *a]\n")); err != nil || len(got) < 4<<20 {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}

// To kube-apiserver the body of an apply is YAML, and so is what is sent as YAML: JSON that
// YAML reads otherwise, or not at all, is read by it.
func TestJSONThatIsReadAsYAML(t *testing.T) {
	const ok = "\x00"
	for body, want := range map[string]string{
		`{"a":"\ud83d\ude00"}`: "found invalid Unicode character escape code", `{"a":"\uD800"}`: "found invalid Unicode character escape code",
		`{"a":"\/"}`: "found unknown escape character", `{"\/":1}`: "found unknown escape character",
		"{\"a\":\"\x7f\"}": "control characters are not allowed", "{\"a\":\"\u0080\"}": "control characters are not allowed", "{\"a\":\"\ufffe\"}": "control characters are not allowed",
		`{"` + strings.Repeat("k", 1100) + `":1}`: "did not find expected ',' or '}'", "{\"a\"\n:1}": "did not find expected ',' or '}'",
		"\t{\"a\":1}":          "found character that cannot start any token",
		"{\"a\":\"x\u0085y\"}": ok + "x y", "{\"a\":\"x\u2028y\"}": ok + "x\u2028y",
		`{"a":"\u0001\u2028\"\\\b\f\n\r\t\u00e9\udcFf"}`:   "found invalid Unicode character escape code",
		`{"a":"\u0001\u2028\"\\\b\f\n\r\t\u00e9\uD7ff:é"}`: ok + "\x01\u2028\"\\\b\f\n\r\té\ud7ff:é", "\n{\t\"a\" : \"x\"\r\n}\n": ok + "x",
	} {
		got, err := Body{Data: []byte(body)}.Configuration(string(types.ApplyYAMLPatchType), new(resource.WriteOptions))
		if text, good := strings.CutPrefix(want, ok); good && (err != nil || got["a"] != text) || !good && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %q, %v", body, got["a"], err)
		}
		if _, sent := yamlToJSON([]byte(body)); (err == nil) != (sent == nil) {
			t.Errorf("%q: sent as YAML %v, applied %v", body, sent, err)
		}
	}
}

func FuzzYAML_MT05(f *testing.F) {
	for _, s := range []string{"a: &x [1]\nb: *x\n", `{"a":1}`, "- - -", "? a\n: b\n", "a: !!binary x", "<<: {a: 1}", "&a [*a]", "a: .nan"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		if len(body) > 64<<10 {
			return
		}
		out, err := yamlToJSON(body)
		if err != nil {
			return
		}
		if !json.Valid(out) {
			t.Fatalf("not JSON: %q", out)
		}
		// Escapes may take six bytes for one.
		if len(out) > 8*(maxExpanded+len(body)) {
			t.Fatalf("%d bytes became %d", len(body), len(out))
		}
	})
}

// The body of an apply is YAML, also where it looks like JSON, and numbers that are whole
// have no point in what is made of it.
func TestAppliesOfWholeNumbers(t *testing.T) {
	for body, want := range map[string]any{
		`{"a":0.0}`: int64(0), `{"a":-0.0}`: int64(0), `{"a":3.0}`: int64(3), `{"a":1E+2}`: int64(100), `{"a":1e-400}`: int64(0),
		`{"a":9007199254740993.0}`: int64(9007199254740992), `{"a":9223372036854774784.0}`: int64(9223372036854775000),
		`{"a":9223372036854775808}`: float64(1 << 63), `{"a":1.5}`: 1.5, `{"a":7}`: int64(7), "a: 3.0\n": int64(3), `{"a":1e400}`: "1e400",
	} {
		got, err := Body{Data: []byte(body)}.Configuration(string(types.ApplyYAMLPatchType), new(resource.WriteOptions))
		if err != nil || got["a"] != want {
			t.Errorf("%s: %T %v, %v, want %T %v", body, got["a"], got["a"], err, want, want)
		}
	}
}
