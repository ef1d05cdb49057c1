package policy

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode"

	"github.com/wasmgate/wasmgate/crd/jsonpatch"
	"github.com/wasmgate/wasmgate/crd/object"
)

// FuzzExpressions_WP02: whatever somebody writes where policies have expressions, a
// write is refused or goes on, and nothing panics.
func FuzzExpressions_WP02(f *testing.F) {
	for _, e := range []string{
		`object.host == 'h'`, `[JSONPatch{op: 'test', path: '/l', value: [null]}]`, `Object{host: 'x'}`, `Object{metadata: Object.metadata{labels: {'a': 'b'}}}`,
		`[1,2].map(x, x * 2)`, `quantity('1e-2000000000')`, `authorizer.group('').resource('pods').check('get').allowed()`, `namespaceObject.metadata.name.matches('(a+)+$')`,
		`object.l[0] == null`, `string(object)`, `Object{l: [Object.l{}]}`, `[JSONPatch{}]`, `dyn([1, 'a', null])`, `timestamp('9999-12-31T23:59:59Z') + duration('1h')`, `{1: 2}`, `request.?options.orValue(1)`,
	} {
		f.Add(e)
	}
	f.Fuzz(func(t *testing.T, e string) {
		w := newWorld(t)
		w.After["l"] = []any{nil, map[string]any{"a": int64(1)}}
		errs := []error{
			w.mutate(w.request(), map[string]string{"p": mutating(config(e))}, nil),
			w.mutate(w.request(), map[string]string{"p": mutating(patching(e))}, nil),
			w.one(fmt.Sprintf(`"matchConditions":[{"name":"c","expression":%s}],"validations":[{"expression":"false"}]`, quoted(e)), ""),
			w.one(fmt.Sprintf(`"validations":[{"expression":%s},{"expression":"false","messageExpression":%[1]s}],"auditAnnotations":[{"key":"k","valueExpression":%[1]s}]`, quoted(e)), ""),
		}
		for _, err := range errs {
			if err != nil && strings.Contains(err.Error(), "has panicked") {
				t.Error(err)
			}
		}
		if w.After["apiVersion"] != "example.com/v1" || w.After["kind"] != "Tab" {
			t.Errorf("it made %v", w.After)
		}
	})
}

// FuzzPatches_WP02: a patch that a policy makes does what it does when a client sends
// it, and ends in an error of the policy's where that is refused.
func FuzzPatches_WP02(f *testing.F) {
	f.Add("test", "/l", "", `[null]`)
	f.Add("add", "/l/-", "", `{"a":[1,2.5,"x",true]}`)
	f.Add("move", "/m", "/l/0", `null`)
	f.Add("copy", "/l/1", "/l", `null`)
	f.Add("remove", "/host", "", `0`)
	f.Add("replace", "", "", `{"kind":"Tab"}`)
	f.Add("add", "/l/18446744073709551615", "", `1`)
	f.Add("odd", "l~1/~0", "/", `"~"`)
	f.Fuzz(func(t *testing.T, op, path, from, value string) {
		var parsed any
		if json.Unmarshal([]byte(value), &parsed) != nil || strings.ContainsFunc(op+path+from+value, func(r rune) bool { return r > unicode.MaxASCII || r < ' ' || r == '\\' }) {
			return
		}
		w := newWorld(t)
		w.After["l"] = []any{nil, map[string]any{"a": int64(1)}}
		before, err := object.Encode(w.After)
		if err != nil {
			t.Fatal(err)
		}
		patch := map[string]any{"op": op, "path": path, "value": parsed}
		if from != "" {
			patch["from"] = from
		}
		text, err := json.Marshal([]any{patch})
		if err != nil {
			t.Fatal(err)
		}
		p, err := jsonpatch.Decode(text)
		if err != nil {
			return
		}
		want, wrong := p.Apply(before)
		err = w.mutate(w.request(), map[string]string{"p": mutating(patching(fmt.Sprintf(`[JSONPatch{op: %q, path: %q, from: %q, value: %s}]`, op, path, from, value)))}, nil)
		switch {
		case err != nil && strings.Contains(err.Error(), "has panicked"):
			t.Error(err)
		case err != nil: // also of values that no expression can have, and of results that are no Tab
		case wrong != nil && !strings.Contains(wrong.Error(), "testing"):
			t.Errorf("%s goes on, and was refused: %v", text, wrong)
		case wrong == nil:
			after, _, err := object.ParseObject(want)
			if err != nil || after["kind"] == nil || after["apiVersion"] == nil {
				return // which the policy's patch is lent
			}
			if !object.Equal(after, w.After) {
				t.Errorf("%s makes %v, and should make %s", text, w.After, want)
			}
		}
	})
}

func quoted(text string) string {
	out, _ := json.Marshal(text)
	return string(out)
}
