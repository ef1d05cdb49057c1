package proof

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/wasmgate/wasmgate/crd/object"
)

// maxDifferences is how many differences of two objects are looked at.
const maxDifferences = 100

// difference is a value that is not the same in two objects.
type difference struct {
	place          []any // names and keys as strings, items by number
	had, got       any
	hasHad, hasGot bool
}

// differences are those of two trees, from the deepest values on: a field that is
// not there at all, or one value.
func differences(a, b map[string]any) (all []difference) {
	walk(a, b, nil, func(d difference) bool {
		all = append(all, d)
		return len(all) < maxDifferences
	})
	return all
}

// walk tells of all differences of two values at a place, in the order of their names,
// until told does not want more; it reports whether it did.
func walk(a, b any, place []any, told func(difference) bool) bool {
	step := func(step any) []any { return append(place[:len(place):len(place)], step) }
	switch x := a.(type) {
	case map[string]any:
		y, ok := b.(map[string]any)
		if !ok {
			break
		}
		for _, name := range names(x, y) {
			had, hasHad := x[name]
			got, hasGot := y[name]
			more := hasHad && hasGot && walk(had, got, step(name), told) ||
				!(hasHad && hasGot) && told(difference{step(name), had, got, hasHad, hasGot})
			if !more {
				return false
			}
		}
		return true
	case []any:
		y, ok := b.([]any)
		if !ok {
			break
		}
		for i := range max(len(x), len(y)) {
			more := false
			switch {
			case i >= len(y):
				more = told(difference{place: step(i), had: x[i], hasHad: true})
			case i >= len(x):
				more = told(difference{place: step(i), got: y[i], hasGot: true})
			default:
				more = walk(x[i], y[i], step(i), told)
			}
			if !more {
				return false
			}
		}
		return true
	}
	return object.Equal(a, b) || told(difference{place, a, b, true, true})
}

func names(a, b map[string]any) []string {
	all := slices.Collect(maps.Keys(a))
	for name := range b {
		if _, both := a[name]; !both {
			all = append(all, name)
		}
	}
	slices.Sort(all)
	return all
}

// compare is what did not come back as it was: what is missing before what changed,
// and that before what is new.
func (j *journey) compare(had, got map[string]any) *finding {
	had, got = comparable(had), comparable(got)
	var best *finding
	rank := func(f *finding) int {
		switch {
		case !f.hasGot:
			return 0
		case f.hasHad:
			return 1
		}
		return 2
	}
	for _, d := range differences(had, got) {
		f := j.news(&finding{problem: Lost, place: d.place, had: d.had, got: d.got, hasHad: d.hasHad, hasGot: d.hasGot})
		if f != nil && (best == nil || rank(f) < rank(best)) {
			best = f
		}
	}
	return best
}

// comparable is an object with what a converter may say of its metadata only.
func comparable(obj map[string]any) map[string]any {
	out := maps.Clone(obj)
	meta := map[string]any{}
	for _, name := range []string{"labels", "annotations"} {
		if of := object.Child(obj, "metadata", name); len(of) > 0 {
			meta[name] = of
		}
	}
	out["metadata"] = meta
	data, err := object.Encode(out)
	if err != nil {
		return out
	}
	if again, _, err := object.Parse(data); err == nil { // numbers as they are written
		return again
	}
	return out
}

// placeText writes a place: spec.ports[0].name.
func placeText(place []any) string {
	var b strings.Builder
	for _, step := range place {
		switch step := step.(type) {
		case int:
			b.WriteString("[" + strconv.Itoa(step) + "]")
		case string:
			switch {
			case step == "" || strings.ContainsAny(step, ".[]/' \""):
				fmt.Fprintf(&b, "[%q]", step)
			case b.Len() > 0:
				b.WriteString("." + step)
			default:
				b.WriteString(step)
			}
		}
	}
	return b.String()
}

var index = regexp.MustCompile(`\[[^\]]*\]`)

// generic is the path of a field error with [*] for what is in brackets.
func generic(path string) string { return index.ReplaceAllString(path, "[*]") }
