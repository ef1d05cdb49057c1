package draft

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// guessed are the operations between two objects with these properties, each as where it is,
// what it is, and what else it could be.
func guessed(t *testing.T, a, b string) []string {
	t.Helper()
	of := func(properties string) *schema { return parsed(t, `{"type":"object","properties":`+properties+`}`) }
	var all []string
	for _, op := range Between(Version{"v1", of(a)}, Version{"v2", of(b)}).Ops {
		text := op.At + ": "
		switch r := op.Rule; {
		case r.Rename != nil:
			text += "rename to " + r.Rename.To
		case r.Move != nil:
			text += "move to " + r.Move.To
		case r.Split != nil:
			text += "split by " + r.Split.Separator + " into " + strings.Join(r.Split.Into, ",")
		case r.Join != nil:
			text += "join by " + r.Join.Separator + " of " + strings.Join(r.Join.Fields, ",")
		case r.Type != nil:
			text += r.Type.From + " to " + r.Type.To
		case r.Default != nil:
			text += "default " + string(r.Default.Value)
		case r.Keep != nil:
			text += "keep"
		case r.Restore != nil:
			text += "restore"
		case r.Unit != nil:
			text += "unit " + r.Unit.Unit
		case r.CEL != nil:
			text += r.CEL.Expression
		case r.ToList != nil:
			text += "to list"
		case r.FromList != nil:
			text += "from list"
		case r.ListToMap != nil:
			text += "list to map by " + r.ListToMap.Key + " of " + r.ListToMap.Value
		case r.MapToList != nil:
			text += "map to list by " + r.MapToList.Key + " of " + r.MapToList.Value
		case r.Remove != nil:
			text += "remove"
		default:
			text += op.Why
		}
		if !op.Certain {
			text += "?"
		}
		for _, other := range op.Alternatives {
			text += " | " + other
		}
		all = append(all, text)
	}
	return all
}

