package builtins

import "testing"

// fewest is how many requests each kind is asked with at least.
const fewest = 300

func TestEveryKindIsAskedMuch(t *testing.T) {
	stories, err := Stories()
	if err != nil {
		t.Fatal(err)
	}
	told := map[string]bool{}
	for _, s := range stories {
		if len(s.Steps) < fewest {
			t.Errorf("%s has %d requests", s.Name, len(s.Steps))
		}
		if told[s.Name] {
			t.Errorf("%s is there twice", s.Name)
		}
		told[s.Name] = true
	}
}
