package options

import (
	"slices"
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/lifecycle"
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
	for _, g := range gatesAt(lifecycle.Gates, lifecycle.Current) {
		off := g.Name == DeclarativeValidationTakeover // beta, and off as in kube-apiserver
		if !off {
			all = append(all, g.Name)
		}
		if g.Stage != alpha && !off {
			most = append(most, g.Name)
		}
		if g.Stage == stable {
			stables = append(stables, g.Name)
		}
		if g.On != (g.Stage != alpha && !off) {
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
		"WatchList=false,AllBeta=true":                     append([]string{"AllBeta", DeclarativeValidationTakeover}, without(most, WatchList)...),
		"WatchList=false,WatchList=true":                   most,
		"ConsistentListFromCache=true":                     most,
		"AllBeta=false,APIResponseCompression=1":           append([]string{APIResponseCompression}, stables...),
		"CBORServingAndStorage=true,AllAlpha=false":        slices.Sorted(slices.Values(append(slices.Clone(most), CBORServingAndStorage))),
		"ListFromCacheSnapshot=false,AllBeta=true":         append([]string{"AllBeta", DeclarativeValidationTakeover}, without(most, ListFromCacheSnapshot)...),
		"APIResponseCompression=false,AllAlpha=false":      without(most, APIResponseCompression),
		"StreamingCollectionEncodingToJSON=T,AllBeta=true": append([]string{"AllBeta", DeclarativeValidationTakeover}, most...),
	} {
		got := on(t, slices.DeleteFunc(strings.Split(settings, ","), func(s string) bool { return s == "" })...)
		slices.Sort(got)
		if want = slices.Sorted(slices.Values(want)); !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", settings, got, want)
		}
	}
}

// What is stable may only be turned on, which does nothing and is said to go, in --help
// as well.
func TestSettingsOfStableFeatureGatesWarn_VER17_VER18(t *testing.T) {
	s := Default()
	s.FeatureGates = []string{"WatchList=true", "ConsistentListFromCache=true"}
	if got := s.GateWarnings(); len(got) != 1 || got[0] != "Setting GA feature gate ConsistentListFromCache=true. It will be removed in a future release. It is not operational: the feature is on." {
		t.Errorf("%q", got)
	}
	if usage := GateUsage(); !strings.Contains(usage, "WatchList=true|false (BETA - default=true)\n") && !strings.HasSuffix(usage, "WatchList=true|false (BETA - default=true)") ||
		!strings.Contains(usage, "AllAlpha=true|false (ALPHA - default=false)") || !strings.Contains(usage, "ConsistentListFromCache=true (GA - DEPRECATED: not operational)") {
		t.Errorf("--help lists\n%s", usage)
	}
}

// What goes although it is not stable warns, and says that it still works.
func TestDeprecatedFeatureGatesWarn_VER18(t *testing.T) {
	old := lifecycle.Gate{Name: "Old", Deprecated: lifecycle.Current, Replacement: "New", Stages: []lifecycle.Stage{{Since: lifecycle.Oldest, Stability: lifecycle.Beta, On: true}}}
	known := gatesAt([]lifecycle.Gate{old}, lifecycle.Current)
	want := "Setting deprecated feature gate Old=false. It will be removed in a future release. It is still operational. Use New."
	if got := gateWarnings(known, []string{"Old=false"}, lifecycle.Current); len(got) != 1 || got[0] != want {
		t.Errorf("%q", got)
	}
	if got := gateWarnings(known, []string{"Old=false", "AllBeta=true"}, lifecycle.Current.Plus(-1)); got != nil {
		t.Errorf("before: %q", got)
	}
	if usage := gateUsage(known, lifecycle.Current); !strings.Contains(usage, "Old=true|false (BETA - default=true - DEPRECATED: still operational. Use New.)") {
		t.Error(usage)
	}
	old.Removed = lifecycle.Current
	if err := gateError(gatesAt([]lifecycle.Gate{old}, lifecycle.Current), "Old=true", lifecycle.Current); err == nil || err.Error() != "unrecognized feature gate: Old" {
		t.Error(err)
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
