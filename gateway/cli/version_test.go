package cli

import (
	"testing"

	"github.com/wasmgate/wasmgate/lifecycle"
)

func TestVersionOfABuild(t *testing.T) {
	const commit = "0123456789abcdef"
	for built, want := range map[lifecycle.Build]string{
		{}:                               "devel",
		{Commit: commit}:                 "devel-0123456789ab",
		{Commit: "0123"}:                 "devel-0123",
		{Commit: commit, Modified: true}: "devel-0123456789ab-dirty",
		{Version: "v1.2.3", Commit: commit, Modified: true}: "v1.2.3",
	} {
		if got := versionOf(built); got != want {
			t.Errorf("%+v: %s, want %s", built, got, want)
		}
	}
}
