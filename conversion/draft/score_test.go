package draft

import (
	"strings"
	"testing"
)

// fieldOf is a field at a place, whose steps are between slashes.
func fieldOf(t *testing.T, place, text string) *unit {
	t.Helper()
	return newUnit(strings.Split(place, "/"), parsed(t, text))
}

// What stands above a field is the nearest name that says something: no step into items, and
// not the spec or the status of an object.
func TestWhatStandsAboveAField(t *testing.T) {
	for place, want := range map[string]string{
		"name":                               "",
		"spec/name":                          "",
		"status/name":                        "",
		"data/name":                          "data",
		"spec/volume/name":                   "volume",
		"spec/volumes/*/name":                "volume",
		"spec/*/name":                        "",
		"a/spec/name":                        "spec",
		"spec/template/spec/metadataOf/name": "metadata of",
	} {
		if got := strings.Join(fieldOf(t, place, `{}`).above, " "); got != want {
			t.Errorf("%s: %q, want %q", place, got, want)
		}
	}
}

// Only the words of a name that say something, or those of both names where they stand beside
// each other, make two fields share one.
func TestFieldsShareWordsThatSaySomething(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"spec/infrastructureReady", "spec/initial/infrastructureProvisioned", true},
		{"spec/name", "spec/x/name", false},
		{"spec/zone/a", "spec/zone/b", false}, // what both are in says nothing
		{"spec/zone/zoneA", "spec/zone/zoneB", true},
		{"spec/zone/zoneA", "spec/zone/b", false},
		{"spec/zone/a", "spec/zone/zoneB", false},
		{"spec/zone/a", "spec/other/zoneB", true},
		{"spec/a", "spec/b", false},
	} {
		if got := shareWord(fieldOf(t, c.a, `{}`), fieldOf(t, c.b, `{}`)); got != c.want {
			t.Errorf("%s and %s: %t", c.a, c.b, got)
		}
	}
}

// A unit is the last of several words of an integer's name.
func TestUnitsOfNames(t *testing.T) {
	for name, want := range map[string]string{"timeoutSeconds": "s", "delayMillis": "ms", "delayMilliseconds": "ms", "graceMinutes": "m", "keepHours": "h", "seconds": "", "secondsLeft": "", "-": "", "timeout": ""} {
		if got := unitOf(fieldOf(t, name, `{"type":"integer"}`)); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
		if got := unitOf(fieldOf(t, name, `{"type":"string"}`)); got != "" {
			t.Errorf("a text %s: %q", name, got)
		}
	}
}

// How much alike values are: those of another type less than any of the same, those of objects
// and enums by what they have in common, those of lists as their items are.
func TestShapesOfValues(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want float64
	}{
		{`{"type":"string"}`, `{"type":"string"}`, 1},
		{`{"type":"string"}`, `{"type":"integer"}`, 0.75},
		{`{"type":"string","format":"date"}`, `{"type":"string","format":"date"}`, 1},
		{`{"type":"string","format":"date"}`, `{"type":"string"}`, 0.85},
		{`{"type":"string","enum":["a"]}`, `{"type":"string"}`, 0.85},
		{`{"type":"string"}`, `{"type":"string","enum":["a"]}`, 0.85},
		{`{"type":"string","enum":["a","B"]}`, `{"type":"string","enum":["b","A"]}`, 1},
		{`{"type":"string","enum":["a"]}`, `{"type":"string","enum":["b"]}`, 0.6},
		{`{"type":"object"}`, `{"type":"object"}`, 1},
		{`{"type":"object","properties":{"a":{}}}`, `{"type":"object"}`, 0.55},
		{`{"type":"object","properties":{"a":{}}}`, `{"type":"object","properties":{"b":{}}}`, 0.55},
		{`{"type":"object","properties":{"a":{}}}`, `{"type":"object","properties":{"a":{}}}`, 1},
		{`{"type":"array"}`, `{"type":"array"}`, 0.6},
		{`{"type":"array","items":{"type":"string"}}`, `{"type":"array"}`, 0.6},
		{`{"type":"array"}`, `{"type":"array","items":{"type":"string"}}`, 0.6},
		{`{"type":"array","items":{"type":"string"}}`, `{"type":"array","items":{"type":"integer"}}`, 0.6},
		{`{"type":"array","items":{"type":"string","enum":["a"]}}`, `{"type":"array","items":{"type":"string"}}`, 0.85},
	} {
		if got := shape(parsed(t, c.a), parsed(t, c.b)); got != c.want {
			t.Errorf("%s and %s: %v, want %v", c.a, c.b, got, c.want)
		}
	}
}

