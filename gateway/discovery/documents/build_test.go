package documents

import (
	"testing"

	"github.com/wasmgate/wasmgate/lifecycle"
)

// Who asks for the version is told which build runs.
func TestVersionTellsTheBuild(t *testing.T) {
	for built, want := range map[lifecycle.Build][3]string{
		{}: {"", "clean", ""},
		{Version: "v1", Commit: "abc", Date: "2026-01-02T03:04:05Z"}: {"abc", "clean", "2026-01-02T03:04:05Z"},
		{Commit: "abc", Modified: true}:                              {"abc", "dirty", ""},
	} {
		v := versionOf(lifecycle.Release{}, built)
		if got := [3]string{v.GitCommit, v.GitTreeState, v.BuildDate}; got != want {
			t.Errorf("%+v: %q, want %q", built, got, want)
		}
	}
}
