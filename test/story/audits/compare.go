package audits

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Parse reads a recording: the events that each request left, by heading. A heading that
// comes again has a number.
func Parse(text string) map[string][]string {
	out := map[string][]string{}
	heading := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if event, ok := strings.CutPrefix(line, "> "); ok {
			out[heading] = append(out[heading], event)
			continue
		}
		heading = line
		out[heading] = nil
	}
	return out
}

// Differences are what is otherwise in the events of one request, field by field.
func Differences(theirs, ours []string) []string {
	var out []string
	for n := range max(len(theirs), len(ours)) {
		switch {
		case n >= len(theirs):
			out = append(out, fmt.Sprintf("event %d: only ours: %s", n, stage(ours[n])))
		case n >= len(ours):
			out = append(out, fmt.Sprintf("event %d: only theirs: %s", n, stage(theirs[n])))
		default:
			var a, b any
			if json.Unmarshal([]byte(theirs[n]), &a) != nil || json.Unmarshal([]byte(ours[n]), &b) != nil {
				out = append(out, fmt.Sprintf("event %d: no JSON", n))
				continue
			}
			out = append(out, compare(stage(theirs[n]), a, b)...)
		}
	}
	return out
}

func stage(event string) string {
	var e struct{ Stage string }
	if json.Unmarshal([]byte(event), &e) != nil {
		return "no JSON"
	}
	return e.Stage
}

// compare are the differences below a path.
func compare(path string, a, b any) []string {
	x, ok := a.(map[string]any)
	y, also := b.(map[string]any)
	if ok && also {
		var out []string
		keys := slices.Sorted(maps.Keys(x))
		for _, k := range slices.Sorted(maps.Keys(y)) {
			if _, there := x[k]; !there {
				keys = append(keys, k)
			}
		}
		for _, k := range keys {
			v, in := x[k]
			w, too := y[k]
			switch {
			case !in:
				out = append(out, fmt.Sprintf("%s.%s: only ours: %s", path, k, short(w)))
			case !too:
				out = append(out, fmt.Sprintf("%s.%s: only theirs: %s", path, k, short(v)))
			default:
				out = append(out, compare(path+"."+k, v, w)...)
			}
		}
		return out
	}
	if l, ok := a.([]any); ok {
		if m, ok := b.([]any); ok && len(l) == len(m) {
			var out []string
			for i := range l {
				out = append(out, compare(fmt.Sprintf("%s[%d]", path, i), l[i], m[i])...)
			}
			return out
		}
	}
	if p, q := short(a), short(b); p != q {
		return []string{path + ": " + p + " > " + q}
	}
	return nil
}

// short is a value as text, without its end if it is long.
func short(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	const most = 200
	if len(text) > most {
		return string(text[:most]) + "…"
	}
	return string(text)
}
