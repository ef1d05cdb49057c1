package lifecycle

import (
	"slices"
	"strings"
	"testing"
)

func at(minor int) Release {
	if minor == 0 {
		return Release{}
	}
	return Release{1, minor}
}

func life(s Stability, introduced, deprecated, removed int, replacement string) Life {
	return Life{s, at(introduced), at(deprecated), at(removed), replacement}
}

// violated are the rules that are broken, each once.
func violated(all []Violation) string {
	var rules []string
	for _, v := range all {
		rules = append(rules, v.Rule)
	}
	slices.Sort(rules)
	return strings.Join(slices.Compact(rules), " ")
}

// TestPolicy holds made-up tables against the policy, as of release 1.36: what is
// allowed, at its boundary, and what is one release short of it.
func TestPolicy(t *testing.T) {
	part := func(version Life, removed int) []Element {
		return []Element{{Version, "g/v1beta1", "", version}, {Part, "field", "g/v1beta1", life(Beta, 30, 31, removed, "")}}
	}
	pair := func(s Sort, old, by Stability) []Element {
		return []Element{{s, "old", "", life(old, 35, 36, 0, "by")}, {s, "by", "", life(by, 36, 0, 0, "")}}
	}
	one := func(s Sort, l Life) []Element { return []Element{{s, "x", "", l}} }
	for name, test := range map[string]struct {
		table []Element
		want  string
	}{
		"VER-08 a field goes with its version":                {part(life(Beta, 30, 33, 36, ""), 36), ""},
		"VER-08 a field goes before its version":              {part(life(Beta, 30, 33, 36, ""), 35), "1"},
		"VER-08 a field of a version that nobody knows":       {part(life(Beta, 30, 33, 36, ""), 36)[1:], "1"},
		"VER-08 another version stays":                        {append([]Element{{Version, "g/v1", "", life(Stable, 20, 0, 0, "")}}, part(life(Beta, 30, 33, 36, ""), 36)...), ""},
		"VER-10 stable replaces stable":                       {pair(Version, Stable, Stable), ""},
		"VER-10 stable replaces beta":                         {pair(Version, Beta, Stable), ""},
		"VER-10 beta replaces beta":                           {pair(Version, Beta, Beta), ""},
		"VER-10 beta replaces alpha":                          {pair(Version, Alpha, Beta), ""},
		"VER-10 alpha replaces alpha":                         {pair(Version, Alpha, Alpha), ""},
		"VER-10 beta replaces stable":                         {pair(Version, Stable, Beta), "3"},
		"VER-10 alpha replaces stable":                        {pair(Version, Stable, Alpha), "3"},
		"VER-10 alpha replaces beta":                          {pair(Version, Beta, Alpha), "3"},
		"VER-11 what is stable may be deprecated":             {one(Version, life(Stable, 1, 20, 0, "")), ""},
		"VER-11 what is stable goes in the same major":        {one(Version, life(Stable, 1, 20, 40, "")), "4a"},
		"VER-11 what is stable goes in another major":         {one(Version, Life{Stable, at(1), at(20), Release{2, 0}, ""}), ""},
		"VER-11 beta, three releases each":                    {one(Version, life(Beta, 31, 34, 37, "")), ""},
		"VER-11 beta, deprecated too late":                    {one(Version, life(Beta, 31, 35, 38, "")), "4a"},
		"VER-11 beta, never deprecated":                       {one(Version, life(Beta, 32, 0, 0, "")), "4a"},
		"VER-11 beta, not yet deprecated":                     {one(Version, life(Beta, 33, 0, 0, "")), ""},
		"VER-11 beta, gone too early":                         {one(Version, life(Beta, 31, 34, 36, "")), "4a"},
		"VER-11 beta, gone without a word":                    {one(Version, life(Beta, 31, 0, 36, "")), "4a"},
		"VER-11 beta, there too long":                         {one(Version, life(Beta, 30, 32, 38, "")), "4a"},
		"VER-11 alpha goes at any time":                       {one(Version, life(Alpha, 35, 0, 36, "")), ""},
		"VER-14 a flag for users works for a year":            {one(UserFlag, life(Stable, 20, 33, 36, "")), ""},
		"VER-14 a flag for users works for less":              {one(UserFlag, life(Stable, 20, 34, 36, "")), "5a"},
		"VER-14 a beta flag for users works for a release":    {one(UserFlag, life(Beta, 20, 35, 36, "")), ""},
		"VER-14 a beta flag for users goes at once":           {one(UserFlag, life(Beta, 20, 36, 36, "")), "5a"},
		"VER-14 a flag for administrators works half a year":  {one(AdminFlag, life(Stable, 20, 34, 36, "")), ""},
		"VER-14 a flag for administrators works for less":     {one(AdminFlag, life(Stable, 20, 35, 36, "")), "5b"},
		"VER-14 a beta flag for administrators goes at once":  {one(AdminFlag, life(Beta, 20, 36, 36, "")), "5b"},
		"VER-14 a flag goes without a word":                   {one(AdminFlag, life(Stable, 20, 0, 36, "")), "5b"},
		"VER-14 an alpha flag goes at any time":               {one(AdminFlag, life(Alpha, 36, 0, 36, "")), ""},
		"VER-14 a flag is replaced by a less stable one":      {pair(AdminFlag, Stable, Beta), "5c"},
		"VER-14 a flag is replaced by one as stable":          {pair(UserFlag, Beta, Beta), ""},
		"VER-16 behaviour works for a year":                   {one(Behavior, life(Beta, 20, 33, 36, "")), ""},
		"VER-16 behaviour works for less":                     {one(Behavior, life(Alpha, 20, 34, 36, "")), "7"},
		"VER-16 behaviour is replaced by what is less stable": {pair(Behavior, Stable, Beta), "8"},
		"VER-16 behaviour is replaced by what is as stable":   {pair(Behavior, Beta, Stable), ""},
		"VER-19 a stable metric lives for four releases":      {one(Metric, life(Stable, 32, 33, 36, "")), ""},
		"VER-19 a stable metric lives for three":              {one(Metric, life(Stable, 33, 33, 36, "")), "11a"},
		"VER-19 a stable metric works on for two releases":    {one(Metric, life(Stable, 20, 34, 36, "")), "11b"},
		"VER-19 a beta metric lives for two, and one more":    {one(Metric, life(Beta, 34, 35, 36, "")), ""},
		"VER-19 a beta metric lives for one":                  {one(Metric, life(Beta, 35, 35, 36, "")), "11a"},
		"VER-19 a beta metric goes at once":                   {one(Metric, life(Beta, 30, 36, 36, "")), "11b"},
		"VER-19 an alpha metric goes at any time":             {one(Metric, life(Alpha, 36, 0, 36, "")), ""},
		"VER-21 a metric is hidden for one release":           {one(Metric, life(Stable, 20, 32, 0, "")), ""},
		"VER-21 a metric is hidden for two":                   {one(Metric, life(Stable, 20, 31, 0, "")), "11b"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Check(test.table, Current); violated(got) != test.want {
				t.Errorf("%v, want rules %q", got, test.want)
			}
		})
	}
}

