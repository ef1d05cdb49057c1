package recorded

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// less is a JSON object as what sets it off from another, which is named.
func less(name string, from, to map[string]any) string {
	parts := append([]string{"..." + name}, changes("", from, to)...)
	return "{" + strings.Join(parts, ", ") + "}"
}

// changes are what makes of one JSON value another, by paths.
func changes(path string, from, to any) []string {
	switch t := to.(type) {
	case map[string]any:
		if f, ok := from.(map[string]any); ok {
			return changesOfFields(path, f, t)
		}
	case []any:
		if f, ok := from.([]any); ok && len(f) == len(t) {
			var out []string
			for i := range t {
				out = append(out, changes(below(path, strconv.Itoa(i)), f[i], t[i])...)
			}
			return out
		}
	}
	if reflect.DeepEqual(from, to) {
		return nil
	}
	return []string{path + ": " + encode(to)}
}

func changesOfFields(path string, from, to map[string]any) []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(from)) {
		if _, ok := to[name]; !ok {
			out = append(out, "-"+below(path, name))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(to)) {
		if _, ok := from[name]; ok {
			out = append(out, changes(below(path, name), from[name], to[name])...)
		} else {
			out = append(out, below(path, name)+": "+encode(to[name]))
		}
	}
	return out
}

// below is the path of a field.
func below(path, name string) string {
	if name == "" || name[0] == '-' || strings.ContainsFunc(name, odd) {
		name = strconv.Quote(name)
	}
	if path == "" {
		return name
	}
	return path + "." + name
}

// odd reports whether a name with r has to be quoted in a path.
func odd(r rune) bool {
	letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
	return !letter && r != '_' && r != '$' && r != '-'
}

var errChanges = errors.New("it is no object that is set off from another")

// more is the object that less made a text of, after the name: what it says is
// changed in the other, which is not kept as it was.
func more(from map[string]any, text string) (map[string]any, error) {
	for {
		rest, ok := strings.CutPrefix(text, ", ")
		if !ok {
			break
		}
		text = rest
		gone := strings.HasPrefix(text, "-")
		path, rest, err := pathOf(strings.TrimPrefix(text, "-"))
		if err != nil {
			return nil, err
		}
		var value any
		if !gone {
			if value, rest, err = valueOf(rest); err != nil {
				return nil, err
			}
		}
		if err := set(from, path, value, gone); err != nil {
			return nil, err
		}
		text = rest
	}
	if text != "}" {
		return nil, fmt.Errorf("%w: %q", errChanges, text)
	}
	return from, nil
}

// pathOf reads a path and returns what follows.
func pathOf(text string) (path []string, rest string, err error) {
	for {
		var name string
		if strings.HasPrefix(text, `"`) {
			quoted, err := strconv.QuotedPrefix(text)
			if err != nil {
				return nil, "", fmt.Errorf("%w: %q", errChanges, text)
			}
			text = text[len(quoted):]
			if name, err = strconv.Unquote(quoted); err != nil {
				return nil, "", err
			}
		} else {
			n := strings.IndexFunc(text, odd)
			if n <= 0 {
				return nil, "", fmt.Errorf("%w: %q", errChanges, text)
			}
			name, text = text[:n], text[n:]
		}
		path = append(path, name)
		if !strings.HasPrefix(text, ".") {
			return path, text, nil
		}
		text = text[1:]
	}
}

// valueOf reads the value that follows a path, and returns what follows that.
func valueOf(text string) (value any, rest string, err error) {
	text, ok := strings.CutPrefix(text, ": ")
	if !ok {
		return nil, "", fmt.Errorf("%w: %q", errChanges, text)
	}
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&value); err != nil {
		return nil, "", fmt.Errorf("%w: %w", errChanges, err)
	}
	return value, text[d.InputOffset():], nil
}

// set puts a value where a path leads, or takes away what is there.
func set(in any, path []string, value any, gone bool) error {
	for ; ; path = path[1:] {
		last := len(path) == 1
		switch v := in.(type) {
		case map[string]any:
			switch {
			case !last:
				in = v[path[0]]
				continue
			case gone:
				if _, there := v[path[0]]; !there {
					return fmt.Errorf("%w: %s", errChanges, path)
				}
				delete(v, path[0])
			default:
				v[path[0]] = value
			}
			return nil
		case []any:
			i, err := strconv.Atoi(path[0])
			if err != nil || i < 0 || i >= len(v) || last && gone {
				return fmt.Errorf("%w: %s", errChanges, path)
			}
			if !last {
				in = v[i]
				continue
			}
			v[i] = value
			return nil
		default:
			return fmt.Errorf("%w: %s", errChanges, path)
		}
	}
}