func expectGuess(t *testing.T, says, a, b string, want ...string) {
	t.Helper()
	if got := guessed(t, a, b); !slices.Equal(got, want) {
		t.Errorf("%s:\n  %s\nwant\n  %s", says, strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
}

// An annotation is named only where the name that rules choose would be too long: by letters
// and digits of the field, and by a sum, as fields may end alike.
func TestAnnotationsWithLongNamesAreNamed(t *testing.T) {
	at := func(n int, last string) []string { return []string{strings.Repeat("a", n-len(last)-1), last} }
	if got := annotation(at(63, "zone")); got != "" {
		t.Errorf("63 bytes: %s", got)
	}
	for last, want := range map[string]string{"zone": "zone", "aAzZ09": "aAzZ09", "a.b_ü": "a-b--", "@[`{/:": "------", strings.Repeat("z", 40): strings.Repeat("z", 40), strings.Repeat("z", 41): strings.Repeat("z", 40)} {
		got := annotation(at(64, last))
		name, ok := strings.CutPrefix(got, "conversion.wasmgate.dev/")
		sum := name[max(0, len(name)-8):]
		if !ok || name != want+"-"+sum || strings.Trim(sum, "0123456789abcdef") != "" {
			t.Errorf("64 bytes with %s: %q", last, got)
		}
	}
	if annotation(at(64, "zone")) == annotation(at(65, "zone")) {
		t.Error("two fields are kept in one annotation")
	}
}

// What a field without a counterpart could be is said, the likeliest first and three at most,
// and each once; what others were taken for with certainty is not among it.
func TestWhatLeftFieldsCouldBeIsSaid(t *testing.T) {
	expectGuess(t, "one that shares a word with what is left",
		`{"zoneOne":{"type":"string","description":"Some alpha beta."}}`,
		`{"a":{"type":"object","properties":{"theZone":{"type":"string","description":"Other gamma delta."},"zoneCount":{"type":"integer"}}}}`,
		"a: restore? | zoneOne is a.zoneCount (33%) | a.theZone, of which the other version has zoneOne", "zoneOne: keep? | zoneOne is a.zoneCount (33%) | zoneOne, of which the other version has a.theZone")
}

// What was taken for something else already leaves no doubt about what it was in, nor does
// what is in other fields.
func TestWhatFoundItsPlaceLeavesNoDoubt(t *testing.T) {
	expectGuess(t, "a part that moved", `{"alpha":{"type":"object","properties":{"zoneId":{"type":"string"},"x":{"type":"integer"}}}}`, `{"zoneID":{"type":"string"},"zoneOther":{"type":"string"}}`,
		"zoneOther: restore", "alpha.zoneId: move to zoneID | alpha.zoneId is zoneOther (31%)", "alpha: keep")
	expectGuess(t, "a field that shares a word with what another has", `{"alpha":{"type":"object","properties":{"x":{"type":"integer"}}},"beta":{"type":"object","properties":{"zoneFirst":{"type":"boolean"}}}}`, `{"c":{"type":"object","properties":{"aBigOtherZone":{"type":"boolean"}}}}`,
		"c: restore? | c.aBigOtherZone, of which the other version has beta.zoneFirst", "alpha: keep", "beta: keep? | beta.zoneFirst, of which the other version has c.aBigOtherZone")
}

// Fields that are needed get a value where what they are in is there without them: beside what
// moved, and not in an object that is optional itself.
func TestNeededFieldsGetValues(t *testing.T) {
	expectGuess(t, "in an object that only the new version has", `{}`, `{"spec":{"type":"object","required":["level"],"properties":{"level":{"type":"integer"}}}}`,
		"spec: restore")
	expectGuess(t, "with a default", `{"spec":{"type":"object"}}`, `{"spec":{"type":"object","required":["level"],"properties":{"level":{"type":"integer","default":1}}}}`,
		"spec.level: restore")
	expectGuess(t, "in an object that something moves into",
		`{"spec":{"type":"object","properties":{"storageClassName":{"type":"string"}}}}`,
		`{"spec":{"type":"object","properties":{"storage":{"type":"object","required":["size","more","storageClassName"],"properties":{"storageClassName":{"type":"string"},"size":{"type":"integer"},"more":{"type":"object","required":["x"],"properties":{"x":{"type":"integer"}}}}}}}}`,
		"spec.storage: restore", "spec.storage.more: v2 requires it and has no default, and no value is known that is valid: add one?", "spec.storage.size: default 0?", "spec.storageClassName: move to spec.storage.storageClassName | spec.storageClassName is spec.storage.size (24%)", `spec.storage.storageClassName: default ""?`)
	const port = `"port":{"type":"integer"}`
	expectGuess(t, "where others that moved are without it",
		`{"host":{"type":"string"},`+port+`}`, `{"endpoint":{"type":"object","required":["host"],"properties":{"host":{"type":"string"},`+port+`}}}`,
		"endpoint: restore? | host is endpoint.host (76%) | host is endpoint.port (23%) | port is endpoint.host (23%)", "host: move to endpoint.host? | host is endpoint.port (23%) | port is endpoint.host (23%)", "port: move to endpoint.port?", `endpoint.host: default ""?`)
	expectGuess(t, "where nothing else is", `{"host":{"type":"string"}}`, `{"endpoint":{"type":"object","required":["host"],"properties":{"host":{"type":"string"}}}}`,
		"endpoint: restore? | host is endpoint.host (76%)", "host: move to endpoint.host?")
	expectGuess(t, "that have a unit", `{"spec":{"type":"object","properties":{"timeoutSeconds":{"type":"integer"}}}}`, `{"spec":{"type":"object","required":["timeout"],"properties":{"timeout":{"type":"string"}}}}`,
		"spec.timeoutSeconds: rename to timeout?", "spec.timeout: unit s?", `spec.timeout: default ""?`)
	expectGuess(t, "which was optional",
		`{"spec":{"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"integer","default":1},"c":{"type":"integer"},"d":{"type":"integer"}},"required":["d"]}}`,
		`{"spec":{"type":"object","required":["a","b","c","d"],"properties":{"a":{"type":"integer"},"b":{"type":"integer"},"c":{"type":"integer","default":1},"d":{"type":"integer"}}}}`,
		"spec.a: default 0?")
}

// What only items have is lost, as annotations keep nothing of them.
func TestFieldsOfItemsAreLost(t *testing.T) {
	for _, c := range []string{`{"list":{"type":"array","items":{"type":"object","properties":{%s}}}}`, `{"list":{"type":"object","additionalProperties":{"type":"object","properties":{%s}}}}`} {
		expectGuess(t, c, fmt.Sprintf(c, `"zone":{"type":"string"}`), fmt.Sprintf(c, `"weight":{"type":"integer"}`),
			"list[*].weight: v1 has nothing like it, and annotations keep nothing of items: at v1 it is lost?", "list[*].zone: remove?")
	}
}

// Whether a field of the same name and of another type is the same one nobody knows: what makes
// room for it is certain only where it is certain what became of the field that was there.
func TestFieldsThatMakeRoom(t *testing.T) {
	const other = "the same field, with another type: write it by hand"
	labels := func(s string) string { return `{"spec":{"type":"object","properties":{"labels":` + s + `}}}` }
	expectGuess(t, "a text, and a map", labels(`{"type":"string"}`), labels(`{"type":"object","additionalProperties":{"type":"string"}}`),
		"spec.labels: rename to labelsOfV1?", "spec.labels: restore? | "+other, "spec.labelsOfV1: keep? | "+other)
	object := `{"type":"object","properties":{"repository":{"type":"string"},"tag":{"type":"string"}}}`
	expectGuess(t, "a text whose parts are told", `{"image":{"type":"string","description":"As repository:tag."}}`, `{"image":`+object+`}`,
		"image: rename to imageOfV1", "image: restore", "imageOfV1: split by : into image.repository,image.tag")
	expectGuess(t, "in items", `{"l":{"type":"array","items":{"type":"object","properties":{"f":{"type":"string"}}}}}`, `{"l":{"type":"array","items":{"type":"object","properties":{"f":{"type":"object"}}}}}`,
		"l[*].f: rename to fOfV1?", "l[*].f: v1 has nothing like it, and annotations keep nothing of items: at v1 it is lost? | "+other, "l[*].fOfV1: remove? | "+other)
}

// What is kept and may be too large for annotations is told, and leaves no doubt of what it is.
func TestKeptFieldsWithoutBoundsAreTold(t *testing.T) {
	const text = `{"type":"string"}`
	for s, want := range map[string]bool{
		text:                                    false,
		`{"type":"array","items":` + text + `}`: true,
		`{"type":"array","maxItems":3,"items":` + text + `}`:                                         false,
		`{"type":"array","maxItems":3,"items":{"type":"array","items":` + text + `}}`:                true,
		`{"type":"object","additionalProperties":` + text + `}`:                                      true,
		`{"type":"object","maxProperties":3,"additionalProperties":` + text + `}`:                    false,
		`{"type":"object","x-kubernetes-preserve-unknown-fields":true}`:                              true,
		`{"type":"object","properties":{"a":` + text + `}}`:                                          false,
		`{"type":"object","properties":{"a":{"type":"object","additionalProperties":` + text + `}}}`: true,
	} {
		with, without := Version{"v1", specWith(t, `"z":`+s)}, Version{"v2", specWith(t, `"other":{"type":"boolean"}`)}
		for _, d := range []Draft{Between(with, without), Between(without, with)} {
			found := false
			for _, op := range d.Ops {
				if op.At != "spec.z" {
					continue
				}
				found = true
				if is := strings.Contains(op.Why, "256 KiB"); is != want || !op.Certain {
					t.Errorf("%s: %+v", s, op)
				}
			}
			if !found {
				t.Errorf("%s: %+v", s, d.Ops)
			}
		}
	}
}