// TestPolicyOfGates is the same for gates.
func TestPolicyOfGates_VER18(t *testing.T) {
	stages := func(all ...Stage) []Stage { return all }
	a, b, ga := Stage{at(30), Alpha, false}, Stage{at(32), Beta, true}, Stage{at(34), Stable, true}
	for name, test := range map[string]struct {
		gate Gate
		want string
	}{
		"goes two releases after its feature is stable": {Gate{Stages: stages(a, b, ga), Removed: at(36)}, ""},
		"goes one release after":                        {Gate{Stages: stages(a, b, ga), Removed: at(35)}, "9"},
		"goes with its beta feature":                    {Gate{Stages: stages(a, b), Deprecated: at(35), Removed: at(36)}, ""},
		"goes with its beta feature at once":            {Gate{Stages: stages(a, b), Deprecated: at(36), Removed: at(36)}, "9"},
		"goes with its beta feature without a word":     {Gate{Stages: stages(b), Removed: at(36)}, "9"},
		"goes with its alpha feature":                   {Gate{Stages: stages(a), Removed: at(31)}, ""},
		"is on while alpha":                             {Gate{Stages: stages(Stage{at(30), Alpha, true})}, "9"},
		"is off while stable":                           {Gate{Stages: stages(Stage{at(30), Stable, false})}, "9"},
		"was more stable":                               {Gate{Stages: stages(Stage{at(29), Beta, true}, a)}, "9"},
		"has stages in no order":                        {Gate{Stages: stages(b, Stage{at(31), Stable, true})}, "9"},
	} {
		if got := CheckGates([]Gate{test.gate}); violated(got) != test.want {
			t.Errorf("a gate that %s: %v, want rules %q", name, got, test.want)
		}
	}
}
