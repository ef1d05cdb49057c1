package proof

import (
	"bytes"
	"encoding/json"
	"maps"
	"strings"
	"unicode/utf8"

	"sigs.k8s.io/yaml"

	"github.com/wasmgate/wasmgate/crd/object"
)

// The bounds of what is told of an object.
const (
	maxLines   = 15
	maxExample = 2 << 10
	maxShown   = 200
)

// loss tells a finding.
func (s *search) loss(obj map[string]any, f *finding) Loss {
	out := Loss{
		Pair: Pair{s.from.Name, s.to.Name}, Problem: f.problem, Field: f.field, Place: placeText(f.place),
		Message: cut(f.message, 2*maxShown), Example: example(obj), shape: s.paths.shapeOf(obj), Back: f.back,
	}
	if f.hasHad {
		out.Had = shown(f.had)
	}
	if f.hasGot {
		out.Got = shown(f.got)
	}
	if place := s.culprit(obj, f); out.Field == "" && place != nil {
		out.Field, out.Place, out.Had = s.paths.of(place), placeText(place), shown(at(obj, place))
	}
	return out
}

// culprit is the value in a small object that a failed conversion is most likely
// about: the first one that could not be made plain.
func (s *search) culprit(obj map[string]any, f *finding) (first []any) {
	if f.problem != Fails && f.problem != Unstable {
		return nil
	}
	for _, place := range placesOf(obj) {
		v := at(obj, place)
		switch v := v.(type) {
		case map[string]any:
			if len(v) > 0 {
				continue
			}
		case []any:
			if len(v) > 0 {
				continue
			}
		}
		if v != "a" && v != int64(1) {
			return place
		}
		if first == nil {
			first = place
		}
	}
	return first
}

// example is an object in at most so many lines, without what the server adds.
func example(obj map[string]any) string {
	obj = maps.Clone(obj)
	meta := map[string]any{"name": "a"}
	for _, name := range []string{"labels", "annotations"} {
		if of := object.Child(obj, "metadata", name); len(of) > 0 {
			meta[name] = of
		}
	}
	obj["metadata"] = meta
	text, err := yaml.Marshal(obj)
	if err == nil && bytes.Count(text, []byte("\n")) <= maxLines && len(text) <= maxExample {
		return string(text)
	}
	return cut(shownWhole(obj), maxExample) + "\n"
}

func shown(v any) string { return cut(shownWhole(v), maxShown) }

func shownWhole(v any) string {
	var b strings.Builder
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if encoder.Encode(v) != nil {
		return ""
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// cut shortens a text, at the end of a character.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most] + "..."
}
