package lifecycle

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/apiserver/pkg/features"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/component-base/featuregate"
)

// The tables that behaviour follows from keep to the policy.
func TestTablesKeepToThePolicy_VER14_VER18_VER19(t *testing.T) {
	var all []Element
	for name, life := range Metrics {
		all = append(all, Element{Sort: Metric, Name: name, Life: life})
	}
	for name, life := range Flags {
		all = append(all, Element{Sort: AdminFlag, Name: name, Life: life})
	}
	for now := Oldest; !Current.Before(now); now = now.Plus(1) {
		for _, v := range append(Check(all, now), CheckGates(Gates)...) {
			t.Errorf("in %s: %s", now, v)
		}
	}
}

// Whatever kube-apiserver's library says of a gate's stages is in the table, but
// that a feature could be turned off when it was younger.
func TestGatesHaveKubernetesStages_VER18(t *testing.T) {
	stages := map[Stability]string{Alpha: string(featuregate.Alpha), Beta: string(featuregate.Beta), Stable: ""}
	known := 0
	for now := Oldest; !Current.Before(now); now = now.Plus(1) {
		theirs := utilfeature.DefaultMutableFeatureGate.DeepCopy()
		if err := theirs.SetEmulationVersion(version.MustParse(now.String())); err != nil {
			t.Fatal(err)
		}
		specs := theirs.GetAll()
		for _, g := range Gates {
			spec, ok := specs[featuregate.Feature(g.Name)]
			at := g.At(now)
			if at != nil && at.Stability == Stable && g.Stages[0].Stability == Stable {
				continue // it was never off here
			}
			if at == nil && !ok {
				continue // it is younger than this release
			}
			if at == nil || !ok {
				t.Errorf("%s: nothing is known of %s", g.Name, now)
				continue
			}
			known++
			if strings.HasPrefix(g.Name, "DeclarativeValidation") && now == Current {
				continue // it is younger here
			}
			if stages[at.Stability] != string(spec.PreRelease) || at.On != spec.Default {
				t.Errorf("%s in %s: %s %t, theirs is %q %t", g.Name, now, at.Stability, at.On, spec.PreRelease, spec.Default)
			}
		}
	}
	if known == 0 || features.WatchList != "WatchList" {
		t.Error("no gates were compared")
	}
}

func TestHiddenMetrics_VER21(t *testing.T) {
	l := Life{Stability: Stable, Introduced: Release{1, 20}, Deprecated: Release{1, 33}, Removed: Release{1, 38}}
	for release, want := range map[Release][3]bool{ // there, deprecated, hidden
		{1, 19}: {}, {1, 20}: {true}, {1, 32}: {true}, {1, 33}: {true, true}, {1, 35}: {true, true},
		{1, 36}: {true, true, true}, {1, 37}: {true, true, true}, {1, 38}: {}, {2, 0}: {},
	} {
		if got := [3]bool{l.Exists(release), l.IsDeprecated(release), l.IsHidden(release)}; got != want {
			t.Errorf("%s: %v", release, got)
		}
	}
}

func TestParseRelease(t *testing.T) {
	for text, want := range map[string]Release{"1.36": {1, 36}, "2.0": {2, 0}} {
		if got, err := ParseRelease(text); err != nil || got != want {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "1", "1.", "v1.36", "1.36.3", "1.036", "-1.2", "1.99999", "1.36 "} {
		if got, err := ParseRelease(text); err == nil {
			t.Errorf("%q: %s", text, got)
		}
	}
}
