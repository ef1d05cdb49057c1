package object

import (
	"fmt"
	"testing"
)

func TestStructure(t *testing.T) {
	for text, want := range map[string]string{
		`{"a":[1,{"b":"},]\"{"}],"c":2}`: "{1 [2 ,2 {3 }3 ]2 ,1 }1 ",
		`1`:                              "",
		`"\\"[`:                          "[1 ",
		`]}`:                             "]0 }-1 ",
		`{"a`:                            "{1 ",
		`{"\`:                            "{1 ",
		``:                               "",
	} {
		got := ""
		Structure([]byte(text), func(c byte, depth int) bool {
			got += fmt.Sprintf("%c%d ", c, depth)
			return true
		})
		if got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
	calls := 0
	Structure([]byte(`[[[`), func(byte, int) bool { calls++; return calls < 2 })
	if calls != 2 {
		t.Errorf("it went on for %d calls", calls)
	}
}
