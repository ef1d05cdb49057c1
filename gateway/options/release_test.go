package options

import (
	"strings"
	"testing"
)

func TestReleases_VER21(t *testing.T) {
	for _, test := range []struct{ emulated, shown, want string }{
		{"", "", ""}, {"1.33", "", ""}, {"kube=1.35", "", ""}, {"1.36", "1.35", ""}, {"1.35", "1.34", ""}, {"", "1.35", ""},
		{"1.32", "", "--emulated-version: 1.32 is not between 1.33 and 1.36"},
		{"1.37", "", "--emulated-version: 1.37 is not between 1.33 and 1.36"},
		{"v1.35", "", `--emulated-version: "v1.35" is no release such as 1.36`},
		{"", "1.34", "--show-hidden-metrics-for-version: must be omitted or have the value '1.35'. Only the previous minor version is allowed"},
		{"1.35", "1.35", "must be omitted or have the value '1.34'"},
		{"", "all", "must be omitted or have the value '1.35'"},
	} {
		s := Default()
		s.EmulatedVersion, s.ShowHiddenMetricsForVersion = test.emulated, test.shown
		err := s.Validate()
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%+v: %v", test, err)
		}
	}
}

// Gates are as they were in the release that is emulated.
func TestGatesOfAnEarlierRelease_VER17(t *testing.T) {
	s := Default()
	for release, want := range map[string]bool{"": true, "1.34": true, "1.33": false} {
		if s.EmulatedVersion = release; s.Enabled(WatchList) != want || s.Enabled(ListFromCacheSnapshot) != want {
			t.Errorf("%s: %v", release, s.Gates())
		}
	}
}
