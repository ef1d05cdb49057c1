package excerpt

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestOf(t *testing.T) {
	word := strings.Repeat("x", 60)
	for _, c := range []struct {
		text string
		most int
		want string
	}{
		{"", 0, ""},
		{"all of it", 9, "all of it"},
		{"all of it", 8, "all of..."},
		{"all of it", 7, "all of..."},
		{"all of it", 6, "all of..."},
		{"all of it", 5, "all..."},
		{"all of it", 2, "al..."},
		{"all of it", 0, "..."},
		{"all of it", -1, "..."},
		{"line\nof it", 5, "line..."},
		{"a " + word, 50, "a " + word[:48] + "..."}, // no word ends near
		{"a " + word, 42, "a " + word[:40] + "..."},
		{"a " + word, 41, "a..."},
		{"äöü", 3, "ä..."},
		{"ä öü", 4, "ä..."},
		{" leading", 4, " lea..."},
		{"\xff\xff\xff", 2, "\xff\xff..."},
		{"\x80\x80\x80", 1, "..."},
	} {
		if got := Of(c.text, c.most); got != c.want {
			t.Errorf("Of(%q, %d) = %q, want %q", c.text, c.most, got, c.want)
		}
	}
}

// FuzzOf: an excerpt is short, and a beginning of the text.
func FuzzOf(f *testing.F) {
	f.Add("some words of it", 7)
	f.Add("äöü \xff", 3)
	f.Fuzz(func(t *testing.T, text string, most int) {
		got := Of(text, most)
		if got == text {
			return
		}
		begin, cut := strings.CutSuffix(got, mark)
		if !cut || len(begin) > max(most, 0) || !strings.HasPrefix(text, begin) || utf8.ValidString(text) && !utf8.ValidString(got) {
			t.Errorf("Of(%q, %d) = %q", text, most, got)
		}
	})
}
