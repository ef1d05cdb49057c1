package lifecycle

import "testing"

// A gate is either here or one of the others, and each other one has a stage.
func TestOtherGatesAreOthers(t *testing.T) {
	all := OtherGates()
	if len(all) < 200 {
		t.Fatalf("%d gates", len(all))
	}
	for _, g := range Gates {
		if _, twice := all[g.Name]; twice {
			t.Errorf("%s is a gate here", g.Name)
		}
	}
	for name, g := range all {
		switch g.Stage {
		case "ALPHA", "BETA", "GA", "DEPRECATED":
		default:
			t.Errorf("%s has the stage %q", name, g.Stage)
		}
		if g.Stage == "ALPHA" && g.On || g.Stage == "GA" && !g.On {
			t.Errorf("%s (%s) is on: %v", name, g.Stage, g.On)
		}
	}
}
