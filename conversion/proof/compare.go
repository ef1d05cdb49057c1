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
	var walk func(a, b any, place []any)
	walk = func(a, b any, place []any) {
		if len(all) >= maxDifferences {
			return
		}
		switch x := a.(type) {
		case map[string]any:
			if y, ok := b.(map[string]any); ok {
				for _, name := range names(x, y) {
					here := append(place[:len(place):len(place)], name)
					had, hasHad := x[name]
					got, hasGot := y[name]
					if hasHad && hasGot {
						walk(had, got, here)
					} else {
						all = append(all, difference{here, had, got, hasHad, hasGot})
					}
				}
				return
			}
		case []any:
			if y, ok := b.([]any); ok {
				for i := range max(len(x), len(y)) {
					here := append(place[:len(place):len(place)], i)
					switch {
					case i >= len(y):
						all = append(all, difference{place: here, had: x[i], hasHad: true})
					case i >= len(x):
						all = append(all, difference{place: here, got: y[i], hasGot: true})
					default:
						walk(x[i], y[i], here)
					}
				}
				return
			}
		}
		if !object.Equal(a, b) {
			all = append(all, difference{place, a, b, true, true})
		}
	}
	walk(a, b, nil)
	return all
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
