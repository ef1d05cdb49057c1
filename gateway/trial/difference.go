package trial

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
)

func decode(data []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber() // other digits are another value
	return d.Decode(into)
}

// difference is the path of the first difference between two JSON values, and
// how they differ there.
func difference(path string, now, next any) (string, bool) {
	switch a := now.(type) {
	case map[string]any:
		if b, ok := next.(map[string]any); ok {
			return inObject(path, a, b)
		}
	case []any:
		if b, ok := next.([]any); ok {
			return inArray(path, a, b)
		}
	default:
		if !isContainer(next) && now == next {
			return "", false
		}
	}
	return named(path) + " is another value", true
}

func isContainer(v any) bool {
	switch v.(type) {
	case map[string]any, []any:
		return true
	}
	return false
}

func inObject(path string, a, b map[string]any) (string, bool) {
	keys := slices.Collect(maps.Keys(a))
	for key := range b {
		if _, ok := a[key]; !ok {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	for _, key := range keys {
		x, had := a[key]
		y, has := b[key]
		switch at := path + "." + key; {
		case !has:
			return named(at) + " is gone", true
		case !had:
			return named(at) + " is new", true
		default:
			if where, differ := difference(at, x, y); differ {
				return where, true
			}
		}
	}
	return "", false
}

func inArray(path string, a, b []any) (string, bool) {
	for i := range min(len(a), len(b)) {
		if where, differ := difference(path+"["+strconv.Itoa(i)+"]", a[i], b[i]); differ {
			return where, true
		}
	}
	if len(a) != len(b) {
		return named(path) + " has " + strconv.Itoa(len(b)) + " items, not " + strconv.Itoa(len(a)), true
	}
	return "", false
}

// maxPath bounds a path in a report.
const maxPath = 200

// named is a path as people write it.
func named(path string) string {
	if path == "" {
		return "the object"
	}
	if path[0] == '.' {
		path = path[1:]
	}
	if len(path) > maxPath {
		path = strings.ToValidUTF8(path[:maxPath], "") + "..."
	}
	return path
}
