package draft

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/conversion/rules"
)

// What is deeper than a draft looks, and what is more than it holds, is said not to be
// compared; up to there all is.
func TestTheBoundsOfDraftsAreSaid(t *testing.T) {
	deep := func(levels int, leaf string) *schema {
		return parsed(t, strings.Repeat(`{"type":"object","properties":{"a":`, levels)+leaf+strings.Repeat(`}}`, levels))
	}
	wide := func(n int) *schema {
		var all []string
		for i := range n {
			all = append(all, fmt.Sprintf(`"f%d":{"type":"string","enum":["x"]}`, i))
		}
		return parsed(t, `{"type":"object","properties":{`+strings.Join(all, ",")+`}}`)
	}
	const a, b = `{"type":"string","default":"a"}`, `{"type":"string","default":"b"}`
	for _, c := range []struct {
		says string
		a, b *schema
		ops  int
		cut  bool
	}{
		{"the last level", deep(maxLevels, a), deep(maxLevels, b), 1, false},
		{"one more", deep(maxLevels+1, a), deep(maxLevels+1, b), 0, true},
		{"no fewer fields than are held", wide(0), wide(maxOps), maxOps, false},
		{"one more operation", wide(0), wide(maxOps + 1), maxOps, true},
		{"as many fields as are held", wide(maxPool), wide(0), maxOps, true},
		{"no schema", nil, wide(1), 0, false},
		{"nor here", wide(1), nil, 0, false},
	} {
		w := &work{from: "v1", to: "v2"}
		w.walk(nil, c.a, c.b, 0)
		w.rest()
		if ops := w.ordered(); len(ops) != c.ops || w.cut != c.cut {
			t.Errorf("%s: %d operations, cut %t", c.says, len(ops), w.cut)
		}
	}
	for n, cut := range map[int]bool{maxPool: false, maxPool + 1: true} {
		w := &work{from: "v1", to: "v2"}
		w.walk(nil, wide(n), wide(0), 0)
		if len(w.gone) != maxPool || w.cut != cut {
			t.Errorf("%d fields: %d, cut %t", n, len(w.gone), w.cut)
		}
	}
	for n, cut := range map[int]bool{maxFields - 1: false, maxFields: true} {
		w := &work{from: "v1", to: "v2"}
		all := wide(n)
		if w.walk(nil, all, all, 0); w.cut != cut {
			t.Errorf("%d fields that are the same: cut %t", n, w.cut)
		}
		w, fewer := &work{from: "v1", to: "v2"}, *all
		fewer.Properties = maps.Clone(all.Properties)
		delete(fewer.Properties, "f9999") // the last in order
		if w.walk(nil, all, &fewer, 0); w.cut != cut || (len(w.gone) == 0) != cut {
			t.Errorf("%d fields of which one went: cut %t, %d gone", n, w.cut, len(w.gone))
		}
	}
}

