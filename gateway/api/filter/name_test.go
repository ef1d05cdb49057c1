package filter

import (
	"regexp"
	"strings"
	"testing"
)

func TestRequestID(t *testing.T) {
	uuid := regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	for _, given := range []string{"mine", "~", "!", strings.Repeat("x", maxID)} {
		if got := requestID(given); got != given {
			t.Errorf("%q became %q", given, got)
		}
	}
	seen := map[string]bool{}
	for _, given := range []string{"", "", strings.Repeat("x", maxID+1), "two words", "line\nbreak", "\x7f", "é"} {
		got := requestID(given)
		if !uuid.MatchString(got) || seen[got] {
			t.Errorf("%q became %q", given, got)
		}
		seen[got] = true
	}
}
