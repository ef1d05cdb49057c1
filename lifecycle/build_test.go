package lifecycle

import (
	"runtime/debug"
	"testing"
)

func TestWhatWasBuilt(t *testing.T) {
	of := func(version string, settings ...string) *debug.BuildInfo {
		info := &debug.BuildInfo{Main: debug.Module{Version: version}}
		for i := 0; i < len(settings); i += 2 {
			info.Settings = append(info.Settings, debug.BuildSetting{Key: settings[i], Value: settings[i+1]})
		}
		return info
	}
	repository := []string{"-trimpath", "true", "vcs.revision", "abc", "vcs.time", "2026-01-02T03:04:05Z", "vcs.modified", "true"}
	for name, c := range map[string]struct {
		info         *debug.BuildInfo
		commit, date string
		want         Build
	}{
		"nothing is known":        {nil, "", "", Build{}},
		"no repository":           {of("(devel)"), "", "", Build{}},
		"a repository":            {of("(devel)", repository...), "", "", Build{"", "abc", "2026-01-02T03:04:05Z", true}},
		"a version":               {of("v1.2.3", repository[:6]...), "", "", Build{"v1.2.3", "abc", "2026-01-02T03:04:05Z", false}},
		"said by who built it":    {of("(devel)"), "def", "2027-01-02T03:04:05Z", Build{"", "def", "2027-01-02T03:04:05Z", false}},
		"said beside another one": {of("(devel)", repository...), "def", "", Build{Commit: "def"}},
		"said, and nothing else":  {nil, "def", "", Build{Commit: "def"}},
	} {
		if got := buildOf(c.info, c.commit, c.date); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}
