package options

import (
	"slices"
	"strings"
	"testing"
)

// on are the gates that settings turn on.
func on(t *testing.T, settings ...string) (names []string) {
	t.Helper()
	s := Default()
	s.FeatureGates = settings
	if err := s.Validate(); err != nil {
		t.Errorf("%q: %v", settings, err)
	}
	for _, g := range s.Gates() {
		if g.On != s.Enabled(g.Name) {
			t.Errorf("%q: %s is %v and %v", settings, g.Name, g.On, s.Enabled(g.Name))
		}
		if g.On {
			names = append(names, g.Name)
		}
	}
	return names
}

// What is alpha is off, everything else on, until a setting of the gate or of
// its stage says otherwise.
func TestStagesOfFeatureGates_VER17(t *testing.T) {
	var most, all, stables []string
	for _, g := range gates {
		all = append(all, g.Name)
		if g.Stage != alpha {
			most = append(most, g.Name)
		}
		if g.Stage == stable {
			stables = append(stables, g.Name)
		}
		if g.On != (g.Stage != alpha) {
			t.Errorf("%s is %s, and %v by default", g.Name, g.Stage, g.On)
		}
	}
	if len(stables) == 0 || len(most) == len(stables) || len(all) == len(most) {
		t.Fatal("no gates in some stage")
	}
	without := func(of []string, name string) []string {
		return slices.DeleteFunc(slices.Clone(of), func(n string) bool { return n == name })
	}
	for settings, want := range map[string][]string{
		"":              most,
		"AllAlpha=true": append([]string{"AllAlpha"}, all...),
		"AllBeta=false": stables,
		"AllAlpha=true,CBORServingAndStorage=false": append([]string{"AllAlpha"}, without(all, CBORServingAndStorage)...),
		"WatchList=false":                                  without(most, WatchList),
		"WatchList=false,AllBeta=true":                     append([]string{"AllBeta"}, without(most, WatchList)...),
		"WatchList=false,WatchList=true":                   most,
		"ConsistentListFromCache=true":                     most,
		"AllBeta=false,APIResponseCompression=1":           append([]string{APIResponseCompression}, stables...),
		"CBORServingAndStorage=true,AllAlpha=false":        slices.Sorted(slices.Values(append(slices.Clone(most), CBORServingAndStorage))),
		"ListFromCacheSnapshot=false,AllBeta=true":         append([]string{"AllBeta"}, without(most, ListFromCacheSnapshot)...),
		"APIResponseCompression=false,AllAlpha=false":      without(most, APIResponseCompression),
		"StreamingCollectionEncodingToJSON=T,AllBeta=true": append([]string{"AllBeta"}, most...),
	} {
		got := on(t, slices.DeleteFunc(strings.Split(settings, ","), func(s string) bool { return s == "" })...)
		slices.Sort(got)
		if want = slices.Sorted(slices.Values(want)); !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", settings, got, want)
		}
	}
}

// What is stable may only be turned on, which does nothing and is said to go.
func TestSettingsOfStableFeatureGatesWarn_VER17(t *testing.T) {
	s := Default()
	s.FeatureGates = []string{"WatchList=true", "ConsistentListFromCache=true"}
	if got := s.GateWarnings(); len(got) != 1 || got[0] != "Setting GA feature gate ConsistentListFromCache=true. It will be removed in a future release." {
		t.Errorf("%q", got)
	}
	if usage := GateUsage(); !strings.Contains(usage, "WatchList=true|false (BETA - default=true)\n") && !strings.HasSuffix(usage, "WatchList=true|false (BETA - default=true)") ||
		!strings.Contains(usage, "AllAlpha=true|false (ALPHA - default=false)") || strings.Contains(usage, "Consistent") {
		t.Errorf("--help lists\n%s", usage)
	}
}

// Gates whose features can be turned off no longer are unknown, those of pages
// and of apply among them.
func TestFeatureGates_MT10_VER17_LIST08(t *testing.T) {
	for setting, want := range map[string]string{
		"Nothing=true":                  "--feature-gates: unrecognized feature gate: Nothing",
		"APIListChunking=false":         "--feature-gates: unrecognized feature gate: APIListChunking",
		"ServerSideApply=false":         "--feature-gates: unrecognized feature gate: ServerSideApply",
		"=true":                         "--feature-gates: unrecognized feature gate: ",
		"CBORServingAndStorage":         `--feature-gates: CBORServingAndStorage must be true or false, got ""`,
		"CBORServingAndStorage=maybe":   `--feature-gates: CBORServingAndStorage must be true or false, got "maybe"`,
		"AllAlpha=maybe":                `--feature-gates: AllAlpha must be true or false, got "maybe"`,
		"ConsistentListFromCache=false": "--feature-gates: cannot set feature gate ConsistentListFromCache to false, feature is locked to true",
	} {
		s := Default()
		s.FeatureGates = []string{setting}
		if err := s.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", setting, err)
		}
	}
}
