// Package lifecycle owns what is known of the life of what users rely on (versions of
// kinds, flags, feature gates, metrics): since which release it is there, how
// stable, from when it is deprecated, what replaces it. Behaviour follows from
// [Gates], [Metrics] and [Flags], and the rules of Kubernetes' deprecation policy
// are held against them. It must not know who serves, parses or counts anything.
//
// Releases are those of Kubernetes whose API is served.
package lifecycle

import (
	"fmt"
	"regexp"
	"strconv"
)

// Release is a minor release. The zero value is none: not yet.
type Release struct{ Major, Minor int }

// Current is the release whose API is served, and Oldest the first that can be
// emulated.
var (
	Current = Release{1, 36}
	Oldest  = Release{1, 33}
)

// GitVersion is what clients are told of [Current], by which they choose how they behave: the
// release whose API is served, and who serves it.
const GitVersion = "v1.36.3+wasmgate"

// IsZero tells that there is no such release yet.
func (r Release) IsZero() bool { return r == Release{} }

// String is the release as users write it.
func (r Release) String() string { return fmt.Sprintf("%d.%d", r.Major, r.Minor) }

// Before tells whether r came first.
func (r Release) Before(o Release) bool {
	return r.Major < o.Major || r.Major == o.Major && r.Minor < o.Minor
}

// Reached tells whether r came by the time of now.
func (r Release) Reached(now Release) bool { return !r.IsZero() && !now.Before(r) }

// Plus is n minor releases after r.
func (r Release) Plus(n int) Release { return Release{r.Major, r.Minor + n} }

var release = regexp.MustCompile(`^(0|[1-9]\d{0,3})\.(0|[1-9]\d{0,3})$`)

// ParseRelease reads a release such as 1.36.
func ParseRelease(s string) (Release, error) {
	m := release.FindStringSubmatch(s)
	if m == nil {
		return Release{}, fmt.Errorf("%q is no release such as %s", s, Current)
	}
	major, _ := strconv.Atoi(m[1]) // digits, as few as fit
	minor, _ := strconv.Atoi(m[2])
	return Release{major, minor}, nil
}

// Stability is how much users may rely on something; the greater is the more stable.
type Stability int

// What is not said to be anything else is Alpha.
const (
	Alpha Stability = iota
	Beta
	Stable
)

// String is how kube-apiserver writes it where it tells of metrics.
func (s Stability) String() string {
	return [...]string{Alpha: "ALPHA", Beta: "BETA", Stable: "STABLE"}[s]
}

// tracks are the forms of names of versions.
var tracks = [...]*regexp.Regexp{
	Alpha: regexp.MustCompile(`^v[1-9]\d*alpha[1-9]\d*$`), Beta: regexp.MustCompile(`^v[1-9]\d*beta[1-9]\d*$`), Stable: regexp.MustCompile(`^v[1-9]\d*$`),
}

// TrackOf is how stable a version is by its name; what has another form promises nothing.
func TrackOf(version string) Stability {
	for s, form := range tracks {
		if form.MatchString(version) {
			return Stability(s)
		}
	}
	return Alpha
}

// Life is from when to when something is there.
type Life struct {
	Stability Stability
	// Introduced is the release it came with, Deprecated the one that announced its
	// end, Removed the first without it.
	Introduced, Deprecated, Removed Release
	// Replacement says what to use instead, in words; it is not needed.
	Replacement string
}

// Exists tells whether it is there in a release.
func (l Life) Exists(now Release) bool { return !now.Before(l.Introduced) && !l.Removed.Reached(now) }

// IsDeprecated tells whether it is there and on its way out.
func (l Life) IsDeprecated(now Release) bool { return l.Deprecated.Reached(now) && l.Exists(now) }

// hiddenAfter is how many releases after its deprecation a metric is not shown.
const hiddenAfter = 3

// IsHidden tells whether a metric is there and shown only to who asks for it.
func (l Life) IsHidden(now Release) bool {
	return l.IsDeprecated(now) && l.Deprecated.Plus(hiddenAfter).Reached(now)
}
