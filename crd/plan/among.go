package plan

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// spot is a place in one of the objects around a value.
type spot struct {
	up   int
	path []string
}

func newSpot(text string) (spot, error) {
	number, path, ok := strings.Cut(text, ".")
	up, err := strconv.Atoi(number)
	if !ok || err != nil {
		return spot{}, fmt.Errorf("%q is no number of an object around with a path from there", text)
	}
	parts, err := steps(path)
	return spot{up, parts}, err
}

// found tells whether a text is at one of the spots in the objects around.
func found(spots []spot, up []any, s string) bool {
	return slices.ContainsFunc(spots, func(at spot) bool {
		return at.up < len(up) && holds(up[at.up], at.path, s)
	})
}

// holds tells whether a text is at a path below v.
func holds(v any, path []string, s string) bool {
	if len(path) == 0 {
		return v == s
	}
	switch x := v.(type) {
	case map[string]any:
		return path[0] != "[]" && holds(x[path[0]], path[1:], s)
	case []any:
		return path[0] == "[]" && slices.ContainsFunc(x, func(item any) bool { return holds(item, path[1:], s) })
	}
	return false
}
