package builtins

import (
	"maps"
	"os"
	"testing"
)

func TestKnownDifferencesShrink(t *testing.T) {
	file := t.TempDir() + "/known.json"
	k := Known{
		{Why: "one", Count: 4, Rows: map[string]string{"a": "1-3,7"}},
		{Why: "two", Count: 1, Rows: map[string]string{"b": "0"}},
	}
	if err := k.Without(map[string][]int{"a": {2, 7}, "b": {0}}).Save(file); err != nil {
		t.Fatal(err)
	}
	left, err := LoadKnown(file)
	if err != nil {
		t.Fatal(err)
	}
	if want := map[int]string{1: "one", 3: "one"}; !maps.Equal(left.Of("a"), want) || len(left.Of("b")) != 0 {
		t.Errorf("left are %v and %v", left.Of("a"), left.Of("b"))
	}
}

func TestListsOfDifferencesAreChecked(t *testing.T) {
	for name, text := range map[string]string{
		"a count that is wrong": `[{"why":"x","count":2,"rows":{"a":"1"}}]`,
		"no reason":             `[{"count":1,"rows":{"a":"1"}}]`,
		"no range":              `[{"why":"x","count":1,"rows":{"a":"3-1"}}]`,
		"no number":             `[{"why":"x","count":1,"rows":{"a":"b"}}]`,
		"an endless range":      `[{"why":"x","count":1,"rows":{"a":"1-99999999"}}]`,
	} {
		file := t.TempDir() + "/known.json"
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := LoadKnown(file); err == nil {
			t.Errorf("%s: it is read", name)
		}
	}
}
