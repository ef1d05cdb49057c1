package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/gateway/options"
	"github.com/wasmgate/wasmgate/gateway/options/workbench"
)

// Of a migration that failed the first objects are named, and the others counted.
func TestFailuresOfAMigrationAreNamed(t *testing.T) {
	failed := &metav1.Condition{Reason: "Stopped", Message: "it cannot go on"}
	for n, want := range map[int]string{0: "", 1: "o0", maxFailuresShown: "o9", maxFailuresShown + 1: "and 1 more", maxFailuresShown + 5: "and 5 more"} {
		var g progress
		for i := range n {
			g.Failures = append(g.Failures, fmt.Sprint("o", i))
		}
		text := migrationError(schema.GroupResource{Group: "example.com", Resource: "tabs"}, "m", failed, g).Error()
		lines := strings.Split(text, "\n")
		if lines[0] != "migration m failed: Stopped: it cannot go on" || lines[len(lines)-1] != "  wasmgate migrate tabs.example.com" || len(lines) != min(n, maxFailuresShown+1)+3 {
			t.Errorf("%d: %s", n, text)
		}
		if last := strings.TrimSpace(lines[len(lines)-3]); n > 0 && last != want {
			t.Errorf("%d: the last is %s, want %s", n, last, want)
		}
	}
}

// What is wrong with the value of a flag is said in words of people; anything else stays.
func TestOtherErrorsOfFlagsStay(t *testing.T) {
	other := errors.New("unknown flag: --odd")
	if got := valueError(other); got != other {
		t.Errorf("%v", got)
	}
}

// A flag without effect is named once, with the value that it was given last.
func TestFlagsWithoutEffectAreNamedOnce(t *testing.T) {
	var set []string
	v := &inertValue{Inert: &options.Inert{Name: "odd", Type: "bool", Only: []string{"true"}}, set: &set}
	if v.Set("false") == nil || len(set) > 0 || v.String() != "" {
		t.Errorf("what cannot be meant is taken: %q, %q", v, set)
	}
	for range 2 {
		if err := v.Set("true"); err != nil || !slices.Equal(set, []string{"odd"}) || v.String() != "true" {
			t.Errorf("%v, %q, %q", err, v, set)
		}
	}
}

// A sample is one test for each version that it was brought to, which fails by what was lost
// on the way there and back, or by why it does not get there.
func TestSamplesAsTests(t *testing.T) {
	loss := func(to, problem, message, had, got string) workbench.Loss {
		return workbench.Loss{From: "v1", To: to, Problem: problem, Place: "spec.a", Message: message, Had: had, Got: got}
	}
	got := cameBack("s", "f", workbench.Sample{Version: "v1", Made: []workbench.Made{{To: "v2"}, {To: "v3"}, {To: "v4", Converted: workbench.Converted{Problem: "no way"}}, {To: "v5"}},
		Losses: []workbench.Loss{loss("v2", "Lost", "", `"x"`, ""), loss("v3", "ConversionFails", "it is odd", "", ""), loss("v2", "Lost", "", "", "1"), loss("v3", "NotDeterministic", "", "1", "2")}})
	want := []testCase{
		{Name: "s: v1 to v2 and back", File: "f", Problem: "Lost of spec.a: \"x\" becomes " + absent("") + "\nLost of spec.a: " + absent("") + " becomes 1"},
		{Name: "s: v1 to v3 and back", File: "f", Problem: "ConversionFails: it is odd\nNotDeterministic of spec.a"},
		{Name: "s: v1 to v4 and back", File: "f", Problem: "no way"}, {Name: "s: v1 to v5 and back", File: "f"},
	}
	if !slices.Equal(got, want) {
		t.Errorf("%+v\nwant\n%+v", got, want)
	}
	if got := cameBack("s", "f", workbench.Sample{Problem: "odd"}); len(got) != 1 || got[0].Problem != "it is no valid sample: odd" {
		t.Errorf("%+v", got)
	}
}
