package object

import (
	"strings"
	"testing"
)

// Lists are as long as they are, whatever was read before, and what is no JSON.
func TestListsHaveTheirItemsAlone(t *testing.T) {
	long := "[" + strings.Repeat("1,", 1000) + "[2]]"
	for range 3 {
		for _, text := range []string{`{"a":[1,[2,3],{"b":[4]},[]],"c":[[[5]],6]}`, `{"a":` + long + `}`} {
			tree, _, err := Parse([]byte(text))
			if err != nil {
				t.Fatal(err)
			}
			if got, err := Encode(tree); err != nil || string(got) != text {
				t.Fatalf("%s: %.100s, %v", text, got, err)
			}
		}
		if _, _, err := Parse([]byte(`{"a":[1,[2,[3,` + long)); err == nil {
			t.Fatal("what is no JSON was read")
		}
	}
}
