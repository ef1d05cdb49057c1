package lifecycle

import "runtime/debug"

// commit and date say what was built where the build has no repository, as in a
// container:
//
//	go build -ldflags "-X github.com/wasmgate/wasmgate/lifecycle.commit=$(git rev-parse HEAD)"
var commit, date string

// Build is what a program was built of; what nobody knows is "".
type Build struct {
	// Version is that of the module, if it was built by version.
	Version string
	// Commit is the revision, and Date when it was committed, as RFC 3339.
	Commit, Date string
	// Modified tells of changes that are in no commit.
	Modified bool
}

// Built is what this program was built of.
func Built() Build {
	info, _ := debug.ReadBuildInfo()
	return buildOf(info, commit, date)
}

// buildOf reads what Go notes of a build, nil for nothing. What was said by whoever built
// it counts first.
func buildOf(info *debug.BuildInfo, commit, date string) Build {
	b := Build{Commit: commit, Date: date}
	if info == nil {
		return b
	}
	if v := info.Main.Version; v != "(devel)" {
		b.Version = v
	}
	if commit != "" {
		return b
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = s.Value
		case "vcs.time":
			b.Date = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	return b
}
