package api

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"
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
		if got := warningHeader(text); got != (Header{"Warning", want}) {
			t.Errorf("%q: %q", text, got.Value)
		}
	}
}

func values(hs []Header) []string {
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
