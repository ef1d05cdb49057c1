package api

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/wasmgate/wasmgate/gateway/api/reply"
)

func TestWarningHeader(t *testing.T) {
	for text, want := range map[string]string{
		"example.com/v1beta1 CronTab is deprecated": `299 - "example.com/v1beta1 CronTab is deprecated"`,
		`unknown field "spec.a\b"`:                  `299 - "unknown field \"spec.a\\b\""`,
		"two\r\nlines\tand\x7f\u0085more":           `299 - "two  lines and  more"`,
		"ünïcode ✓":                                 `299 - "ünïcode ✓"`,
		"bad \xff byte":                             "299 - \"bad \ufffd byte\"",
		"":                                          `299 - ""`,
	} {
		if got := warningHeader(text); got != (reply.Header{Name: "Warning", Value: want}) {
			t.Errorf("%q: %q", text, got.Value)
		}
	}
}

func values(hs []reply.Header) []string {
	var out []string
	for _, h := range hs {
		out = append(out, h.Value)
	}
	return out
}

func TestWarnings(t *testing.T) {
	t.Run("each once", func(t *testing.T) {
		var w warnings
		for _, text := range []string{"a", "b", "", "a"} {
			w.add(text)
		}
		if got := values(w.headers()); !reflect.DeepEqual(got, []string{`299 - "a"`, `299 - "b"`}) {
			t.Errorf("%q", got)
		}
	})
	t.Run("a long one stays whole while there is room", func(t *testing.T) {
		var w warnings
		long := strings.Repeat("é", maxWarnings)
		w.add(long)
		if got := values(w.headers()); !reflect.DeepEqual(got, []string{`299 - "` + long + `"`}) {
			t.Errorf("%d headers", len(got))
		}
		w.add("one more")
		if got := values(w.headers()); !reflect.DeepEqual(got, []string{`299 - "` + long[:2*maxWarning] + `"`, `299 - "one more"`}) {
			t.Errorf("%q", got)
		}
	})
	t.Run("too many", func(t *testing.T) {
		var w warnings
		for i := range 1000 {
			w.add(fmt.Sprintf("%d %s", i, strings.Repeat("x", 500)))
		}
		total := 0
		for _, text := range w.list {
			if n := utf8.RuneCountInString(text); n > maxWarning {
				t.Errorf("a warning of %d characters", n)
			}
			total += utf8.RuneCountInString(text)
		}
		if len(w.list) != maxWarnings/maxWarning || total > maxWarnings {
			t.Errorf("%d warnings, %d characters", len(w.list), total)
		}
	})
}

// Warnings come with the reply, each in a header of its own.
func TestWrites_Warn_FV04(t *testing.T) {
	w := newWorld(t)
	const twice = "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: one}\nspec:\n  size: 1\n  size: 2\n  replicas: 1\n  replicas: 2\n  x: 1\n"
	got := w.do("POST", widgets, twice, "Content-Type: application/yaml").want(201, "")
	want := []reply.Header{{Name: "Warning", Value: `299 - "line 6: key \"size\" already set in map"`}, {Name: "Warning", Value: `299 - "line 8: key \"replicas\" already set in map"`}, {Name: "Warning", Value: `299 - "unknown field \"spec.x\""`}}
	if len(got.Headers) != 4 || !reflect.DeepEqual(got.Headers[:3], want) { // the fourth is Audit-Id
		t.Errorf("%v", got.Headers)
	}
	for _, level := range []string{"Warn", "Strict"} { // also besides another refusal
		got = w.do("POST", widgets+"?fieldValidation="+level, strings.Replace(twice, "size: 2", "size: x", 1), "Content-Type: application/yaml")
		if (level == "Warn") != (got.Code == 422 && len(got.Headers) == 4) || got.Code == 201 {
			t.Errorf("%s: %d %v", level, got.Code, got.Headers)
		}
	}
	w.do("PUT", widgets+"/one?fieldValidation=Strict", twice, "Content-Type: application/yaml").want(400, "key \\\"size\\\" already set in map").want(400, "replicas").want(400, "spec.x")
}
