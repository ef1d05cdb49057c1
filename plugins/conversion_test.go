package plugins

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// A kind that a module names is converted as it says, all others as it says of
// none; a module that says nothing lacks nothing.
func TestWhatAModuleLacks(t *testing.T) {
	needed := []Conversion{{"A", "v1", "v2"}, {"A", "v2", "v1"}, {"B", "v1", "v2"}, {"B", "v2", "v1"}}
	for named, want := range map[string]string{
		`null`:                      "[]",
		`[]`:                        "[A v1 to v2 A v2 to v1 B v1 to v2 B v2 to v1]",
		`[{"from":"v1","to":"v2"}]`: "[A v2 to v1 B v2 to v1]",
		`[{"from":"v1","to":"v2"},{"from":"v2","to":"v1"},{"kind":"A","from":"v1","to":"v2"}]`:                                   "[A v2 to v1]",
		`[{"kind":"A","from":"v1","to":"v2"},{"kind":"A","from":"v2","to":"v1"}]`:                                                "[B v1 to v2 B v2 to v1]",
		`[{"from":"v1","to":"v2"},{"from":"v2","to":"v1"},{"from":"v3","to":"v1"}]`:                                              "[]",
		`[{"kind":"C","from":"v1","to":"v2"},{"from":"v1","to":"v2"},{"from":"v2","to":"v1"},{"kind":"B","from":"v3","to":"v"}]`: "[B v1 to v2 B v2 to v1]",
	} {
		d, err := ParseDescription([]byte(`{"conversions":` + named + `}`))
		if err != nil {
			t.Fatal(named, err)
		}
		if got := fmt.Sprint(Lacking(d.Conversions, needed)); got != want {
			t.Errorf("%s: %s, want %s", named, got, want)
		}
	}
}

func TestConversionsThatCannotBeAreRefused(t *testing.T) {
	one := `{"from":"v1","to":"v2"}`
	for name, text := range map[string]string{
		"no list":   `{"conversions":{}}`,
		"no from":   `{"conversions":[{"to":"v1"}]}`,
		"no to":     `{"conversions":[{"from":"v1"}]}`,
		"long":      `{"conversions":[{"from":"v1","to":"` + strings.Repeat("v", 64) + `"}]}`,
		"long kind": `{"conversions":[{"kind":"` + strings.Repeat("K", 64) + `","from":"v1","to":"v2"}]}`,
		"too many":  `{"conversions":[` + strings.Repeat(one+",", 1000) + one + `]}`,
	} {
		var refused *LoadError
		if _, err := ParseDescription([]byte(text)); !errors.As(err, &refused) || refused.Reason != BadDescription {
			t.Errorf("%s: %v", name, err)
		}
	}
	if d, err := ParseDescription([]byte(`{"conversions":[` + strings.Repeat(one+",", 999) + one + `]}`)); err != nil || len(d.Conversions) != 1000 {
		t.Errorf("as many as there may be: %v", err)
	}
}
