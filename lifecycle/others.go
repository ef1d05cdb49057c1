package lifecycle

import (
	_ "embed"
	"strings"
)

//go:embed others.txt
var others string

// Other is a feature gate of kube-apiserver's that is none here.
type Other struct {
	// Stage is ALPHA, BETA, GA or DEPRECATED, in the release that is served.
	Stage string
	// On is its default there.
	On bool
	// Locked: it can be set to nothing else.
	Locked bool
}

// OtherGates are those, by name.
func OtherGates() map[string]Other {
	out := map[string]Other{}
	for line := range strings.Lines(others) {
		if words := strings.Fields(line); len(words) >= 3 && words[0] != "#" {
			out[words[0]] = Other{Stage: words[1], On: words[2] == "on", Locked: len(words) > 3}
		}
	}
	return out
}