// What is put first stands behind the last operation that moves what is above it, or makes
// room for it, and else before all others.
func TestWhatIsPutFirst(t *testing.T) {
	op := func(at string) Op { return Op{At: at} }
	s := &sequence{}
	s.add(op("move"), []string{"a", "b"})
	s.add(op("again"), []string{"a"})
	s.add(op("other"), []string{"x"})
	s.add(op("stays"), nil)
	s.ops = append(s.ops, placed{Op: op("room"), room: []string{"y"}})
	s.early([]string{"a", "b", "c"}, op("in a.b"))
	s.early([]string{"a"}, op("a itself"))
	s.early([]string{"z", "a"}, op("z"))
	s.early([]string{"y"}, op("y itself"))
	s.early([]string{"y", "c"}, op("in y"))
	s.after = []Op{op("last")}
	var got []string
	for _, o := range s.ordered() {
		got = append(got, o.At)
	}
	if got, want := strings.Join(got, ", "), "a itself, z, move, again, in a.b, other, stays, room, y itself, in y, last"; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

// Remarks do not count for the bound, and are never left out.
func TestRemarksAreNotBounded(t *testing.T) {
	s := &sequence{}
	for i := range 2*maxOps + 2 {
		op := Op{At: fmt.Sprint(i)}
		if i%2 == 0 {
			op.Remove = &rules.Remove{Field: "a"}
		}
		s.add(op, nil)
	}
	if all := s.ordered(); len(all) != 2*maxOps+1 || !s.cut || all[len(all)-1].Remove != nil {
		t.Errorf("%d operations, cut %t", len(all), s.cut)
	}
}

// Which types become each other in their place: those of which a rule makes the other; those
// of which each value is one of the other stay. Others make room.
func TestTypesBecomeEachOther(t *testing.T) {
	types := map[string]string{
		"text": `{"type":"string"}`, "integer": `{"type":"integer"}`, "number": `{"type":"number"}`, "boolean": `{"type":"boolean"}`, "either": `{"x-kubernetes-int-or-string":true}`, "any": `{}`,
		"duration": `{"type":"string","format":"duration"}`, "object": `{"properties":{"a":{"type":"string"}}}`, "map": `{"type":"object","additionalProperties":{"type":"string"}}`,
		"texts": `{"type":"array","items":{"type":"string"}}`, "list": `{"type":"array"}`, "lists": `{"type":"array","items":{"type":"array","items":{"type":"string"}}}`, "objects": `{"type":"array","items":{"type":"object","properties":{"a":{"type":"string"}}}}`,
		"maps": `{"type":"array","items":{"type":"object","additionalProperties":{"type":"string"}}}`, "keyed": `{"type":"array","items":{"type":"object","properties":{"id":{"type":"string"},"v":{"type":"string"}}}}`,
		"keyed by two":     `{"type":"array","x-kubernetes-list-map-keys":["at"],"items":{"type":"object","properties":{"at":{"type":"string"},"name":{"type":"string"},"v":{"type":"string"}}}}`,
		"keyed by numbers": `{"type":"array","items":{"type":"object","properties":{"name":{"type":"integer"},"v":{"type":"string"}}}}`,
		"map of objects":   `{"type":"object","additionalProperties":{"type":"object","properties":{"v":{"type":"string"}}}}`,
	}
	const apart = "f: rename to fOfV1?; f: restore? | the same field, with another type: write it by hand; fOfV1: keep? | the same field, with another type: write it by hand"
	for pair, want := range map[string]string{
		"text integer": "f: string to integer?", "text number": "f: string to number?", "text boolean": "f: string to boolean?", "text either": "", "text any": "", "any text": "f: it is anything in v1, and a string in v2: values that are no such are not valid there?", "any object": "f: it is anything in v1, and an object in v2: values that are no such are not valid there, and what no schema names is dropped?",
		"integer text": "f: integer to string?", "integer number": "", "integer either": "", "integer duration": "f: unit s? | another unit: ms, m, h",
		"integer boolean": "f: it is an integer in v1, and a boolean in v2: no rule makes the one of the other?", "boolean number": "f: it is a boolean in v1, and a number in v2: no rule makes the one of the other?",
		"number text": "f: number to string?", "number duration": "f: number to string?", "number integer": "f: it is a number in v1, and an integer in v2: values that are no such are not valid there?",
		"number either": "f: it is a number in v1, and an int-or-string in v2: values that are no such are not valid there?", "either text": "f: it is an int-or-string in v1, and a string in v2: values that are no such are not valid there?",
		"boolean text": "f: boolean to string?", "duration number": "f: string to number?", "duration integer": "f: it is a string in v1, and an integer in v2: there is no rule for a unit that goes away; write the conversion from v2 to v1?",
		"text texts": "f: to list?", "texts text": "f: from list?", "object objects": "f: to list?", "objects object": "f: from list?", "texts integer": apart, "integer texts": apart, "list integer": apart, "integer list": apart,
		"texts lists": "f[*]: to list?", "lists texts": "f[*]: from list?", "map maps": apart, "maps map": apart, "map text": apart, "text map": apart, "list texts": "", "texts list": "",
		"keyed map": "f: list to map by id of v?", "map keyed": "f: map to list by id of v?", "keyed by two map": "f: list to map by at of ?", "map keyed by two": "f: map to list by at of ?",
		"keyed map of objects": "f: list to map by id of ?", "keyed by numbers map": apart, "map keyed by numbers": apart,
		"texts objects": "f[*]: it is a string in v1, and an object in v2: no rule makes the one of the other?",
		"keyed object":  "f: from list?; f.a: restore; f.id: keep; f.v: keep",
	} {
		var a, b string
		for of := range types {
			if rest, ok := strings.CutPrefix(pair, of+" "); ok && types[rest] != "" {
				a, b = types[of], types[rest]
			}
		}
		if got := strings.Join(guessed(t, `{"f":`+a+`}`, `{"f":`+b+`}`), "; "); got != want {
			t.Errorf("%s: %s\nwant %s", pair, got, want)
		}
	}
}

// Where a list becomes its item, what only the item has is put back into it, and not into the
// list, so that it is there after both ways.
func TestWhatOnlyTheItemOfAListHasComesBack(t *testing.T) {
	a := parsed(t, `{"properties":{"f":{"type":"array","items":{"type":"object","properties":{"id":{"type":"string"}}}}}}`)
	b := parsed(t, `{"properties":{"f":{"type":"object","properties":{"id":{"type":"string"},"zone":{"type":"string"}}}}}`)
	r, errs := rules.Compile(rules.Spec{Conversions: []rules.Conversion{Between(Version{"v1", a}, Version{"v2", b}).Rules()}})
	if len(errs) > 0 {
		t.Fatal(errs.ToAggregate())
	}
	const object = `{"apiVersion":"example.com/v2","kind":"Widget","metadata":{"name":"a"},"f":{"id":"1","zone":"z"}}`
	object1, err := r.Convert(t.Context(), "example.com/v1", [][]byte{[]byte(object)})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(object1[0]), `"f":[{"id":"1"}]`) {
		t.Errorf("%s", object1[0])
	}
	object2, err := r.Convert(t.Context(), "example.com/v2", object1)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(object2[0]), `"zone":"z"`) || strings.Contains(string(object2[0]), `[`) {
		t.Errorf("%s", object2[0])
	}
}

// What maps and lists hold is compared, too, unless either has no schema for it.
func TestWhatMapsHoldIsCompared(t *testing.T) {
	of := func(in string) string { return `{"m":{"type":"object","additionalProperties":` + in + `}}` }
	expectGuess(t, "maps of objects", of(`{"type":"object","properties":{"cronspec":{"type":"string"}}}`), of(`{"type":"object","properties":{"cronSpec":{"type":"string"}}}`), "m[*].cronspec: rename to cronSpec")
	expectGuess(t, "maps of anything", of(`true`), of(`true`))
	expectGuess(t, "anything, and nothing", of(`true`), `{"m":{"type":"object"}}`)
	expectGuess(t, "nothing, and anything", `{"m":{"type":"object"}}`, of(`true`))
	expectGuess(t, "objects without maps", `{"m":{"type":"object"}}`, `{"m":{"type":"object"}}`)
	expectGuess(t, "a map, and an object", of(`{"type":"string"}`), `{"m":{"type":"object"}}`, "m: rename to mOfV1?", "m: restore? | the same field, with another type: write it by hand", "mOfV1: keep? | the same field, with another type: write it by hand")
}
