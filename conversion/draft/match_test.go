package draft

import "testing"

// The likeliest of several is taken, and what else it could be is said: three at most, each
// once, and none of others.
func TestTheLikeliestIsTaken(t *testing.T) {
	const says = `"type":"string","description":"Alpha beta gamma delta."`
	expectGuess(t, "several of one",
		`{"connectTimeout":{"type":"string"}}`,
		`{"a":{"type":"string"},"connectTimeouts":{"type":"string"},"connectionTimeout":{"type":"string"},"readTimeout":{"type":"string"},"timeout":{"type":"string"},"timeoutOfAll":{"type":"string"}}`,
		"a: restore", "connectionTimeout: restore", "readTimeout: restore", "timeout: restore", "timeoutOfAll: restore", "connectTimeout: rename to connectTimeouts | connectTimeout is timeout (63%) | connectTimeout is connectionTimeout (62%) | connectTimeout is readTimeout (42%)")
	expectGuess(t, "one of several",
		`{"connectTimeout":{"type":"string"},"readTimeout":{"type":"string"}}`, `{"timeout":{"type":"string"}}`,
		"connectTimeout: rename to timeout? | readTimeout is timeout (63%)", "readTimeout: keep? | readTimeout is timeout (63%)")
	expectGuess(t, "two that have nothing to do with each other",
		`{"zone":{`+says+`},"cronspec":{"type":"integer"}}`, `{"theZone":{`+says+`},"cronSpec":{"type":"integer"}}`,
		"cronspec: rename to cronSpec | zone is cronSpec (21%)", "zone: rename to theZone")
	expectGuess(t, "what is left after others were taken",
		`{"cronspec":{"type":"integer"},"endpoint":{"type":"string"}}`, `{"cronSpec":{"type":"integer"},"port":{"type":"string"}}`,
		"port: restore? | endpoint is port (26%)", "cronspec: rename to cronSpec", "endpoint: keep? | endpoint is port (26%)")
}

// The whole is moved before what is in it, which is compared then; what it leaves may be at
// yet another place.
func TestTheWholeIsMovedBeforeItsParts(t *testing.T) {
	expectGuess(t, "parts of the same names",
		`{"strategy":{"type":"object","properties":{"maxSurge":{"type":"integer"},"maxGone":{"type":"integer"}}}}`,
		`{"strategies":{"type":"object","properties":{"maxSurge":{"type":"integer"},"maxGone":{"type":"integer"}}}}`,
		"strategy: rename to strategies")
	expectGuess(t, "one part goes elsewhere",
		`{"strategy":{"type":"object","description":"How it is rolled out.","properties":{"maxSurge":{"type":"integer"},"patience":{"type":"string","description":"Alpha beta gamma delta."}}}}`,
		`{"rollout":{"type":"object","description":"How it is rolled out.","properties":{"maxSurge":{"type":"integer"}}},"waiting":{"type":"string","description":"Alpha beta gamma delta."}}`,
		"strategy: rename to rollout?", "rollout.patience: move to waiting?")
	expectGuess(t, "one part comes from elsewhere",
		`{"strategy":{"type":"object","description":"How it is rolled out.","properties":{"maxSurge":{"type":"integer"}}},"waiting":{"type":"string","description":"Alpha beta gamma delta."}}`,
		`{"rollout":{"type":"object","description":"How it is rolled out.","properties":{"maxSurge":{"type":"integer"},"patience":{"type":"string","description":"Alpha beta gamma delta."}}}}`,
		"strategy: rename to rollout?", "waiting: move to rollout.patience?")
}

// A name that says little is only told by what it is in.
func TestNamesThatSayLittleAreToldByWhatTheyAreIn(t *testing.T) {
	expectGuess(t, "in things of other names", `{"alpha":{"type":"object","properties":{"name":{"type":"string"},"x":{"type":"integer"}}}}`, `{"zulu":{"type":"object","properties":{"name":{"type":"string"},"y":{"type":"boolean"}}}}`,
		"zulu: restore? | alpha.name is zulu.name (52%)", "alpha.name: move to zulu.name?", "alpha: keep? | alpha.name is zulu.name (52%)")
	expectGuess(t, "in things of the same name", `{"alpha":{"type":"object","properties":{"name":{"type":"string"},"x":{"type":"integer"}}}}`, `{"b":{"type":"object","properties":{"alpha":{"type":"object","properties":{"name":{"type":"string"},"y":{"type":"boolean"}}}}}}`,
		"b: restore? | alpha is b.alpha (63%) | alpha.name is b.alpha.name (87%)", "alpha: move to b.alpha?", "b.alpha.y: restore", "b.alpha.x: keep")
	expectGuess(t, "of a reference", `{"secretName":{"type":"string"}}`, `{"secretRef":{"type":"object","properties":{"name":{"type":"string"}}}}`,
		"secretRef: restore? | secretName is secretRef.name (58%)", "secretName: move to secretRef.name?")
}

// Numbers with a unit and texts of durations become each other.
func TestUnitsBecomeDurations(t *testing.T) {
	expectGuess(t, "minutes", `{"graceMinutes":{"type":"integer"}}`, `{"grace":{"type":"string"}}`,
		"graceMinutes: rename to grace?", "grace: unit m?")
	expectGuess(t, "a text of seconds", `{"grace":{"type":"string"}}`, `{"graceSeconds":{"type":"integer"}}`,
		"grace: rename to graceSeconds?", "graceSeconds: duration(self).getSeconds()?")
	expectGuess(t, "a text of minutes", `{"grace":{"type":"string"}}`, `{"graceMinutes":{"type":"integer"}}`,
		"grace: rename to graceMinutes?", "graceMinutes: string to integer?")
	expectGuess(t, "numbers", `{"graceSeconds":{"type":"integer"}}`, `{"graceSecs":{"type":"integer"}}`,
		"graceSeconds: rename to graceSecs")
}

// The couple comes first that has the likeliest one in it on both sides, if it is likely, too.
func TestTheOutermostComesFirst(t *testing.T) {
	at := func(a, b string, score float64) couple {
		return couple{fieldOf(t, a, `{}`), fieldOf(t, b, `{}`), likeness{score: score}}
	}
	for _, c := range []struct {
		says string
		all  []couple
		want int
	}{
		{"alone", []couple{at("a/b", "c/b", 1)}, 0},
		{"the whole", []couple{at("a/b", "c/b", 1), at("a", "c", same)}, 1},
		{"the whole, which is unlikely", []couple{at("a/b", "c/b", 1), at("a", "c", same-0.01)}, 0},
		{"only on one side", []couple{at("a/b", "c/b", 1), at("a", "d", 0.9), at("d", "c", 0.9)}, 0},
		{"the whole of the whole", []couple{at("a/b/c", "x/y/c", 1), at("a/b", "x/y", 0.9), at("a", "x", 0.8)}, 2},
	} {
		want := c.all[c.want]
		if outermost(c.all); c.all[0] != want {
			t.Errorf("%s: %v is %v", c.says, c.all[0].a.steps, c.all[0].b.steps)
		}
	}
}
