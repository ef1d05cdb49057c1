package options

import (
	"strings"

	"github.com/wasmgate/wasmgate/lifecycle"
)

// Release is the release of Kubernetes that the gateway is like: the current one, or
// the one of --emulated-version.
func (s Serve) Release() lifecycle.Release {
	if r, err := emulated(s.EmulatedVersion); err == nil {
		return r
	}
	return lifecycle.Current
}

// emulated reads a release, with or without the name of the only component.
func emulated(version string) (lifecycle.Release, error) {
	return lifecycle.ParseRelease(strings.TrimPrefix(version, "kube="))
}

func (s Serve) validateReleases(bad func(flag, format string, args ...any)) {
	if s.EmulatedVersion != "" {
		switch r, err := emulated(s.EmulatedVersion); {
		case err != nil:
			bad("emulated-version", "%w", err)
		case r.Before(lifecycle.Oldest) || lifecycle.Current.Before(r):
			bad("emulated-version", "%s is not between %s and %s", r, lifecycle.Oldest, lifecycle.Current)
		}
	}
	// As a release hides more than the one before, who shows what that hides has to
	// look again after an upgrade.
	previous := s.Release().Plus(-1).String()
	if shown := s.ShowHiddenMetricsForVersion; shown != "" && shown != previous {
		bad("show-hidden-metrics-for-version", "must be omitted or have the value '%s'. Only the previous minor version is allowed", previous)
	}
}
