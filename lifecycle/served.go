package lifecycle

import (
	"fmt"
	"slices"
)

// Served is what one release does with a group.
type Served struct {
	// Versions are those there are, and Deprecated those of them on their way out.
	Versions, Deprecated []string
	// Preferred is the version that clients choose and objects are stored at.
	Preferred string
}

// offers tells whether a release has a version that is not on its way out.
func (s Served) offers(version string) bool {
	return slices.Contains(s.Versions, version) && !slices.Contains(s.Deprecated, version)
}

// CheckReleases returns what is wrong with a group's way through releases, each of
// which is one after the other: who upgrades must be able to go back.
func CheckReleases(releases []Served) (out []Violation) {
	deprecated := map[string]int{} // in which release
	for i, now := range releases {
		bad := func(rule, format string, args ...any) {
			out = append(out, Violation{rule, fmt.Sprintf("in release X+%d ", i) + fmt.Sprintf(format, args...)})
		}
		if !slices.Contains(now.Versions, now.Preferred) {
			bad("4b", "%s is preferred and not there", now.Preferred)
		}
		for _, version := range now.Deprecated {
			if _, known := deprecated[version]; known {
				continue
			}
			deprecated[version] = i
			if !slices.ContainsFunc(now.Versions, func(by string) bool { return now.offers(by) && TrackOf(by) >= TrackOf(version) }) {
				bad("3", "%s is deprecated, and nothing as stable is there instead", version)
			}
		}
		if i == 0 {
			continue
		}
		before := releases[i-1]
		if was := before.Preferred; now.Preferred != was && TrackOf(was) != Alpha &&
			(!slices.Contains(before.Versions, now.Preferred) || !slices.Contains(now.Versions, was)) {
			bad("4b", "%s is preferred instead of %s before both were there in one release", now.Preferred, was)
		}
		for _, version := range before.Versions {
			since, announced := deprecated[version]
			switch {
			case slices.Contains(now.Versions, version) || TrackOf(version) == Alpha:
			case TrackOf(version) == Stable:
				bad("4a", "%s is gone, which was stable", version)
			case !announced || i < since+betaSpan:
				bad("4a", "%s is gone, which was deprecated for less than %d releases", version, betaSpan)
			}
		}
	}
	return out
}
