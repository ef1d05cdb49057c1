package proof

import (
	"context"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// maxFailures is how many failures of a pair are looked at.
const maxFailures = 6

// failed is a failed conversion, or nil for one that is known.
func (j *journey) failed(err error, of map[string]any) *finding {
	if j.failures >= maxFailures {
		return nil
	}
	text := err.Error()
	return j.news(&finding{problem: Fails, message: text, said: said(text, of), words: said(text, nil), without: j.without})
}

// know has a finding told no more.
func (j *journey) know(f *finding) {
	for _, key := range f.keys() {
		j.found[key] = true
	}
	if f.problem == Fails {
		j.failures++
	}
}

// maxShort is how long a word is, in bytes, that does not count: values are made as short
// as they can be.
const maxShort = 2

// quotedOrNumber are values in a message.
var quotedOrNumber = regexp.MustCompile("\"(?:[^\"\\\\]|\\\\.)*\"|'[^']*'|`[^`]*`|[0-9]+")

// said is what a message says but for values, those of an object among them, and for
// words as short as they may be: the same for any object that fails for the same reason.
func said(message string, of map[string]any) string {
	texts := map[string]bool{}
	for _, place := range placesOf(of) {
		if text, ok := at(of, place).(string); ok {
			for _, word := range strings.Fields(text) {
				texts[trimmed(word)] = true
			}
		}
	}
	words := strings.Fields(quotedOrNumber.ReplaceAllString(message, ""))
	return strings.Join(slices.DeleteFunc(words, func(w string) bool { return len(trimmed(w)) <= maxShort || texts[trimmed(w)] }), " ")
}

func trimmed(word string) string { return strings.Trim(word, ".,:;()[]{}<>=") }

// each tries an object until all that it shows is known; if it has fields that are known
// to fail, also what it shows without them.
func (s *search) each(ctx context.Context, obj map[string]any) {
	s.all(ctx, obj)
	if len(s.failing) == 0 || s.problem != nil {
		return
	}
	less := spared(obj, s.paths, s.failing)
	if less == nil {
		return
	}
	if less, _ = s.from.accepted(less); less == nil {
		return
	}
	s.without = strings.Join(slices.Sorted(maps.Keys(s.failing)), " ")
	s.all(ctx, less)
	s.without = ""
}

func (s *search) all(ctx context.Context, obj map[string]any) {
	for len(s.losses) < maxLosses && s.try(ctx, obj) {
	}
}

// again reports whether a failure is one that was told, of the same field in the same
// words; else it is told now.
func (s *search) again(field string, f *finding) bool {
	words := field + " " + f.said
	told := s.told[words]
	s.told[words], s.failing[field] = true, true
	return told
}

// spared is an object without some fields, nil where it has none of them.
func spared(obj map[string]any, p paths, fields map[string]bool) map[string]any {
	out := obj
	for _, place := range placesOf(obj) { // the last items of lists first
		if fields[p.of(place)] {
			if less, ok := edited(out, place, nil, true); ok {
				out = less
			}
		}
	}
	if weight(out) == weight(obj) {
		return nil
	}
	return out
}