// What is certain of two fields, and what is only likely.
func TestWhatIsCertain(t *testing.T) {
	const text, object = `{"type":"string"}`, `{"type":"object","properties":{"a":{},"b":{}}}`
	for _, c := range []struct {
		says             string
		a, as, b, bs     string
		names, described float64
		shape, next      float64
		want             bool
	}{
		{"the same name, moved", "spec/zone", text, "spec/x/zone", text, 1, -1, 1, 0, true},
		{"the same words", "spec/zone", text, "spec/x/zone", text, 0.95, -1, 1, 0, true},
		{"words that are only alike", "spec/zone", text, "spec/x/zone", text, 0.94, -1, 1, 0, false},
		{"a name that says little, moved", "spec/name", text, "spec/x/name", text, 1, -1, 1, 0, false},
		{"a name that says little, at its place", "spec/name", text, "spec/Name", text, 0.95, -1, 1, 0, true},
		{"another comes near", "spec/zone", text, "spec/x/zone", text, 1, -1, 1, 0.31, false},
		{"another is as far away as it has to be", "spec/zone", text, "spec/x/zone", text, 1, -1, 1, 0.3, true},
		{"another type", "spec/zone", text, "spec/x/zone", `{"type":"integer"}`, 1, -1, 1, 0, false},
		{"values that are little alike", "spec/zone", text, "spec/x/zone", text, 1, -1, 0.79, 0, false},
		{"values that are alike", "spec/zone", text, "spec/x/zone", text, 1, -1, 0.8, 0, true},
		{"objects with half their fields in common", "spec/zone", object, "spec/x/zone", `{"type":"object","properties":{"a":{}}}`, 1, -1, 1, 0, true},
		{"objects with less in common", "spec/zone", object, "spec/x/zone", `{"type":"object","properties":{"a":{},"c":{}}}`, 1, -1, 1, 0, false},
		{"the same name, and descriptions that say something else", "spec/zone", text, "spec/x/zone", text, 1, 0.29, 1, 0, false},
		{"the same name, and descriptions that are alike", "spec/zone", text, "spec/x/zone", text, 0.95, 0.3, 1, 0, true},
		{"names that are alike, and the same description", "spec/zone", text, "spec/x/zones", text, 0.6, 0.65, 1, 0, true},
		{"names that are little alike, and the same description", "spec/zone", text, "spec/x/area", text, 0.59, 1, 1, 0, false},
		{"names and descriptions that are alike", "spec/zone", text, "spec/x/area", text, 0.94, 0.64, 1, 0, false},
	} {
		l := likeness{score: 0.5, names: c.names, described: c.described, shape: c.shape}
		if got := l.certain(fieldOf(t, c.a, c.as), fieldOf(t, c.b, c.bs), c.next); got != c.want {
			t.Errorf("%s: %t", c.says, got)
		}
	}
}

// What is said of two fields tells what they have in common.
func TestWhatTwoFieldsHaveInCommonIsSaid(t *testing.T) {
	for _, c := range []struct {
		names, described float64
		want             string
	}{
		{1, -1, "the name is the same, there are no descriptions to compare"},
		{0.99, 0, "the names are alike, the descriptions have 0% of their words in common"},
		{0.5, 0.64, "the names are alike, the descriptions have 64% of their words in common"},
		{0.49, 0.65, "the names differ, the descriptions say the same"},
	} {
		if got := (likeness{names: c.names, described: c.described}).why(); got != c.want {
			t.Errorf("%v, %v: %s", c.names, c.described, got)
		}
	}
}

// Fields are compared that can be made of each other: in the same items, of types that have a
// rule, and no object with what is in it.
func TestWhatIsCompared(t *testing.T) {
	const text, object = `{"type":"string"}`, `{"type":"object"}`
	for _, c := range []struct {
		a, as, b, bs string
		want         bool
	}{
		{"zone", text, "x/zone", text, true},
		{"list/*/zone", text, "zone", text, false},
		{"list/*/zone", text, "list/*/x/zone", text, true},
		{"zone", text, "list/*/zone", text, false},
		{"zone", object, "x/zone", text, false},
		{"zone", object, "zone/zone", object, false}, // which is in it
		{"zone/zone", object, "zone", object, false},
		{"zone", text, "zone/zone", text, true},
	} {
		if l := compare(fieldOf(t, c.a, c.as), fieldOf(t, c.b, c.bs)); l.score > 0 != c.want {
			t.Errorf("%s and %s: %+v", c.a, c.b, l)
		}
	}
}

// Descriptions of three words and more that are nearly the same tell a field whatever its name
// is; shorter ones do not.
func TestDescriptionsTellFields(t *testing.T) {
	describe := func(words string) string { return `{"type":"string","description":"` + words + `"}` }
	ten := "one1 two2 three3 four4 five5 six6 seven7 eight8 nine9"
	for _, c := range []struct {
		a, b string
		want float64
	}{
		{"alpha beta gamma", "alpha beta gamma", 0.65},
		{"alpha beta", "alpha beta", 0.5},
		{ten, ten + " ten10", 0.65},
		{ten, ten + " ten10 eleven11", 0.5},
		{"alpha beta gamma", "delta", 0},
		{"alpha beta", "alpha gamma", 0.217},
	} {
		l := compare(fieldOf(t, "zone", describe(c.a)), fieldOf(t, "x/quiver", describe(c.b)))
		if l.names > 0.2 || l.score < c.want-0.001 || l.score > c.want+0.12 {
			t.Errorf("%s and %s: %+v, want %v", c.a, c.b, l, c.want)
		}
	}
	if l := compare(fieldOf(t, "zone", describe("alpha beta")), fieldOf(t, "zone2", `{"type":"string"}`)); l.described != -1 {
		t.Errorf("a description is compared with none: %+v", l)
	}
	if l := compare(fieldOf(t, "zone", `{"type":"string"}`), fieldOf(t, "zone2", describe("alpha beta"))); l.described != -1 {
		t.Errorf("none is compared with a description: %+v", l)
	}
}
